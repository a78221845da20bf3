#include "sotto/privacy/privacy_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "privacy/ledger_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

std::vector<std::string> statements_about(const NoisePlan& plan) {
    return statements_of(make_record(plan));
}

bool any_contains(const std::vector<std::string>& lines, const std::string& part) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

TEST(FirstPhase, IsOfEverybodyFromTheFirstRoundOn) {
    const PrivacyPhase phase =
        first_phase(private_plan({1, 2, 4}), std::vector<Exposure>{{0.1}, {0.2}, {0.3}}, {}, 12);
    EXPECT_EQ(phase.members.numbers, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(phase.sensitivity, (std::vector<double>{0.1, 0.2, 0.3}));
    EXPECT_EQ(phase.use.steps.first_round, 0);
    EXPECT_EQ(phase.rounds, 12);
    EXPECT_EQ(phase.key_epoch, 0U);
}

TEST(Statements, SayThatAllAgentsShareOneSeed) {
    EXPECT_TRUE(any_contains(statements_about(shared_seed_plan(4)), "All agents share one seed"));
    EXPECT_FALSE(any_contains(statements_about(private_plan({1, 1})), "share"));
    // One agent shares its seed with nobody.
    EXPECT_FALSE(any_contains(statements_about(shared_seed_plan(1)), "All agents share"));
}

TEST(Statements, NameNoRankThatKnowsMoreThanItsOwnGroups) {
    for (const NoisePlan& plan :
         {random_plan(make_graph(Topology::ring, 6), 4), private_plan({1, 1}), shared_seed_plan(4)})
        EXPECT_FALSE(any_contains(statements_about(plan), "ank 0"));
}

TEST(Statements, SayThatPeersAreUnauthenticatedOnlyWhereTheyAre) {
    PrivacyRecord record = make_record(private_plan({1, 1}));
    // Who does not say otherwise gets the warning.
    EXPECT_TRUE(any_contains(statements_of(record), "unauthenticated"));
    for (const char* authentication : {"roster 00ff", ""}) {
        record.authentication = authentication;
        EXPECT_FALSE(any_contains(statements_of(record), "unauthenticated"));
    }
}

TEST(Statements, SayThatReproducibleNoiseIsInsecure) {
    EXPECT_TRUE(
        any_contains(statements_of(make_record(private_plan({1, 1}), {Adjacency::agent, {}, true})),
                     "INSECURE"));
    EXPECT_FALSE(any_contains(statements_about(private_plan({1, 1})), "INSECURE"));
}

TEST(Statements, NameTheTrustedAggregator) {
    NoisePlan plan = blank_plan(3);
    plan.aggregation = Aggregation::trusted_mean;
    add_stream(plan, {0}, {1.0});
    EXPECT_TRUE(any_contains(statements_about(plan), "Trusted aggregator"));
}

TEST(Statements, SayThatNoNoiseIsNoPrivacy) {
    EXPECT_TRUE(any_contains(statements_about(no_noise(2)), "Epsilon is infinite"));
}

TEST(Statements, SayWhatLaplaceNoiseProtects) {
    NoisePlan plan = private_plan({1, 1});
    EXPECT_FALSE(any_contains(statements_about(plan), "Laplace"));
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_TRUE(any_contains(statements_about(plan), "clipped in L1 norm"));
}

TEST(Statements, CountTheRoundsThatWereDoneTwice) {
    PrivacyRecord record = resumed_record();
    EXPECT_TRUE(any_contains(statements_of(record), "2 phases with noise of their own"));
    EXPECT_TRUE(any_contains(statements_of(record), "; 10 rounds whose messages"));
    record.phases.back().use.steps.first_round = 39;
    EXPECT_TRUE(any_contains(statements_of(record), "; 1 round whose messages"));
    EXPECT_TRUE(any_contains(statements_of(record), "a failure counts beside"));
    record.phases.back().use.steps.first_round = 40;
    EXPECT_TRUE(any_contains(statements_of(record), "whose losses add up."));
}

TEST(Statements, EndWithThoseAboutTheRun) {
    PrivacyRecord record = make_record(private_plan({1, 1}));
    record.more_statements = {"One.", "Two."};
    const auto lines = statements_of(record);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_EQ(lines[lines.size() - 2], "One.");
    EXPECT_EQ(lines.back(), "Two.");
}

TEST(Statements, AlwaysSayWhatIsNotCovered) {
    for (const NoisePlan& plan : {private_plan({1, 1}), shared_seed_plan(3), no_noise(2)}) {
        const auto lines = statements_about(plan);
        EXPECT_TRUE(any_contains(lines, "unauthenticated"));
        EXPECT_TRUE(any_contains(lines, "not private outputs"));
        EXPECT_TRUE(any_contains(lines, "step size"));
        EXPECT_FALSE(any_contains(lines, "one record"));
    }
    EXPECT_TRUE(any_contains(
        statements_of(make_record(private_plan({1, 1}), {Adjacency::record, {}, false})),
        "no amplification"));
}

}  // namespace
}  // namespace sotto
