#include "account/departures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "planning/build_topography.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

struct Departure {
    long round;
    std::vector<int> agents;
};

std::vector<Departure> parse_departures(const std::string& text, const Graph& graph, long rounds) {
    std::vector<Departure> departures;
    std::vector<int> gone;
    for (const std::string_view part : split(text, ';')) {
        const std::size_t colon = part.find(':');
        if (colon == std::string_view::npos)
            throw ConfigError(
                fmt::format("--departures: '{}' is not ROUND:AGENTS (example: 50:3,7;80:2)", part));
        const long long round = parse_integer("--departures", part.substr(0, colon));
        const long long after = departures.empty() ? 0 : departures.back().round;
        if (round <= after || round >= rounds)
            throw ConfigError(fmt::format(
                "--departures: round {} is not allowed (rounds must ascend from 1 to {})",
                round,
                rounds - 1));
        auto agents = parse_agent_list("--departures", part.substr(colon + 1), graph);
        for (const int agent : agents)
            if (std::ranges::find(gone, agent) != gone.end())
                throw ConfigError(fmt::format(
                    "--departures: agent {} has already left (name every agent once)", agent));
        gone.insert(gone.end(), agents.begin(), agents.end());
        if (static_cast<int>(gone.size()) >= graph.agents())
            throw ConfigError("--departures: nobody is left (allowed: at least one agent stays)");
        departures.push_back({static_cast<long>(round), std::move(agents)});
    }
    return departures;
}

/// The rule for the remaining agents; the others keep their model.
MixingMatrix mixing_without(const Graph& graph,
                            const std::vector<int>& gone,
                            const GraphConfig& config,
                            const PlanConfig& plan) {
    Membership members{graph.agents(), {}};
    std::ranges::set_difference(
        Membership::everybody(graph.agents()).numbers, gone, std::back_inserter(members.numbers));
    return mixing_of_all(graph, configured_mixing(config, &plan, graph, members.numbers), members);
}

}  // namespace

MixingMatrix mixing_of_all(const Graph& graph,
                           const MixingMatrix& mixing,
                           const Membership& members) {
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(graph.agents(), graph.agents());
    for (const int u : members.gone()) dense(u, u) = 1;
    for (int a = 0; a < members.size(); ++a) {
        const auto peers = mixing.members(a);
        const auto weights = mixing.weights(a);
        for (std::size_t j = 0; j < peers.size(); ++j)
            dense(members.number(a), members.number(peers[j])) = weights[j];
    }
    return MixingMatrix::from_dense(graph, dense);
}

std::vector<Phase> phases_of(const Topography& topography,
                             const GraphConfig& config,
                             const PlanConfig& plan,
                             const std::string& departures) {
    const long rounds = plan.rounds;
    if (departures.empty()) return {{rounds, topography.schedule(), {}}};
    if (!topography.later_mixing.empty())
        throw ConfigError(
            "--departures: not possible with --mixing-schedule, whose matrices are for all agents");
    if (topography.mixing.push_sum())
        throw ConfigError(
            "--departures: not possible with --mixing push-sum, whose sums would lack the part of "
            "agents that leave (allowed: row-stochastic)");
    if (!is_mixing_rule(config.mixing))
        throw ConfigError(fmt::format(
            "--departures: a mixing rule is needed for those who stay; --mixing is '{}'",
            config.mixing));
    std::vector<Phase> phases;
    std::vector<int> gone;
    long start = 0;
    auto next = parse_departures(departures, topography.graph, rounds);
    next.push_back({rounds, {}});
    for (Departure& departure : next) {
        phases.push_back({departure.round - start,
                          MixingSchedule({mixing_without(topography.graph, gone, config, plan)}),
                          gone});
        start = departure.round;
        gone.insert(gone.end(), departure.agents.begin(), departure.agents.end());
        std::ranges::sort(gone);
    }
    return phases;
}

}  // namespace sotto
