#include "views/whole_run_grams.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(WholeRunGrams, AreTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = unit_plan(6);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 7)});
    const std::vector<int> targets{1, 2, 3, 4, 5};
    for (const View& view :
         {View{View::Kind::neighbours, {0}}, View{View::Kind::neighbours, {0, 5}}}) {
        const ObservationModel model =
            make_observation_model(process, view, {lagged_noise({}, 7, 0)});
        const auto grams = whole_run_grams(model, targets);
        ASSERT_TRUE(grams);
        const auto dense = dense_grams(process, view);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (view.has_member(targets[i])) continue;
            EXPECT_LE(((*grams)[i].gram - *dense[static_cast<std::size_t>(targets[i])])
                          .cwiseAbs()
                          .maxCoeff(),
                      1e-9);
        }
    }
}

TEST(WholeRunGrams, AreOfEqualStepsOfOneGossipStepOnly) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = unit_plan(6);
    const View view{View::Kind::neighbours, {0}};
    const std::vector<int> targets{2};
    const auto applies = [&](const MessageProcess& process) {
        const ObservationModel model =
            make_observation_model(process, view, {lagged_noise({}, process.rounds(), 0)});
        return whole_run_grams(model, targets).has_value();
    };
    const std::vector<Phase> phases{fixed_phase(metropolis(graph), 5)};
    EXPECT_TRUE(applies(process_of(graph, plan, phases)));
    EXPECT_FALSE(applies(process_of(graph, plan, phases, 2)));
    EXPECT_FALSE(applies(process_of(graph, plan, {fixed_phase(metropolis(graph), 1)})));
    auto scaled = process_of(graph, plan, phases);
    scaled.step_sizes = falling_steps(5);
    EXPECT_FALSE(applies(scaled));
    EXPECT_FALSE(applies(process_of(graph, plan, phases_of(graph, {{3}, {2, 0, {5}}}))));
}

}  // namespace
}  // namespace sotto
