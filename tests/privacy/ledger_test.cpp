#include "sotto/privacy/ledger.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "privacy/ledger_fixtures.hpp"
#include "privacy/ledger_json.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

/// A phase of `agents` agents with one private stream each, from `first` on.
PrivacyPhase phase_of(std::vector<int> numbers, int all, double scale, long first, long cycle) {
    PrivacyPhase phase;
    const auto count = static_cast<int>(numbers.size());
    phase.members = {all, std::move(numbers)};
    phase.plan.mechanism = "test";
    phase.plan.agents = count;
    phase.plan.scale = scale;
    phase.plan.grid_step_log2 = -40;
    for (int u = 0; u < count; ++u) {
        phase.plan.groups.push_back({{u}});
        phase.plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        phase.plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1.0}});
        phase.sensitivity.push_back(0.2);
        phase.sampling_probability.push_back(1);
    }
    phase.use.participation.cycle = cycle;
    phase.use.steps.first_round = first;
    return phase;
}

Eigen::VectorXd precision_of(const PrivacyPhase& phase) {
    return observed_precision(phase.plan, {});
}

TEST(Composition, AddsUpByPatternOverPhases) {
    // Participation every 3 rounds: 7 rounds, of which the last 3 are done again, and 5 more.
    const PrivacyPhase first = phase_of({0, 1, 2}, 3, 2.0, 0, 3);
    const PrivacyPhase second = phase_of({0, 1, 2}, 3, 3.0, 4, 3);
    PrivacyLosses losses(3);
    losses.add(first, 7, precision_of(first));
    losses.add(second, 8, precision_of(second));
    // Rounds 0..6 and 4..11 by hand.
    Eigen::Vector3d by_hand = Eigen::Vector3d::Zero();
    for (long t = 0; t < 7; ++t) by_hand(t % 3) += 0.04 / 4.0;
    for (long t = 4; t < 12; ++t) by_hand(t % 3) += 0.04 / 9.0;
    for (int u = 0; u < 3; ++u) {
        EXPECT_LT((losses.amounts_of(u) - by_hand).norm(), 1e-15);
        EXPECT_DOUBLE_EQ(losses.worst_of(u, 1e-5).amount().value, by_hand.maxCoeff());
        EXPECT_NEAR(losses.guarantee(u, 1e-5).epsilon,
                    gdp_epsilon(std::sqrt(by_hand.maxCoeff()), 1e-5),
                    1e-12);
    }
}

TEST(Composition, CorrelatedRoundsMeetWithinTheirPhaseOnly) {
    PrivacyPhase first = phase_of({0}, 1, 1.0, 0, 2);
    PrivacyPhase second = phase_of({0}, 1, 1.0, 3, 2);
    Eigen::MatrixXd lower = Eigen::MatrixXd::Identity(5, 5);
    for (int t = 1; t < 5; ++t) lower(t, t - 1) = -0.5;
    for (int t = 2; t < 5; ++t) lower(t, t - 2) = 0.3;
    first.plan.temporal = second.plan.temporal = {TemporalFactor::Kind::dense, lower};
    PrivacyLosses losses(1);
    losses.add(first, 3, precision_of(first));
    losses.add(second, 5, precision_of(second));
    const auto pattern_sum = [&](long from, long rounds, long pattern) {
        const Eigen::MatrixXd block = lower.topLeftCorner(rounds, rounds);
        const Eigen::MatrixXd gram = block.transpose() * block;
        double sum = 0;
        for (long s = 0; s < rounds; ++s)
            for (long t = 0; t < rounds; ++t)
                if ((from + s) % 2 == pattern && (from + t) % 2 == pattern)
                    sum += std::abs(gram(s, t));
        return 0.04 * sum;
    };
    for (long p = 0; p < 2; ++p)
        EXPECT_NEAR(
            losses.of(0, p).amount().value, pattern_sum(0, 3, p) + pattern_sum(3, 5, p), 1e-15);
}

TEST(Composition, WhoLeavesStaysWhereItWas) {
    const PrivacyPhase first = phase_of({0, 1, 2}, 3, 2.0, 0, 1);
    const PrivacyPhase second = phase_of({0, 2}, 3, 1.0, 10, 1);
    PrivacyLosses losses(3);
    losses.add(first, 10, precision_of(first));
    losses.add(second, 10, precision_of(second));
    EXPECT_DOUBLE_EQ(losses.worst_of(1, 1e-5).amount().value, 0.04 * 10 / 4.0);
    EXPECT_DOUBLE_EQ(losses.worst_of(2, 1e-5).amount().value, 0.04 * 10 / 4.0 + 0.04 * 10);
}

