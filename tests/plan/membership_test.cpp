#include "sotto/plan/membership.hpp"

#include <gtest/gtest.h>

#include "plan/plan_fixtures.hpp"

namespace sotto {
namespace {

TEST(Membership, OfEverybodyHasNobodyGone) {
    const Membership all = Membership::everybody(4);
    EXPECT_EQ(all.all, 4);
    EXPECT_EQ(all.size(), 4);
    EXPECT_TRUE(all.gone().empty());
    for (int u = 0; u < 4; ++u) {
        EXPECT_EQ(all.number(u), u);
        EXPECT_EQ(all.place(u), u);
    }
}

TEST(Membership, PlacesAreNumberedInTheOrderOfThoseThatAreThere) {
    const Membership some{7, {1, 2, 5}};
    EXPECT_EQ(some.size(), 3);
    EXPECT_EQ(some.gone(), (std::vector<int>{0, 3, 4, 6}));
    for (int place = 0; place < some.size(); ++place)
        EXPECT_EQ(some.place(some.number(place)), place);
    for (const int away : some.gone()) EXPECT_EQ(some.place(away), -1);
    EXPECT_EQ(some.places({5, 3, 1, 6}), (std::vector<int>{2, 0}));
}

TEST(Renumbered, IsThePlanOfTheSameAgentsByTheirNumbers) {
    for (const auto& make : {test::sample_plan, test::unusual_plan}) {
        const NoisePlan plan = make();
        const Membership members{6, {0, 3, 5}};
        const NoisePlan moved = renumbered(plan, members);
        EXPECT_NO_THROW(moved.validate());
        EXPECT_EQ(moved.agents, 6);
        ASSERT_EQ(moved.groups.size(), plan.groups.size());
        for (std::size_t g = 0; g < plan.groups.size(); ++g)
            for (std::size_t i = 0; i < plan.groups[g].members.size(); ++i)
                EXPECT_EQ(moved.groups[g].members[i], members.number(plan.groups[g].members[i]));
        ASSERT_EQ(moved.rows.size(), plan.rows.size());
        for (std::size_t r = 0; r < plan.rows.size(); ++r) {
            const int receiver = plan.rows[r].receiver;
            EXPECT_EQ(moved.rows[r].sender, members.number(plan.rows[r].sender));
            EXPECT_EQ(moved.rows[r].receiver,
                      receiver == NoiseRow::all_receivers ? receiver : members.number(receiver));
            EXPECT_EQ(moved.rows[r].coefficients, plan.rows[r].coefficients);
        }
        EXPECT_EQ(renumbered(plan, Membership::everybody(3)).hash(), plan.hash());
    }
}

}  // namespace
}  // namespace sotto
