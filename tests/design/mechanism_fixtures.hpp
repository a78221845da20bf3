#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <string_view>
#include <vector>

#include "design/noise_fixtures.hpp"
#include "design/seed_groups.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto::test {

/// Of the unequal kappa that mechanisms are given.
inline constexpr std::uint64_t unequal_kappa_seed = 31;

/// A graph with its mixing matrix; makes inputs that point to them.
struct Setting {
    NamedGraph named;
    MixingMatrix mixing;

    [[nodiscard]] DesignInput input(long horizon, const Eigen::VectorXd& kappa) const {
        DesignInput result;
        result.graph = &named.graph;
        result.mixing = &mixing;
        result.utility = {Utility::Kind::horizon, horizon};
        result.rounds = 100;
        result.kappa = kappa;
        return result;
    }
    [[nodiscard]] DesignInput input(long horizon) const {
        return input(horizon, Eigen::VectorXd::Ones(named.graph.agents()));
    }
};

inline std::vector<Setting> settings(const std::vector<int>& sizes) {
    std::vector<Setting> result;
    for (const auto& named : sample_graphs(sizes))
        result.push_back({named, MixingMatrix::from_rule(named.graph, MixingRule::metropolis)});
    return result;
}

/// Coalition size and seed groups as they are where the user chooses neither.
inline void ask_like_the_program(DesignInput& input, const Mechanism& mechanism) {
    const int agents = input.graph->agents();
    input.coalition_size = std::min(mechanism.default_coalition_size, agents - 1);
    if (mechanism.seed_groups())
        input.seed_groups = make_seed_groups(default_seed_groups(agents), *input.graph);
    if (mechanism.correlates_rounds) {
        input.rounds = 12;
        input.participation = {4};
    }
    if (mechanism.takes_spatial) input.spatial = &find_mechanism("spatial-mechanism", "corn");
}

inline Design design_of(std::string_view mechanism, const DesignInput& input) {
    return find_mechanism("mechanism", mechanism).design(input);
}

}  // namespace sotto::test
