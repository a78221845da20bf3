#include "run/process_exchanges.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(SetExchanges, TakesTheGossipOfTheConfiguration) {
    PlanConfig plan;
    plan.gossip_steps = 3;
    MessageProcess process;
    set_exchanges(process, plan);
    EXPECT_EQ(process.gossip.steps(), 3);
    EXPECT_TRUE(process.gossip.plain());
    EXPECT_EQ(process.momentum, 0);
    EXPECT_EQ(process.final_gossip, 0);
}

}  // namespace
}  // namespace sotto
