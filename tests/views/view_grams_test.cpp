#include "views/view_grams.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

void expect_dense(const std::vector<TargetGram>& grams,
                  const std::vector<int>& targets,
                  const MessageProcess& process,
                  const View& view) {
    const auto dense = dense_grams(process, view);
    ASSERT_EQ(grams.size(), targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto& expected = dense[static_cast<std::size_t>(targets[i])];
        ASSERT_EQ(grams[i].infinite, !expected.has_value());
        if (expected) {
            EXPECT_LE((grams[i].gram - *expected).cwiseAbs().maxCoeff(),
                      1e-9 * std::max(1.0, expected->cwiseAbs().maxCoeff()));
        }
    }
}

TEST(ViewGrams, WhitenAtOnceWhereFewValuesAreSeenOfMany) {
    const Graph graph = make_graph(Topology::path, 12);
    const NoisePlan plan = unit_plan(12);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 8)});
    const View view{View::Kind::neighbours, {0}};
    const ViewGrams grams(temporal_model_of(process, view));
    const std::vector<int> targets{1, 2, 7};
    const auto whole = grams.try_whole_run(targets);
    ASSERT_TRUE(whole);
    expect_dense(*whole, targets, process, view);
}

TEST(ViewGrams, FollowInputsWhereMuchIsSeen) {
    const Graph graph = make_graph(Topology::complete, 6);
    const NoisePlan plan = decor_plan(graph);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 9)}, 2);
    const View view{View::Kind::neighbours, {0, 1}};
    ViewGrams grams(temporal_model_of(process, view));
    const std::vector<int> targets{2, 3, 4, 5};
    EXPECT_FALSE(grams.try_whole_run(targets));
    EXPECT_EQ(grams.bytes_of_a_target(), 0) << "nothing is followed yet";
    grams.prepare(targets.size());
    EXPECT_EQ(grams.bytes_of_a_target(), 0) << "all is seen: nothing has to be carried on";
    expect_dense(grams.grams(targets), targets, process, view);
}

TEST(ViewGrams, FollowInnovationsBackwardWhereFewTellOfManyTargets) {
    const Graph graph = make_graph(Topology::path, 12);
    const NoisePlan plan = decor_plan(graph);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 8)}, 2);
    const View view{View::Kind::neighbours, {0}};
    ViewGrams grams(temporal_model_of(process, view));
    EXPECT_FALSE(grams.shares_threads()) << "not known yet";
    grams.prepare(11);
    EXPECT_TRUE(grams.shares_threads());
    const std::vector<int> targets{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    expect_dense(grams.grams(targets), targets, process, view);
}

TEST(ViewGrams, SayWhatATargetTakes) {
    const Graph graph = make_graph(Topology::path, 12);
    const NoisePlan plan = unit_plan(12);
    double before = 0;
    for (const long rounds : {8, 16}) {
        const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)});
        ViewGrams grams(temporal_model_of(process, {View::Kind::neighbours, {0}}));
        grams.prepare(11);
        EXPECT_GT(grams.bytes_of_a_target(), before);
        before = grams.bytes_of_a_target();
    }
}

TEST(ViewGrams, OfALongMemoryAreWhitenedAtOnce) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan =
        with_factor(decor_plan(graph), random_factor(TemporalFactor::Kind::dense, 0, 6));
    const auto process = process_of(graph, plan, phases_of(graph, {{6}}));
    const View view{View::Kind::neighbours, {2}};
    ViewGrams grams(temporal_model_of(process, view));
    const std::vector<int> targets{0, 1, 3, 4, 5};
    EXPECT_FALSE(grams.try_whole_run(targets)) << "that is for independent rounds";
    grams.prepare(targets.size());
    expect_dense(grams.grams(targets), targets, process, view);
}

}  // namespace
}  // namespace sotto
