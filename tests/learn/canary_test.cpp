#include "learn/canary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr double grid_step = 0x1p-20;

/// Three coordinates in two patterns, four rounds.
Contributions contributions(bool one_model = false) {
    Contributions result;
    result.values = Eigen::Vector3d(1, 2, -4);
    result.signs.resize(4, 2);
    result.signs << 1, -1, 0, 1, -1, -1, 1, 1;
    result.one_model = one_model;
    return result;
}

TEST(Contributions, AreValuesTimesTheSignOfTheirPatternInTheRound) {
    const Contributions given = contributions();
    for (long t = 0; t < 4; ++t)
        for (Eigen::Index i = 0; i < 3; ++i)
            EXPECT_EQ(given.at(t, i), given.values(i) * given.signs(t, i % 2));
}

TEST(CanaryObjective, GivesWhatTheRoundContributesWhateverTheModel) {
    const auto objective = make_canary_objective(contributions());
    EXPECT_EQ(objective->dimension(), 3);
    EXPECT_EQ(objective->records(), 4);
    Eigen::VectorXd gradient(3);
    for (const double model : {0.0, 1e9}) {
        objective->mean_gradient(
            Eigen::Vector3d::Constant(model), std::vector<Eigen::Index>{0}, gradient);
        EXPECT_EQ(gradient, Eigen::Vector3d(1, -2, -4));
        objective->mean_gradient(
            Eigen::Vector3d::Constant(model), std::vector<Eigen::Index>{0, 2}, gradient);
        EXPECT_EQ(gradient, Eigen::Vector3d(0, -2, 0));
    }
    objective->mean_gradient(Eigen::Vector3d::Zero(), {}, gradient);
    EXPECT_EQ(gradient, Eigen::Vector3d::Zero());
    EXPECT_EQ(objective->train_loss(gradient).loss, 0);
    EXPECT_EQ(objective->test_loss(gradient, 0, 1).loss, 0);
}

TEST(CanaryObjective, ClipsCoordinateByCoordinateWhereEachIsAModel) {
    const auto objective = make_canary_objective(contributions());
    ASSERT_TRUE(objective->record_clipping());
    Eigen::VectorXd sum(3);
    objective->clipped_gradient_sum(
        Eigen::Vector3d::Zero(), std::vector<Eigen::Index>{0}, 1.5, grid_step, sum);
    EXPECT_EQ(sum, Eigen::Vector3d(1, -1.5, -1.5));
    objective->clipped_gradient_sum(
        Eigen::Vector3d::Zero(), std::vector<Eigen::Index>{0, 3}, 1.5, grid_step, sum);
    EXPECT_EQ(sum, Eigen::Vector3d(2, 0, -3));
}

TEST(CanaryObjective, ClipsTheWholeContributionWhereItIsOneModel) {
    const auto objective = make_canary_objective(contributions(true));
    Eigen::VectorXd sum(3);
    for (const double clip : {0.1, 1.0, 100.0}) {
        objective->clipped_gradient_sum(
            Eigen::Vector3d::Zero(), std::vector<Eigen::Index>{0}, clip, grid_step, sum);
        EXPECT_LE(sum.norm(), clip);
        const Eigen::Vector3d whole(1, -2, -4);
        const Eigen::Vector3d wanted = whole * std::min(1.0, clip / whole.norm());
        EXPECT_LT((sum - wanted).cwiseAbs().maxCoeff(), 1.001 * grid_step);
        EXPECT_TRUE(((sum / grid_step).array() == (sum / grid_step).array().round()).all());
    }
}

TEST(CanaryObjective, NeedsValuesAndSigns) {
    EXPECT_THROW((void)make_canary_objective({}), ConfigError);
    Contributions given = contributions();
    given.signs.resize(0, 2);
    EXPECT_THROW((void)make_canary_objective(given), ConfigError);
}

}  // namespace
}  // namespace sotto