TEST(Composition, LaplaceEpsilonsAddUp) {
    PrivacyPhase first = phase_of({0}, 1, 2.0, 0, 1);
    first.plan.streams[0].distribution = StreamDistribution::laplace;
    first.plan.entry = NoiseEntry::message;
    first.use.steps.step_size = 0.1;
    PrivacyPhase second = first;
    second.plan.scale = 5;
    second.use.steps.first_round = 4;
    PrivacyLosses losses(1);
    losses.add(first, 6, observed_precision(first.plan, {}));
    losses.add(second, 3, observed_precision(second.plan, {}));
    EXPECT_NEAR(losses.worst_of(0, 0).epsilon(0).upper, 0.2 * 0.1 * (6 / 2.0 + 3 / 5.0), 1e-15);
    EXPECT_FALSE(losses.guarantee(0, 0).loss.mu().has_value());
}

TEST(Composition, ContributionsPileUpSinceTheRunBegan) {
    // Receiver-dependent noise that leaves the mean untouched: lambda = 1, [H] eq. 27.
    NoisePlan plan;
    plan.mechanism = "test";
    plan.agents = 2;
    plan.scale = 1;
    plan.entry = NoiseEntry::message;
    plan.grid_step_log2 = -40;
    plan.groups = {{{0}}, {{1}}};
    plan.streams = {{0, 0, StreamDistribution::gaussian}, {1, 0, StreamDistribution::gaussian}};
    plan.rows = {{0, 0, {0}, {-1.0}}, {0, 1, {0}, {1.0}}, {1, 0, {1}, {1.0}}, {1, 1, {1}, {-1.0}}};
    PlanUse use;
    use.steps.step_size = 0.5;
    use.own_weights = Eigen::Vector2d(0.5, 0.5);
    const double whole = run_sensitivity_squared(plan, use, 12)(0);
    const double early = run_sensitivity_squared(plan, use, 7)(0);
    use.steps.first_round = 7;
    EXPECT_NEAR(run_sensitivity_squared(plan, use, 5)(0), whole - early, 1e-12 * whole);
    EXPECT_NEAR(pattern_sensitivity_squared(plan, use, 5)(0, 0), whole - early, 1e-12 * whole);
}

TEST(RemainingBudget, MakesTheSumMeetTheBudget) {
    const double mu = gdp_mu(5, 1e-5);
    const std::vector<PrivacyBudget> whole(2, make_budget(5, 1e-5, Calibration::exact));
    for (const long cycle : {1L, 3L, 7L})
        for (const long sent : {4L, 9L, 10L}) {
            PrivacyPhase first = phase_of({0, 1}, 2, 1.0, 0, cycle);
            // Just within the budget for 40 rounds.
            first.plan.scale = 0.2 * std::sqrt(std::ceil(40.0 / static_cast<double>(cycle))) / mu;
            PrivacyLosses spent(2);
            spent.add(first, sent, precision_of(first));
            const long begin = 4;  // the rest is done again
            PrivacyPhase second = phase_of({0, 1}, 2, 1.0, begin, cycle);
            const auto left =
                remaining_budgets(whole, spent, second.members, second.use, 40 - begin, true);
            const double most =
                pattern_sensitivity_squared(second.plan, second.use, 40 - begin).row(0).maxCoeff();
            second.plan.scale = 0.2 * std::sqrt(most) / left[0].limit.mu().value();
            spent.add(second, 40 - begin, precision_of(second));
            EXPECT_LE(spent.worst_of(0, 1e-5).amount().value, mu * mu * (1 + 1e-12))
                << cycle << " " << sent;
            // And no pattern could have had more without another having too much.
            EXPECT_GE(spent.worst_of(0, 1e-5).amount().value, mu * mu * (1 - 1e-12))
                << cycle << " " << sent;
            // Correlated rounds: never more than that.
            PrivacyLosses again(2);
            again.add(first, sent, precision_of(first));
            EXPECT_LE(
                remaining_budgets(whole, again, second.members, second.use, 40 - begin, false)[0]
                    .limit.mu()
                    .value(),
                left[0].limit.mu().value() * (1 + 1e-12));
        }
}

TEST(Composition, OfNoRoundsIsNothingOfTheNoisesKind) {
    PrivacyPhase phase = phase_of({0}, 1, 2.0, 0, 3);
    PrivacyLosses losses(1);
    losses.add(phase, 0, precision_of(phase));
    EXPECT_EQ(losses.worst_of(0, 1e-5), PrivacyLoss());
    EXPECT_EQ(losses.amounts_of(0), Eigen::VectorXd::Zero(1));
    EXPECT_EQ(losses.of(0, 7), PrivacyLoss()) << "a pattern no phase has reached";
    phase.plan.streams[0].distribution = StreamDistribution::laplace;
    losses.add(phase, 0, precision_of(phase));
    EXPECT_FALSE(losses.guarantee(0, 0).loss.mu().has_value());
}

