#include "views/adjoint_grams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

std::vector<int> not_members(const View& view, int agents) {
    std::vector<int> targets;
    for (int u = 0; u < agents; ++u)
        if (!view.has_member(u)) targets.push_back(u);
    return targets;
}

/// With all innovations at once, and with those of every step by themselves.
void expect_dense_grams(const MessageProcess& process, const View& view) {
    const TemporalModel model = temporal_model_of(process, view);
    ASSERT_EQ(model.inverse.size(), 0);
    const ViewFilter filter(model.model);
    const std::vector<int> targets = not_members(view, process.graph->agents());
    const auto dense = dense_grams(process, view);
    for (const double memory : {1e9, 1.0}) {
        const auto grams = AdjointGrams(filter, memory).grams(targets);
        ASSERT_EQ(grams.size(), targets.size());
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto& expected = dense[static_cast<std::size_t>(targets[i])];
            ASSERT_EQ(grams[i].infinite, !expected.has_value()) << targets[i];
            if (!expected) continue;
            EXPECT_LE((grams[i].gram - *expected).cwiseAbs().maxCoeff(),
                      1e-9 * std::max(1.0, expected->cwiseAbs().maxCoeff()));
            EXPECT_EQ(grams[i].gram, grams[i].gram.transpose());
        }
    }
}

TEST(AdjointGrams, AreTheDensePseudoInverseForPrivateAndSharedNoiseAndOneToThreeGossipSteps) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Graph graph = make_graph(Topology::erdos_renyi, 7, seed);
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::row_stochastic);
        for (const NoisePlan& plan : {unit_plan(7), decor_plan(graph), random_plan(graph, seed)})
            for (const int gossip_steps : {1, 2, 3})
                for (const View& view : sample_views(7))
                    expect_dense_grams(
                        process_of(graph, plan, {fixed_phase(mixing, 5)}, gossip_steps), view);
    }
}

TEST(AdjointGrams, AreTheDensePseudoInverseForPhasesStepSizesAndChebyshevWeights) {
    for (const Graph& graph : small_graphs()) {
        const NoisePlan plan = decor_plan(graph);
        auto process =
            process_of(graph, plan, phases_of(graph, {{3}, {3, 0, {leavers(graph).front()}}}));
        process.step_sizes = falling_steps(6);
        for (const View& view : sample_views(graph.agents())) {
            process.gossip = 2;
            expect_dense_grams(process, view);
            process.gossip = chebyshev(graph, 3);
            expect_dense_grams(process, view);
        }
    }
}

TEST(AdjointGrams, FindWhatIsSeenWithoutNoise) {
    const Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = blank_plan(5);
    add_stream(plan, {1}, {1.0});  // agent 1 hides what reaches it for a while, 2 to 4 have nothing
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    const View view{View::Kind::neighbours, {3}};
    const ObservationModel model = make_observation_model(process, view, {lagged_noise({}, 3, 0)});
    const ViewFilter filter(model);
    const auto grams = AdjointGrams(filter).grams(std::vector<int>{2, 4});
    EXPECT_TRUE(grams[0].infinite && grams[1].infinite);
    EXPECT_EQ(grams[0].gram.size(), 0);
    EXPECT_TRUE(AdjointGrams(filter).grams({}).empty());
}

}  // namespace
}  // namespace sotto
