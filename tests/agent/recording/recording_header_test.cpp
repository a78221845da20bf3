#include "sotto/agent/recording/recording_header.hpp"

#include <gtest/gtest.h>

#include "agent/agent_fixtures.hpp"

namespace sotto {
namespace {

/// A path of three agents, and agent 2 by itself.
const Graph path_without_two = Graph::from_edges(4, {{0, 1}, {1, 3}});

TEST(RecordingHeader, SaysWhoseRecordingItIs) {
    const NoisePlan plan = test::silent_plan(4);
    const RecordingHeader header = recording_header(1, path_without_two, plan, 7, 3, 5);
    EXPECT_EQ(header.agent, 1);
    EXPECT_EQ(header.agents, 4);
    EXPECT_EQ(header.dimension, 7);
    EXPECT_EQ(header.neighbours, (std::vector<int>{0, 3}));
    EXPECT_EQ(header.gossip_steps, 3);
    EXPECT_EQ(header.key_epoch, 5U);
    EXPECT_EQ(header.plan_hash, to_hex(plan.hash()));
    EXPECT_EQ(header.outputs, std::vector<int>{NoiseRow::all_receivers});
    EXPECT_EQ(header.column_of(NoiseRow::all_receivers), 0);
    EXPECT_EQ(header.column_of(3), -1);
}

TEST(RecordingHeader, NamesTheReceiversOfMessagesOfTheirOwn) {
    NoisePlan plan = test::silent_plan(4);
    plan.rows = {{1, 0, {}, {}}};
    const RecordingHeader header = recording_header(1, path_without_two, plan, 7, 1, 0);
    EXPECT_EQ(header.outputs, (std::vector<int>{0, 1, 3}));
    EXPECT_EQ(header.column_of(3), 2);
    EXPECT_EQ(header.column_of(2), -1);
    EXPECT_EQ(header.column_of(NoiseRow::all_receivers), -1);
}

}  // namespace
}  // namespace sotto
