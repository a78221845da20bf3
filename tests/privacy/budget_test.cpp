#include "sotto/privacy/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/gdp.hpp"
#include "sotto/privacy/noise_multiplier.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::relatively_near;

constexpr Calibration all_calibrations[] = {
    Calibration::exact, Calibration::rdp, Calibration::paper};

TEST(MakeBudget, ChoosesTheMuOfItsCalibration) {
    for (const double epsilon : {0.5, 3.0, 10.0, 25.0})
        for (const double delta : {1e-9, 1e-6, 1e-5}) {
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::exact).limit.mu(),
                      gdp_mu(epsilon, delta));
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::rdp).limit.mu(),
                      rdp_mu(epsilon, delta));
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::paper).limit.mu(),
                      paper_mu(epsilon, delta));
        }
}

TEST(MakeBudget, NeverExceedsItsEpsilon) {
    for (const Calibration calibration : all_calibrations)
        for (const double epsilon : {0.01, 0.5, 3.0, 10.0, 25.0}) {
            const PrivacyBudget budget = make_budget(epsilon, 1e-5, calibration);
            EXPECT_EQ(budget.epsilon, epsilon);
            EXPECT_EQ(budget.delta, 1e-5);
            EXPECT_EQ(budget.calibration, calibration);
            EXPECT_LE(budget.limit.epsilon(1e-5).upper, epsilon * (1 + 1e-12));
        }
}

TEST(MakeBudget, RefusesPaperExactlyWhereItMissesItsTarget) {
    bool accepted_before = true;
    for (double epsilon = 20; epsilon <= 50; epsilon += 0.25) {
        const bool meets = gdp_epsilon(paper_mu(epsilon, 1e-5), 1e-5) <= epsilon;
        if (meets) {
            EXPECT_NO_THROW((void)make_budget(epsilon, 1e-5, Calibration::paper)) << epsilon;
        } else {
            const std::string message = message_of<ConfigError>(
                [&] { (void)make_budget(epsilon, 1e-5, Calibration::paper); });
            EXPECT_TRUE(contains(message, "paper"));
            EXPECT_TRUE(contains(message, "exact"));
        }
        EXPECT_TRUE(accepted_before || !meets) << "accepted again at " << epsilon;
        accepted_before = meets;
    }
    // The crossing is at 36.1; already above 27.0 the papers' own Theorem 2 disagrees.
    EXPECT_NO_THROW((void)make_budget(36.0, 1e-5, Calibration::paper));
    EXPECT_THROW((void)make_budget(36.2, 1e-5, Calibration::paper), ConfigError);
    EXPECT_THROW((void)make_budget(40.0, 1e-5, Calibration::paper), ConfigError);
    EXPECT_LE(rdp_epsilon(paper_mu(26.9, 1e-5), 1e-5), 26.9);
    EXPECT_GT(rdp_epsilon(paper_mu(27.1, 1e-5), 1e-5), 27.1);
    EXPECT_NO_THROW((void)make_budget(40.0, 1e-6, Calibration::paper));
}

TEST(MakeBudget, RefusesAnEpsilonThatIsNotFiniteAndPositive) {
    for (const Calibration calibration : all_calibrations)
        for (const double epsilon : {0.0, -0.0, -1.0, not_a_number, infinity, -infinity})
            EXPECT_TRUE(contains(
                message_of<ConfigError>([&] { (void)make_budget(epsilon, 1e-5, calibration); }),
                "epsilon"))
                << epsilon;
}

TEST(MakeBudget, RefusesADeltaThatIsNotBetweenZeroAndOne) {
    for (const Calibration calibration : all_calibrations)
        for (const double delta : {0.0, 1.0, -1e-5, 2.0, not_a_number, infinity})
            EXPECT_TRUE(
                contains(message_of<ConfigError>([&] { (void)make_budget(1, delta, calibration); }),
                         "delta"))
                << delta;
}

TEST(CalibrationNames, GoBackAndForth) {
    for (const Calibration calibration : all_calibrations)
        EXPECT_EQ(parse_calibration("calibration", name_of(calibration)), calibration);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([] { (void)parse_calibration("calibration", "exat"); }),
                 "did you mean 'exact'?"));
}

TEST(MakeBudget, AgainstLaplaceNoiseIsTheEpsilonItself) {
    for (const double epsilon : {0.01, 3.0, 40.0}) {
        const PrivacyBudget budget = make_pure_budget(epsilon);
        EXPECT_EQ(budget.limit, PrivacyLoss::pure(epsilon));
        EXPECT_EQ(budget.delta, 0);
        EXPECT_EQ(budget.limit.epsilon(budget.delta).upper, epsilon);
        const PrivacyBudget chosen =
            make_budget(StreamDistribution::laplace, epsilon, 1e-5, Calibration::rdp);
        EXPECT_EQ(chosen.limit, budget.limit);
        EXPECT_EQ(chosen.delta, 0);
    }
    EXPECT_THROW((void)make_pure_budget(0), ConfigError);
    EXPECT_THROW((void)make_pure_budget(not_a_number), ConfigError);
}

