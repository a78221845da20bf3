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

TEST(SumRules, AreThoseOfARound) {
    PlanConfig plan;
    plan.gossip_steps = 3;
    EXPECT_EQ(sum_rules(plan, 2).gossip_steps, 3);
    EXPECT_EQ(sum_rules(plan, 2).mask_partners, 2);
}

}  // namespace
}  // namespace sotto
