#include "sotto/learn/quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::random_real_data;

TEST(Quadratic, HasTheValuesOfTheEquation) {
    const double angle = std::acos(-1.0) / 12;
    for (const int agents : {1, 4, 5, 20})
        for (int agent = 0; agent < agents; ++agent) {
            const auto objective = make_quadratic_objective(agent, agents);
            const Eigen::Vector2d x(0.3, -1.7);
            const double i = agent + 1;
            double expected = 0;
            if (i <= agents / 2.0) {
                expected = 15 * (x[0] + i) * (x[0] + i) + x[1] * x[1];
            } else {
                const double u1 = std::cos(angle) * (x[0] - i) - std::sin(angle) * x[1];
                const double u2 = std::sin(angle) * (x[0] - i) + std::cos(angle) * x[1];
                expected = 15 * u1 * u1 + u2 * u2;
            }
            const LossSum train = objective->train_loss(x);
            EXPECT_NEAR(train.loss, expected, 1e-12 * expected);
            EXPECT_EQ(objective->test_loss(x, 3, 7).loss, train.loss);
            EXPECT_EQ(train.records, 1);
            EXPECT_FALSE(train.has_accuracy);
            EXPECT_FALSE(objective->record_clipping());
        }
    EXPECT_THROW((void)make_quadratic_objective(5, 5), ConfigError);
    EXPECT_THROW((void)make_quadratic_objective(-1, 5), ConfigError);
}

TEST(Quadratic, HasNoRecordsToClip) {
    const auto objective = make_quadratic_objective(0, 2);
    Eigen::VectorXd sum(2);
    EXPECT_THROW(
        objective->clipped_gradient_sum(Eigen::Vector2d(0, 0), all_rows(1), 1, 0x1p-20, sum),
        ConfigError);
}

TEST(Quadratic, HasNoLossesOfSingleRecords) {
    EXPECT_THROW((void)make_quadratic_objective(0, 4)->record_losses(Eigen::Vector2d(1, 2),
                                                                     random_real_data(3, 2, 1)),
                 ConfigError);
}

}  // namespace
}  // namespace sotto