TEST(BudgetAgainst, KeepsWhatIsLeftOfABudgetForTheSameNoise) {
    PrivacyBudget left = make_budget(3, 1e-5, Calibration::exact);
    left.limit = left.limit.with_amount(left.limit.amount().value / 4);
    const PrivacyBudget same =
        budget_against(StreamDistribution::gaussian, left, 1e-5, Calibration::rdp);
    EXPECT_EQ(same.limit, left.limit);
    EXPECT_EQ(same.calibration, Calibration::exact);
    const PrivacyBudget pure =
        budget_against(StreamDistribution::laplace, left, 1e-5, Calibration::rdp);
    EXPECT_EQ(pure.limit, PrivacyLoss::pure(3));
    const PrivacyBudget back =
        budget_against(StreamDistribution::gaussian, pure, 1e-5, Calibration::rdp);
    EXPECT_EQ(back.limit.mu(), rdp_mu(3, 1e-5));
    EXPECT_EQ(back.delta, 1e-5);
}

TEST(BudgetSpentBy, IsMetExactlyByTheLoss) {
    for (const auto noise : {StreamDistribution::gaussian, StreamDistribution::laplace}) {
        const PrivacyLoss loss = loss_of_distance(noise, 1.5);
        const PrivacyBudget budget = budget_spent_by(loss, noise, 1e-6);
        EXPECT_EQ(budget.limit, loss);
        EXPECT_EQ(budget.noise, noise);
        EXPECT_EQ(budget.epsilon, loss.epsilon(budget.delta).upper);
        EXPECT_EQ(budget.delta, noise == StreamDistribution::laplace ? 0 : 1e-6);
    }
}

TEST(NoBudget, AllowsNoLoss) {
    const PrivacyBudget budget = no_budget(1e-5, Calibration::rdp);
    EXPECT_EQ(budget.limit, PrivacyLoss());
    EXPECT_EQ(budget.epsilon, 0);
    EXPECT_EQ(precision_limit(budget, {1, 10, 1}), 0);
}

TEST(BudgetText, SaysWhatIsAllowedAndWhatIsLeft) {
    PrivacyBudget budget = make_budget(10, 1e-5, Calibration::exact);
    EXPECT_EQ(text_of(budget), "epsilon 10 at delta 1e-05, exact calibration: mu 2.00045");
    budget.limit = PrivacyLoss::gaussian(1.25);
    EXPECT_EQ(text_of(budget),
              "epsilon 10 at delta 1e-05, exact calibration: mu 2.00045, of which 1.25 is left");
    EXPECT_EQ(text_of(make_pure_budget(2.5)), "epsilon 2.5, pure");
}

TEST(PrecisionLimit, GivesBackMuThroughTheDefinitionOfTheGuarantee) {
    const PrivacyBudget budget = make_budget(10, 1e-5, Calibration::exact);
    for (const double sensitivity : {0.2, 2.0 / 22, 14.0})
        for (const double squared : {1.0, 20.0, 5000.0}) {
            const double kappa = precision_limit(budget, {sensitivity, squared, 1});
            EXPECT_TRUE(relatively_near(
                sensitivity * std::sqrt(squared * kappa), budget.limit.mu().value(), 1e-14));
        }
}

TEST(PrecisionLimit, GivesBackEpsilonUnderLaplaceNoise) {
    const double kappa = precision_limit(make_pure_budget(3), {0.2, 400, 1});
    EXPECT_TRUE(relatively_near(0.2 * std::sqrt(400 * kappa), 3, 1e-14));
}

TEST(SampledBudget, KeepsEveryPatternWithinIt) {
    const PrivacyBudget whole = make_budget(3, 1e-5, Calibration::exact);
    const SampledRounds before{1.4, 0.2, 6};
    const PrivacyLoss spent = PrivacyLoss::sampled({&before, 1});
    const std::vector<SampledPattern> patterns{
        {5, spent}, {6, {}}, {4, spent}, {0, spent}, {6, {}}};
    const PrivacyBudget budget = sampled_budget(whole, 0.2, patterns);
    const auto limit = budget.limit.parts().sampled;
    ASSERT_EQ(limit.size(), 1U);
    EXPECT_EQ(limit[0].count, 6) << "of the longest pattern";
    const SampledPhase rest{0.2, 5}, fresh{0.2, 6};
    EXPECT_EQ(limit[0].noise_multiplier,
              std::max(noise_multiplier_for(3, 1e-5, {&rest, 1}, spent),
                       noise_multiplier_for(3, 1e-5, {&fresh, 1})));
    for (const auto& [rounds, so_far] : patterns) {
        const SampledRounds mine{limit[0].noise_multiplier, 0.2, rounds};
        EXPECT_LE(compose(so_far, PrivacyLoss::sampled({&mine, 1})).epsilon(1e-5).upper, 3);
    }
    // Nothing to come does not make good what is too much.
    const SampledRounds much{0.5, 0.2, 20};
    const SampledPattern gone{0, PrivacyLoss::sampled({&much, 1})};
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] {
                             (void)sampled_budget(whole, 0.2, std::vector{patterns[1], gone});
                         }),
                         "already spent"));
}

}  // namespace
}  // namespace sotto
