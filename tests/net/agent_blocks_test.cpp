#include "net/agent_blocks.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(AgentBlocks, ShareOutAllAgentsInOrderAndAsEvenlyAsPossible) {
    for (int agents = 1; agents < 40; ++agents)
        for (int processes = 1; processes <= agents; ++processes) {
            const AgentBlocks blocks(agents, processes);
            int next = 0;
            for (int p = 0; p < processes; ++p) {
                EXPECT_EQ(blocks.first(p), next);
                EXPECT_GE(blocks.size(p), agents / processes);
                EXPECT_LE(blocks.size(p), blocks.most());
                for (int a = 0; a < blocks.size(p); ++a) EXPECT_EQ(blocks.process_of(next++), p);
            }
            EXPECT_EQ(next, agents);
            EXPECT_LE(blocks.most(), agents / processes + 1);
            EXPECT_EQ(blocks.one_each(), agents == processes);
        }
}

TEST(AgentBlocks, DoNotOverflow) {
    const AgentBlocks blocks(2'000'000'000, 1'000'000'000);
    EXPECT_EQ(blocks.first(999'999'999), 1'999'999'998);
    EXPECT_EQ(blocks.process_of(1'999'999'999), 999'999'999);
}

}  // namespace
}  // namespace sotto
