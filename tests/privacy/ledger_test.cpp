#include "sotto/privacy/ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "privacy/ledger_fixtures.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Ledger, GrowsWithTheRootOfTheRounds) {
    const Ledger ledger = make_ledger(private_plan({1, 2, 4}));
    for (const long rounds : {1L, 25L, 100L}) {
        const auto after = ledger.after(rounds);
        for (int u = 0; u < 3; ++u)
            EXPECT_DOUBLE_EQ(
                after[static_cast<std::size_t>(u)].loss.mu().value(),
                0.1 * (1 + u) * std::sqrt(static_cast<double>(rounds)) / std::pow(2.0, u));
        EXPECT_DOUBLE_EQ(ledger.mu_after(rounds), 0.1 * std::sqrt(static_cast<double>(rounds)));
        EXPECT_DOUBLE_EQ(ledger.epsilon_after(rounds), gdp_epsilon(ledger.mu_after(rounds), delta));
    }
    EXPECT_EQ(ledger.mu_after(0), 0.0);
    EXPECT_EQ(ledger.epsilon_after(0), 0.0);
    EXPECT_EQ(ledger.delta(), delta);
}

TEST(Ledger, HasTheLargestEpsilonOfAllAgentsWhicheverItIs) {
    for (const std::vector<double>& noise : {std::vector<double>{1, 2, 4}, {4, 1, 2}, {2, 4, 1}}) {
        PrivacyRecord sampled = make_record(private_plan(noise));
        // Who is rarely sampled has little noise, so that no loss is the larger one in every part.
        for (const double deviation : noise)
            sampled.phases.front().sampling_probability.push_back(0.02 * deviation);
        const std::vector<Ledger> ledgers{
            make_ledger(private_plan(noise)),
            make_ledger(private_plan(noise), {Adjacency::record, {10}, false}),
            Ledger(std::move(sampled))};
        for (const Ledger& ledger : ledgers)
            for (const long rounds : {0L, 1L, 25L})
                EXPECT_EQ(ledger.epsilon_after(rounds), largest(ledger.after(rounds)).epsilon);
    }
}

TEST(Ledger, CountsParticipationsOfTheWorstPlacedRecord) {
    const Ledger ledger = make_ledger(private_plan({1, 1}), {Adjacency::record, {10}, false});
    EXPECT_DOUBLE_EQ(ledger.mu_after(1), 0.2);
    EXPECT_DOUBLE_EQ(ledger.mu_after(10), 0.2);
    EXPECT_DOUBLE_EQ(ledger.mu_after(11), 0.2 * std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(ledger.mu_after(100), 0.2 * std::sqrt(10.0));
}

TEST(Ledger, ComposesPhasesAndCountsRepeatedRoundsTwice) {
    const Ledger ledger(resumed_record());
    const auto mu_of = [&](const std::vector<Guarantee>& after, std::size_t agent) {
        return after[agent].loss.mu().value();
    };
    const auto after = ledger.after(100);
    EXPECT_NEAR(mu_of(after, 0), 0.1 * std::sqrt(40 / 1.0 + 70 / 4.0), 1e-15);
    // Who has left stays where it was.
    EXPECT_NEAR(mu_of(after, 1), 0.2 * std::sqrt(40 / 4.0), 1e-15);
    EXPECT_NEAR(mu_of(after, 2), 0.3 * std::sqrt(40 / 16.0 + 70 / 64.0), 1e-15);
    EXPECT_EQ(ledger.rounds_accounted(100), 110);
    EXPECT_EQ(ledger.rounds_now(100), 70);
    EXPECT_EQ(ledger.epsilon_after(100), largest(after).epsilon);
}

TEST(Ledger, FindsTheWorstCuriousAgentOverAllPhases) {
    PrivacyRecord record = make_record(random_plan(make_graph(Topology::ring, 6), 4));
    record.phases.front().rounds = 40;
    PrivacyPhase second = record.phases.front();
    second.use.steps.first_round = 40;
    second.plan.scale *= 2;
    record.phases.push_back(second);
    const Ledger ledger(record);
    const auto worst = ledger.worst_curious_agent(planned);
    ASSERT_TRUE(worst.has_value());
    double most = 0;
    for (int observer = 0; observer < 6; ++observer) {
        const Eigen::VectorXd first = observed_precision(record.phases[0].plan, {{observer}});
        const Eigen::VectorXd last = observed_precision(record.phases[1].plan, {{observer}});
        for (int target = 0; target < 6; ++target)
            if (target != observer)
                most = std::max(
                    most, 0.1 * (1 + target) * std::sqrt(40 * first(target) + 60 * last(target)));
    }
    EXPECT_NEAR(worst->guarantee.loss.mu().value(), most, 1e-12 * most);
    EXPECT_LT(ledger.against_eavesdropper(planned), worst->guarantee);
    EXPECT_FALSE(make_ledger(private_plan({1})).worst_curious_agent(planned).has_value());
}

TEST(Ledger, UnderLaplaceNoiseCountsPureEpsilons) {
    NoisePlan plan = private_plan({2, 2});
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    const Ledger ledger = make_ledger(plan);
    EXPECT_EQ(ledger.delta(), 0);
    // 50 times Delta / scale of the agent with the larger sensitivity.
    EXPECT_DOUBLE_EQ(ledger.epsilon_after(50), 50 * 0.2 / 2);
    EXPECT_TRUE(std::isnan(ledger.mu_after(50)));
    EXPECT_TRUE(std::isnan(ledger.mu_after(0))) << "nothing sent, under the same noise";
    EXPECT_EQ(ledger.epsilon_after(0), 0);
}

}  // namespace
}  // namespace sotto