TEST(Composition, InfinitePrecisionCountsOnlyWhereSomethingWasSent) {
    const PrivacyPhase phase = phase_of({0}, 1, 2.0, 0, 3);
    PrivacyLosses losses(1);
    losses.add(phase, planned, Eigen::RowVector3d(1, 0, 2), Eigen::VectorXd::Constant(1, infinity));
    EXPECT_TRUE(losses.of(0, 0).infinite());
    EXPECT_EQ(losses.of(0, 1), PrivacyLoss());
    EXPECT_TRUE(losses.guarantee(0, 1e-5).infinite());
}

TEST(RemainingBudget, OfPureEpsilonsIsTheDifference) {
    PrivacyPhase first = phase_of({0}, 1, 2.0, 0, 1);
    first.plan.streams[0].distribution = StreamDistribution::laplace;
    PrivacyLosses spent(1);
    spent.add(first, 10, precision_of(first));
    const std::vector<PrivacyBudget> whole(1, make_pure_budget(3));
    for (const bool independent : {true, false})
        EXPECT_NEAR(remaining_budgets(whole, spent, first.members, first.use, 4, independent)[0]
                        .limit.epsilon(0)
                        .upper,
                    3 - 10 * 0.2 / 2,
                    1e-14);
}

TEST(RemainingBudget, RefusesWhenNothingIsLeft) {
    const std::vector<PrivacyBudget> whole(1, make_budget(5, 1e-5, Calibration::exact));
    PrivacyPhase first = phase_of({3}, 5, 1.0, 0, 1);
    first.plan.scale = 0.2 * std::sqrt(10.0) / gdp_mu(5, 1e-5);
    PrivacyLosses spent(5);
    spent.add(first, 10, precision_of(first));
    try {
        (void)remaining_budgets(whole, spent, first.members, first.use, 4, true);
        FAIL() << "no error";
    } catch (const PrivacyError& error) {
        EXPECT_NE(std::string(error.what()).find("agent 3"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("nothing is left"), std::string::npos);
    }
}

TEST(Composition, OfSampledPartsAddsUpByPatternOverPhases) {
    // Parts in turn, every 3 rounds: 7 rounds, of which the last 3 are done again, and 5 more; the
    // second phase, which begins in the middle of a cycle, with correlated rounds.
    PrivacyPhase first = phase_of({0, 1, 2}, 3, 2.0, 0, 3);
    PrivacyPhase second = phase_of({0, 1, 2}, 3, 3.0, 4, 3);
    Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(8, 3);
    lower.col(0).setConstant(0.6);
    lower.col(2).tail(6).setConstant(0.8);
    lower.col(0).tail(2).setOnes();
    second.plan.temporal = {TemporalFactor::Kind::banded, lower};
    const std::vector<double> probability{0.25, 0.5, 1};
    for (PrivacyPhase* phase : {&first, &second}) {
        phase->use.participation.poisson = true;
        phase->sampling_probability = probability;
    }
    PrivacyLosses losses(3);
    losses.add(first, 7, precision_of(first));
    losses.add(second, 8, precision_of(second));
    // Rounds 0..6 and 4..11 by hand.
    std::array<long, 3> before{}, after{};
    for (std::size_t t = 0; t < 7; ++t) ++before[t % 3];
    for (std::size_t t = 4; t < 12; ++t) ++after[t % 3];
    for (int u = 0; u < 3; ++u)
        for (std::size_t p = 0; p < 3; ++p) {
            const double q = probability[static_cast<std::size_t>(u)];
            const std::vector<SampledRounds> by_hand{{2 / 0.2, q, before[p]},
                                                     {3 / 0.2, q, after[p]}};
            const PrivacyLoss expected = PrivacyLoss::sampled(by_hand);
            const PrivacyLoss found = losses.of(u, static_cast<long>(p));
            EXPECT_TRUE(found.within(expected, 1e-12)) << u << " " << p;
            EXPECT_TRUE(expected.within(found, 1e-12)) << u << " " << p;
        }
    // No pattern is the worst in both phases; what bounds them all is, and nothing more.
    for (int u = 0; u < 3; ++u) {
        const double q = probability[static_cast<std::size_t>(u)];
        const std::vector<SampledRounds> most{{2 / 0.2, q, 3}, {3 / 0.2, q, 3}};
        const PrivacyLoss bound = losses.bound_of(u);
        EXPECT_TRUE(bound.within(PrivacyLoss::sampled(most), 1e-12));
        for (long p = 0; p < 3; ++p) EXPECT_TRUE(losses.of(u, p).within(bound, 1e-12));
    }
    // A phase that is cut short has whole rounds all the same.
    PrivacyLosses cut(3);
    cut.add(second, 1, precision_of(second));
    const SampledRounds one{3 / 0.2, 0.25, 1};
    EXPECT_TRUE(PrivacyLoss::sampled({&one, 1}).within(cut.of(0, 4 % 3), 1e-12));
}

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
