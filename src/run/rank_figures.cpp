#include "run/rank_figures.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/host.hpp"
#include "sotto/net/agreement.hpp"

namespace sotto {

namespace {

double peak_memory_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string packed(const RankFigures& figures) {
    ByteWriter writer;
    writer.put_text(figures.host);
    const RoundSeconds& seconds = figures.seconds;
    for (const double value : {seconds.gradient, seconds.noise, seconds.exchange, seconds.mix})
        writer.put(value);
    writer.put(figures.bytes_sent);
    writer.put(figures.peak_memory_mib);
    for (const int agent : figures.agents) writer.put(agent);
    return writer.take();
}

RankFigures unpacked(const std::string& bytes, std::size_t rank) {
    const std::string source = fmt::format("the figures of rank {}", rank);
    ByteReader reader(bytes, source);
    RankFigures figures;
    figures.host = reader.get_text();
    RoundSeconds& seconds = figures.seconds;
    for (double* value : {&seconds.gradient, &seconds.noise, &seconds.exchange, &seconds.mix})
        *value = reader.get<double>();
    figures.bytes_sent = reader.get<std::int64_t>();
    figures.peak_memory_mib = reader.get<double>();
    while (!reader.done()) figures.agents.push_back(reader.get<int>());
    if (!std::isfinite(seconds.total()) || !std::isfinite(figures.peak_memory_mib) ||
        figures.bytes_sent < 0)
        throw NetworkError(fmt::format("{} are damaged", source));
    return figures;
}

}  // namespace

void gather_figures(Network& network,
                    const Trainer& trainer,
                    const Membership& members,
                    TrainResult& result) {
    RankFigures own;
    own.host = local_host_name();
    for (const int place : network.local_agents()) own.agents.push_back(members.number(place));
    own.seconds = trainer.seconds();
    own.bytes_sent = network.bytes_sent();
    own.peak_memory_mib = peak_memory_mib();
    const auto all = network.all_gather(packed(own));
    network.agree([&] {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            const RankFigures& figures = result.ranks.emplace_back(unpacked(all[rank], rank));
            const double share = 1.0 / static_cast<double>(all.size());
            result.phases.gradient += share * figures.seconds.gradient;
            result.phases.noise += share * figures.seconds.noise;
            result.phases.exchange += share * figures.seconds.exchange;
            result.phases.mix += share * figures.seconds.mix;
            result.bytes_sent += figures.bytes_sent;
            result.peak_memory_mib = std::max(result.peak_memory_mib, figures.peak_memory_mib);
        }
    });
    result.loop_seconds = network.maximum(result.loop_seconds);
}

}  // namespace sotto
