#include "sotto/privacy/tails.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/test_support.hpp"
#include "privacy/ledger_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/drawn_normals.hpp"
#include "sotto/privacy/ledger_json.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr auto gaussian = StreamDistribution::gaussian;
constexpr auto laplace = StreamDistribution::laplace;

TEST(Tails, OneValueTakesWhatTheFormulaSays) {
    EXPECT_NEAR(std::log(tail_delta(gaussian, 0)), std::log(5) - 240 * std::log(2), 1e-9);
    EXPECT_NEAR(std::log(tail_delta(laplace, 0)), std::log(20) - 240 * std::log(2), 1e-9);
    EXPECT_NEAR(std::log(tail_delta(gaussian, 3)),
                std::log(5) - 0.5 * (tail_radius - 3) * (tail_radius - 3),
                1e-9);
    EXPECT_NEAR(std::log(tail_delta(laplace, 40)), std::log(20) + 40 - 240 * std::log(2), 1e-9);
    // Neighbours further apart than any noise reaches.
    for (const auto noise : {gaussian, laplace})
        for (const double shift : {200.0, 1e5, infinity}) EXPECT_EQ(tail_delta(noise, shift), 1);
    EXPECT_EQ(tail_delta(gaussian, tail_radius), 1);
    for (const double wrong : {-1e-9, not_a_number})
        EXPECT_THROW((void)tail_delta(gaussian, wrong), PrivacyError);
}

TEST(Tails, OfABillionValuesOfAMillionRoundsAreFarBelowDelta) {
    // epsilon 10 in one round: mu 1.9. A thousand agents, d = 1e9, T = 1e6.
    EXPECT_LT(1e18 * tail_delta(gaussian, 2), 1e-30);
    EXPECT_LT(1e18 * tail_delta(laplace, 20), 1e-40);
}

/// The bound itself: bad pairs are those that are, or whose neighbour is, beyond the radius.
TEST(Tails, CoverBadPairsOfBothNeighbours) {
    for (const double shift : {0.0, 0.5, 2.0, 5.0}) {
        const double drawn = std::exp(-tail_radius * tail_radius / 2);
        // A shifted pair is beyond R only if the pair itself is beyond R - shift.
        const double moved = std::exp(-(tail_radius - shift) * (tail_radius - shift) / 2);
        EXPECT_GE(tail_delta(gaussian, shift), drawn + 2 * moved);
    }
}

TEST(LedgerTails, CountEveryStreamRoundAndCoordinateOfEveryPhase) {
    PrivacyRecord record = resumed_record();
    record.dimension = 1000;
    const Ledger ledger(record);
    // Three streams in 40 rounds, then two in 70; sensitivity over noise is 0.1 / 1, then 0.1 / 2.
    const double expected =
        40 * 3e3 * tail_delta(gaussian, 0.1 / 1) + 70 * 2e3 * tail_delta(gaussian, 0.1 / 2);
    const Tails tails = ledger.tails(100);
    EXPECT_EQ(tails.values, 40 * 3e3 + 70 * 2e3);
    EXPECT_TRUE(relatively_near(tails.delta, expected, 1e-9)) << tails.delta;
    EXPECT_EQ(tails.most, std::ldexp(delta, -40));
    EXPECT_TRUE(tails.allowed());
    EXPECT_EQ(ledger.tails(31).values, 40 * 3e3 + 2e3);
    const auto json = nlohmann::json::parse(to_json(ledger, Ledger::Status::running, 0));
    EXPECT_EQ(json["tails"]["values"], tails.values);
    EXPECT_EQ(json["tails"]["delta"], tails.delta);
    EXPECT_EQ(json["tails"]["most"], tails.most);
}

TEST(LedgerTails, AreNotCountedWhereTheDimensionIsUnknown) {
    const Ledger ledger(resumed_record());
    EXPECT_EQ(ledger.tails(100).values, 0);
    EXPECT_EQ(ledger.tails(100).delta, 0);
    EXPECT_FALSE(
        nlohmann::json::parse(to_json(ledger, Ledger::Status::running, 0)).contains("tails"));
}

TEST(LedgerTails, TakeFromTheDeltaThatEpsilonIsStatedAt) {
    // Sensitivity 0.1 under noise of 0.1 / 11.5: one round moves the noise by 11.5 deviations.
    PrivacyRecord record = make_record(private_plan({0.1 / 11.5}));
    record.rounds = record.phases.front().rounds = 1;
    record.dimension = 1000;
    const Ledger ledger(record);
    const Tails tails = ledger.tails(1);
    ASSERT_GT(tails.delta, 1e-8);
    ASSERT_LT(tails.delta, delta);
    EXPECT_DOUBLE_EQ(ledger.epsilon_after(1),
                     PrivacyLoss::gaussian(11.5).epsilon(delta - tails.delta).upper);
    EXPECT_EQ(ledger.delta(), delta);
    const std::string message =
        message_of<PrivacyError>([&] { require_small_tails(tails, ledger.delta()); });
    for (const char* part :
         {"1000 values of noise", "to delta 1e-05", "at most 9.09e-18", "--rounds"})
        EXPECT_TRUE(contains(message, part)) << message;
    // Where they take all of it no epsilon holds.
    record.dimension = 10'000'000'000;
    EXPECT_EQ(Ledger(record).epsilon_after(1), infinity);
    EXPECT_EQ(Ledger(record).tails(1).delta, 1);
}

TEST(LedgerTails, OfLaplaceNoiseAreWhatAPureEpsilonIsShortOf) {
    PrivacyRecord record = make_record(private_plan({0.1}));
    for (auto& stream : record.phases.front().plan.streams) stream.distribution = laplace;
    record.dimension = 10;
    const Ledger ledger(record);
    const Tails tails = ledger.tails(100);
    EXPECT_TRUE(relatively_near(tails.delta, 100 * 10 * tail_delta(laplace, 1), 1e-9));
    EXPECT_EQ(tails.most, std::ldexp(1, -60));
    EXPECT_NO_THROW(require_small_tails(tails, 0));
    EXPECT_EQ(ledger.epsilon_after(100), 100);
    record.phases.front().plan.scale = 1e-3;
    EXPECT_THROW(require_small_tails(Ledger(record).tails(100), 0), PrivacyError);
}

TEST(LedgerTails, AgentsOfWhomNothingIsClaimedDoNotCount) {
    PrivacyRecord record = make_record(private_plan({1, 1}));
    record.phases.front().plan.rows[1].streams.clear();
    record.phases.front().plan.rows[1].coefficients.clear();
    record.dimension = 10;
    const Ledger ledger(record);
    ASSERT_TRUE(ledger.after(100)[1].infinite());
    EXPECT_TRUE(
        relatively_near(ledger.tails(100).delta, 100 * 2 * 10 * tail_delta(gaussian, 0.1), 1e-9));
    record = make_record(no_noise(2));
    record.dimension = 10;
    EXPECT_EQ(Ledger(record).tails(100).delta, 0);
}

}  // namespace
}  // namespace sotto
