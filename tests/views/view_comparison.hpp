#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sotto/views/view_sensitivity.hpp"
#include "views/dense_view.hpp"
#include "views/view_fixtures.hpp"

namespace sotto::test {

inline std::vector<View> sample_views(int agents) {
    const int last = agents - 1;
    return {{View::Kind::all_messages, {}},
            {View::Kind::all_messages, {1}},
            {View::Kind::neighbours, {0}},
            {View::Kind::neighbours, {0, last}},
            {View::Kind::secure_sum, {0}},
            {View::Kind::secure_sum, {1, last}}};
}

/// Same figures for every agent as target, all of them followed together; returns how many are
/// finite and not zero.
inline int compare(const MessageProcess& process, const View& view, double tolerance = 1e-9) {
    int informative = 0;
    const auto dense = dense_grams(process, view);
    for (int target = 0; target < process.plan->agents; ++target) {
        SCOPED_TRACE("view " + std::to_string(static_cast<int>(view.kind)) + ", members " +
                     ::testing::PrintToString(view.members) + ", target " + std::to_string(target));
        const auto& expected = dense[static_cast<std::size_t>(target)];
        const auto found = view_gram(process, view, target);
        EXPECT_EQ(found.has_value(), expected.has_value());
        if (!found || !expected) continue;
        const double size = std::max(expected->cwiseAbs().maxCoeff(), 1e-3);
        EXPECT_LE((*found - *expected).cwiseAbs().maxCoeff(), tolerance * size);
        if (expected->cwiseAbs().maxCoeff() > 1e-3) ++informative;
    }
    return informative;
}

/// Every sample view; each must say something about somebody.
inline void compare_all(const MessageProcess& process, double tolerance = 1e-9) {
    for (const View& view : sample_views(process.plan->agents))
        EXPECT_GT(compare(process, view, tolerance), 0)
            << "view " << static_cast<int>(view.kind) << ", members "
            << ::testing::PrintToString(view.members);
}

inline std::vector<double> falling_steps(long rounds) {
    std::vector<double> steps;
    for (long t = 1; t <= rounds; ++t) steps.push_back(0.5 / std::sqrt(static_cast<double>(t)));
    return steps;
}

inline TemporalFactor random_factor(TemporalFactor::Kind kind, int band, long rounds) {
    SeededRandom random(3, "temporal factor");
    TemporalFactor factor;
    factor.kind = kind;
    const long columns = kind == TemporalFactor::Kind::dense ? rounds : band + 1;
    factor.lower = Eigen::MatrixXd::Zero(rounds, columns);
    for (long t = 0; t < rounds; ++t)
        for (long s = 0; s < columns; ++s) {
            const bool diagonal = kind == TemporalFactor::Kind::dense ? s == t : s == 0;
            if (kind == TemporalFactor::Kind::dense && s > t) continue;
            factor.lower(t, s) = diagonal ? 1 + random.uniform() : random.uniform() - 0.7;
        }
    return factor;
}

/// Metropolis weights among those who are left; the others keep to themselves.
inline MixingMatrix mixing_without(const Graph& graph, const std::vector<int>& departed) {
    const auto gone = [&](int u) {
        return std::find(departed.begin(), departed.end(), u) != departed.end();
    };
    std::vector<Edge> edges;
    for (const auto& [u, v] : graph.edges())
        if (!gone(u) && !gone(v)) edges.emplace_back(u, v);
    return MixingMatrix::from_rule(Graph::from_edges(graph.agents(), edges),
                                   MixingRule::metropolis);
}

}  // namespace sotto::test
