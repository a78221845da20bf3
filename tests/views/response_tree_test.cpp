#include "views/response_tree.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(ResponseTree, GivesTheDensePseudoInverseForAnyNumberOfRounds) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 4);
    const NoisePlan plan = decor_plan(graph);
    const View view{View::Kind::secure_sum, {0, 3}};
    for (const long rounds : {1L, 2L, 5L, 8L}) {
        auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)}, 2);
        process.step_sizes = falling_steps(rounds);
        const ObservationModel model =
            make_observation_model(process, view, {lagged_noise({}, rounds, 0)});
        const ViewFilter filter(model);
        const std::vector<int> targets{1, 2, 4, 5, 6};
        const auto grams = ResponseTree(filter).grams(targets);
        const auto dense = dense_grams(process, view);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto& expected = dense[static_cast<std::size_t>(targets[i])];
            ASSERT_TRUE(expected && !grams[i].infinite);
            EXPECT_LE((grams[i].gram - *expected).cwiseAbs().maxCoeff(), 1e-9) << rounds;
        }
    }
}

TEST(ResponseTree, FindsWhatIsSeenWithoutNoise) {
    const Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = blank_plan(5);
    add_stream(plan, {1}, {1.0});  // agent 1 hides what reaches it for a while, 2 to 4 have nothing
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    const View view{View::Kind::neighbours, {3}};
    const ObservationModel model = make_observation_model(process, view, {lagged_noise({}, 3, 0)});
    const ViewFilter filter(model);
    const auto grams = ResponseTree(filter).grams(std::vector<int>{2, 4});
    EXPECT_TRUE(grams[0].infinite && grams[1].infinite);
    EXPECT_TRUE(ResponseTree(filter).grams({}).empty());
}

}  // namespace
}  // namespace sotto
