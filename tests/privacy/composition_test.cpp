#include "sotto/privacy/composition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/gdp.hpp"

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
    losses.add(phase, Eigen::RowVector3d(1, 0, 2), Eigen::VectorXd::Constant(1, infinity));
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

}  // namespace
}  // namespace sotto
