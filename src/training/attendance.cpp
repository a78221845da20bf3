#include "training/attendance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "store/run_history.hpp"
#include "training/participants.hpp"

namespace sotto {

namespace {

std::vector<int> without_those(const std::vector<int>& numbers, const std::vector<int>& gone) {
    std::vector<int> rest;
    std::ranges::set_difference(numbers, gone, std::back_inserter(rest));
    return rest;
}

}  // namespace

Attendance::Attendance(Network& network, const TrainConfig& config) {
    if (network.maximum(config.spares.empty() ? 0 : 1) == 0) return;
    network.agree([&] {
        if (!config.resume) require_possible_spares(config.spares, network.agents());
        if (network.process() == 0) find(network, config);
    });
    ByteWriter writer;
    put_numbers(writer, waiting_);
    put_numbers(writer, members_);
    const auto agents = static_cast<std::uint64_t>(network.agents());
    const std::string said =
        network.broadcast(writer.take(), 2 * sizeof(std::uint64_t) + sizeof(std::int32_t) * agents);
    network.agree([&] {
        ByteReader reader(said, "who takes part, as rank 0 says");
        waiting_ = get_numbers(reader);
        members_ = get_numbers(reader);
        reader.require_done();
        if (waiting_.empty()) return;
        if (everybody().size() != network.agents() || members_.empty()) reader.fail();
        require_possible(network, config);
        require_own_word(network, config);
    });
}

void Attendance::find(const Network& network, const TrainConfig& config) {
    std::optional<RunHistory> history;
    if (config.resume) history = read_history(config.resume->directory);
    std::vector<int> waiting = waiting_spares(config.spares, history ? &*history : nullptr);
    if (config.resume) waiting = without_those(waiting, config.resume->joining);
    std::vector<int> members =
        history ? members_after(*history, *config.resume).numbers
                : without_those(Membership::everybody(network.agents()).numbers, waiting);
    if (std::ssize(members) + std::ssize(waiting) != network.agents()) return;
    waiting_ = std::move(waiting);
    members_ = std::move(members);
}

void Attendance::require_possible(const Network& network, const TrainConfig& config) const {
    if (!std::ranges::includes(config.spares, waiting_))
        throw ConfigError(fmt::format(
            "--spares: agents {} are to wait as rank 0 says, own option: {} (allowed: the same on "
            "all ranks)",
            fmt::join(waiting_, ","),
            fmt::join(config.spares, ",")));
    if (network.processes() == 1) return;
    if (!network.blocks().one_each())
        throw ConfigError(
            "--spares: not possible where ranks host several agents (allowed: as many ranks as "
            "agents, or one process)");
    if (waiting_.front() < members_.front())
        throw ConfigError(fmt::format(
            "--spares: agent {} cannot wait; the first rank leads the run", waiting_.front()));
}

/// Whoever takes up a run waits by its own word only: where its files are not at hand, it could not
/// tell that it has taken part.
void Attendance::require_own_word(const Network& network, const TrainConfig& config) const {
    if (!config.resume || network.processes() == 1) return;
    const std::vector<std::string>& given = config.resume->given;
    if (std::ranges::find(given, "spares") != given.end()) return;
    const std::vector<int> places = waiting_places();
    for (const int place : network.local_agents())
        if (std::ranges::binary_search(places, place))
            throw NetworkError(fmt::format(
                "rank 0 says that agent {} waits; whoever waits must be given --spares itself",
                everybody().number(place)));
}

void Attendance::change(const MemberChange& change) {
    if (waiting_.empty()) return;
    std::vector<int> now;
    std::ranges::set_union(
        without_those(members_, change.leaving), change.joining, std::back_inserter(now));
    waiting_ = without_those(waiting_, change.joining);
    members_ = std::move(now);
}

Membership Attendance::everybody() const {
    Membership all;
    std::ranges::set_union(members_, waiting_, std::back_inserter(all.numbers));
    all.all = all.numbers.empty() ? 0 : all.numbers.back() + 1;
    return all;
}

}  // namespace sotto
