#include "commands/account/muffliato_column.hpp"

#include <gtest/gtest.h>

#include "commands/account/account_fixtures.hpp"
#include "sotto/views/muffliato_bound.hpp"

namespace sotto {
namespace {

using test::config_of;

class MuffliatoColumns : public ::testing::Test {
  protected:
    AccountConfig config = config_of("ldp", "all-nodes");

    /// The column of one observer.
    Eigen::VectorXd of(const std::vector<int>& members) const {
        const auto network = make_memory_network(1, 1);
        const auto subject = build_account_subject(config.subject, *network);
        const ViewQuery query = parse_view("--view", config.view, *subject->process.graph);
        return MuffliatoColumn(config.subject.plan, *subject, query).of(members);
    }
};

TEST_F(MuffliatoColumns, AreThePublishedBoundAtTheNoiseOfThePlan) {
    config.subject.plan.noise_std = 2;
    const auto network = make_memory_network(1, 1);
    const auto subject = build_account_subject(config.subject, *network);
    const Topography& topography = subject->built.topography;
    const Eigen::VectorXd bound = muffliato_bound(topography.graph, topography.mixing, 3, 6);
    EXPECT_TRUE(of({3}).isApprox(bound / 4, 1e-9));
}

TEST_F(MuffliatoColumns, AreOfSingleNodes) {
    for (const char* view : {"node:3", "coalition:3", "all-nodes"}) {
        config.view = view;
        EXPECT_EQ(of({3}).size(), 7) << view;
    }
    EXPECT_EQ(of({1, 3}).size(), 0);
    for (const char* view :
         {"coalition:1,3", "secure-sum:3", "all-messages:3", "worst-coalition:1"}) {
        config.view = view;
        EXPECT_EQ(of({3}).size(), 0) << view;
    }
}

TEST_F(MuffliatoColumns, AreOfIndependentNoiseInEqualRounds) {
    const auto applies = [&](auto&& change) {
        const AccountConfig before = config;
        change(config.subject);
        const bool found = of({3}).size() > 0;
        config = before;
        return found;
    };
    EXPECT_TRUE(applies([](SubjectConfig&) {}));
    EXPECT_FALSE(applies([](SubjectConfig& c) { c.plan.mechanism = "decor"; }));
    EXPECT_FALSE(applies([](SubjectConfig& c) { c.plan.mechanism = "anti-pgd"; }));
    EXPECT_FALSE(applies([](SubjectConfig& c) { c.departures = "3:1"; }));
    EXPECT_FALSE(
        applies([](SubjectConfig& c) { c.plan.steps.kind = StepSchedule::Kind::inverse_sqrt; }));
    EXPECT_FALSE(applies([](SubjectConfig& c) {
        c.plan.mechanism = "muffliato";
        c.plan.gossip_steps = 2;
    }));
}

}  // namespace
}  // namespace sotto
