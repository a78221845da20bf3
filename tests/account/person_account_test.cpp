#include "account/person_account.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "account/account_fixtures.hpp"
#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

AccountConfig config_for(int agents, const std::string& view) {
    AccountConfig config = test::config_of("pairs", view);
    config.subject.plan.unit_agents = agents;
    return config;
}

TEST(PersonAccount, OfOneAgentIsNotReported) {
    EXPECT_FALSE(test::account(config_for(1, "eavesdropper")).result.persons);
}

TEST(PersonAccount, OfTheEavesdropperIsTheWorstPairOfAgents) {
    const auto [subject, result] = test::account(config_for(2, "eavesdropper"));
    ASSERT_TRUE(result.persons);
    const Eigen::MatrixXd precision = spatial_covariance(subject->plan).inverse();
    const Eigen::VectorXd reach = reach_of(subject->exposures);
    double largest = 0;
    for (int u = 0; u < 7; ++u)
        for (int v = 0; v < u; ++v)
            largest = std::max(largest,
                               precision(u, u) * reach(u) * reach(u) +
                                   precision(v, v) * reach(v) * reach(v) +
                                   2 * std::abs(precision(u, v)) * reach(u) * reach(v));
    EXPECT_NEAR(result.persons->guarantee.loss.mu().value(), std::sqrt(largest), 1e-9);
    EXPECT_GT(result.persons->guarantee.epsilon, result.eavesdropper.epsilon);
    EXPECT_NEAR(result.persons->at_least.epsilon, result.persons->guarantee.epsilon, 1e-6);
    EXPECT_EQ(result.persons->worst.agents.size(), 2u);
    EXPECT_TRUE(result.persons->exhaustive);
    EXPECT_EQ(result.persons->plans, 1);
}

TEST(PersonAccount, OfCoalitionsIsTheWorstOverThem) {
    const auto one = test::account(config_for(2, "all-messages:3")).result.persons;
    const auto any = test::account(config_for(2, "worst-all-messages:1")).result.persons;
    const auto nodes = test::account(config_for(2, "all-nodes")).result.persons;
    ASSERT_TRUE(one && any && nodes);
    EXPECT_EQ(one->worst.coalition, std::vector<int>{3});
    EXPECT_LE(one->guarantee.epsilon, any->guarantee.epsilon * (1 + 1e-9));
    // Of every single node as though it saw all messages.
    EXPECT_NEAR(any->guarantee.epsilon, nodes->guarantee.epsilon, 1e-9);
    const auto outsider = test::account(config_for(2, "eavesdropper")).result.persons;
    EXPECT_LT(outsider->guarantee.epsilon, any->guarantee.epsilon);
}

TEST(PersonAccount, IsAboutTheTargets) {
    AccountConfig config = config_for(2, "eavesdropper");
    config.targets = "1,4";
    EXPECT_EQ(test::account(config).result.persons->worst.agents, (std::vector<int>{1, 4}));
    config.targets = "1";
    test::expect_contains(test::message_of<ConfigError>([&] { (void)test::account(config); }),
                          "--unit-agents: 2 is not possible with 1 agent");
}

TEST(PersonAccount, OfABudgetIsHeldByThePlan) {
    AccountConfig config = config_for(3, "worst-all-messages:1");
    config.subject.plan.noise_std.reset();
    config.subject.plan.epsilon = 3;
    EXPECT_NEAR(test::account(config).result.persons->guarantee.epsilon, 3, 1e-5);
}

TEST(PersonAccount, IsRefusedWithDepartures) {
    AccountConfig config = config_for(2, "eavesdropper");
    config.subject.departures = "2:6";
    test::expect_contains(test::message_of<ConfigError>([&] { (void)test::account(config); }),
                          "--departures");
}

}  // namespace
}  // namespace sotto
