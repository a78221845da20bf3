#include "training/rank_figures.hpp"

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

void add_share(RoundSeconds& mean, const RoundSeconds& one, std::size_t of) {
    const double share = 1.0 / static_cast<double>(of);
    mean.gradient += share * one.gradient;
    mean.noise += share * one.noise;
    mean.exchange += share * one.exchange;
    mean.mix += share * one.mix;
}

}  // namespace

std::optional<RoundSeconds> seconds_to_tell(const RoundSeconds& seconds,
                                            const TrainConfig& config,
                                            int processes) {
    if (config.plan.participation.poisson && !config.pad_rounds && processes > 1)
        return std::nullopt;
    return seconds;
}

std::optional<double> memory_to_tell(double peak_mib, const TrainConfig& config, int processes) {
    if (config.plan.participation.poisson && processes > 1) return std::nullopt;
    return peak_mib;
}

RankFigures own_figures(const Network& network,
                        const Membership& members,
                        const RoundSeconds& seconds,
                        const TrainConfig& config) {
    RankFigures own;
    own.host = local_host_name();
    for (const int place : network.local_agents()) own.agents.push_back(members.number(place));
    own.seconds = seconds_to_tell(seconds, config, network.processes());
    own.bytes_sent = network.bytes_sent();
    own.peak_memory_mib = memory_to_tell(peak_memory_mib(), config, network.processes());
    return own;
}

std::string to_bytes(const RankFigures& figures) {
    ByteWriter writer;
    writer.put_text(figures.host);
    writer.put(static_cast<std::uint8_t>(figures.seconds.has_value()));
    const RoundSeconds seconds = figures.seconds.value_or(RoundSeconds{});
    for (const double value : {seconds.gradient, seconds.noise, seconds.exchange, seconds.mix})
        writer.put(value);
    writer.put(figures.bytes_sent);
    writer.put(static_cast<std::uint8_t>(figures.peak_memory_mib.has_value()));
    writer.put(figures.peak_memory_mib.value_or(0));
    for (const int agent : figures.agents) writer.put(agent);
    return writer.take();
}

RankFigures rank_figures_from_bytes(std::string_view bytes, std::size_t rank) {
    const std::string source = fmt::format("the figures of rank {}", rank);
    ByteReader reader(bytes, source);
    RankFigures figures;
    figures.host = reader.get_text();
    const bool told = reader.get<std::uint8_t>() != 0;
    RoundSeconds seconds;
    for (double* value : {&seconds.gradient, &seconds.noise, &seconds.exchange, &seconds.mix})
        *value = reader.get<double>();
    if (told) figures.seconds = seconds;
    figures.bytes_sent = reader.get<std::int64_t>();
    const bool memory_told = reader.get<std::uint8_t>() != 0;
    const auto memory = reader.get<double>();
    if (memory_told) figures.peak_memory_mib = memory;
    while (!reader.done()) figures.agents.push_back(reader.get<int>());
    if (!std::isfinite(seconds.total()) || !std::isfinite(memory) || figures.bytes_sent < 0)
        throw NetworkError(fmt::format("{} are damaged", source));
    return figures;
}

JobFigures gather_figures(Network& network, const RankFigures& own) {
    const auto all = network.all_gather(
        to_bytes(own), most_line_bytes + sizeof(int) * network.most_agents_of_a_process());
    JobFigures job;
    job.phases.emplace();
    job.peak_memory_mib.emplace(0);
    network.agree([&] {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            const RankFigures& figures =
                job.ranks.emplace_back(rank_figures_from_bytes(all[rank], rank));
            if (!figures.seconds) job.phases.reset();
            if (job.phases) add_share(*job.phases, *figures.seconds, all.size());
            job.bytes_sent += figures.bytes_sent;
            if (!figures.peak_memory_mib) job.peak_memory_mib.reset();
            if (job.peak_memory_mib)
                job.peak_memory_mib = std::max(*job.peak_memory_mib, *figures.peak_memory_mib);
        }
    });
    return job;
}

}  // namespace sotto
