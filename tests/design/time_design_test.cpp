#include "design/time_design.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(TimeDesign, HasNothingToChooseWhereEveryRoundMeetsEveryOther) {
    DesignInput input;
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { require_choice_of_rounds(input, "example"); }),
                 "participation: every leaves mechanism example nothing to choose"));
    input.participation = {2};
    EXPECT_NO_THROW(require_choice_of_rounds(input, "example"));
}

TEST(TimeDesign, TakesCovariancesInUnitsOfTheSmallestKappa) {
    for (const auto& setting : settings({5})) {
        const Eigen::VectorXd kappa = random_kappa(5, 31);
        const DesignInput input = setting.input(10, kappa);
        const Eigen::MatrixXd found = relative_covariance(design_of("ldp", input).plan, input);
        const Eigen::VectorXd expected = kappa.minCoeff() * kappa.cwiseInverse();
        EXPECT_TRUE(found.isApprox(expected.asDiagonal().toDenseMatrix(), 1e-12));
    }
}

TEST(TimeDesign, SolvesForTheInputsStepsGossipAndShape) {
    const Setting setting = settings({5}).back();
    DesignInput input = setting.input(10);
    input.rounds = 12;
    input.participation = {4};
    input.gossip = 2;
    input.steps = {StepSchedule::Kind::inverse_sqrt, 0.3, {}};
    input.temporal = {TemporalShape::Kind::banded, 2, 0};
    const Eigen::MatrixXd covariance = random_positive_definite(5, 3);
    const ShapedFactor found = time_given_space(input, covariance);
    const ShapedFactor expected =
        solve_shaped_factor(setting.mixing, covariance, design_steps(input), 2, 4, input.temporal);
    EXPECT_EQ(found.value, expected.value);
    EXPECT_EQ(found.factor.lower, expected.factor.lower);
    EXPECT_EQ(found.factor.lower.cols(), 3);
}

TEST(TimeDesign, KeepsSolutionsApart) {
    const Setting setting = settings({5}).back();
    DesignInput input = setting.input(10);
    input.rounds = 12;
    input.participation = {4};
    const Eigen::MatrixXd covariance = random_positive_definite(5, 3);
    const ShapedFactor first = time_given_space(input, covariance);
    const ShapedFactor of_others = time_given_space(input, random_positive_definite(5, 4));
    EXPECT_NE(of_others.value, first.value);
    const ShapedFactor one_lag = time_given_space(
        input, covariance, {TemporalShape::Kind::one_lag, 0, 0}, Certificate::wanted);
    EXPECT_EQ(one_lag.factor.kind, TemporalFactor::Kind::one_lag);
    const ShapedFactor again = time_given_space(input, covariance);
    EXPECT_EQ(again.value, first.value);
    EXPECT_EQ(again.lower_bound, first.lower_bound);
    EXPECT_EQ(again.factor.lower, first.factor.lower);
    input.participation = {3};
    EXPECT_NE(time_given_space(input, covariance).value, first.value);
}

TEST(TimeDesign, HasTheSameFactorsForEveryBudget) {
    const Setting setting = settings({5}).back();
    for (const std::string mechanism : {"mafalda", "space-time"}) {
        std::vector<Eigen::MatrixXd> factors;
        for (const double kappa : {0.3, 0.7, 1.9}) {
            DesignInput input = setting.input(10, Eigen::VectorXd::Constant(5, kappa));
            input.rounds = 12;
            input.participation = {4};
            input.spatial = &find_mechanism("spatial-mechanism", "corn");
            const Design design = design_of(mechanism, input);
            factors.push_back(design.plan.temporal.lower);
            EXPECT_EQ(factors.back(), factors.front()) << mechanism << ", kappa " << kappa;
            EXPECT_LE(coalition_precision(design.plan, 0).maxCoeff(), kappa * (1 + 1e-9));
        }
    }
}

TEST(TimeDesign, RefusesShapesThatMakeSampledRoundsOfARecordMeet) {
    DesignInput input;
    input.rounds = 40;
    input.participation = {.cycle = 4, .poisson = true};
    const auto refusal = [&](const TemporalShape& shape) {
        input.temporal = shape;
        return message_of<ConfigError>([&] { require_choice_of_rounds(input, "example"); });
    };
    const auto dense = TemporalShape::Kind::dense;
    const auto banded = TemporalShape::Kind::banded;
    EXPECT_TRUE(contains(refusal({}), "banded:B with B up to 3"));
    EXPECT_TRUE(contains(refusal({banded, 4, 0}), "with participation cyclic-poisson:4"));
    EXPECT_TRUE(contains(refusal({dense, 0, 5}), "--temporal-restart up to 4"));
    EXPECT_TRUE(contains(refusal({TemporalShape::Kind::one_lag, 0, 4}), "makes each count more"));
    for (const TemporalShape& shape :
         {TemporalShape{banded, 3, 0}, TemporalShape{banded, 9, 4}, TemporalShape{dense, 0, 4}}) {
        input.temporal = shape;
        EXPECT_NO_THROW(require_choice_of_rounds(input, "example")) << name_of(shape);
    }
    input.participation.cycle = 1;
    EXPECT_TRUE(contains(refusal({banded, 3, 0}), "poisson leaves mechanism example nothing"));
    input.temporal = {banded, 0, 0};
    EXPECT_NO_THROW(require_choice_of_rounds(input, "example")) << "it asks for no choice";
}

}  // namespace
}  // namespace sotto
