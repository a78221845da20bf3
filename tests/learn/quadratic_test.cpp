#include "learn/quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::random_real_data;
using test::random_vector;

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

Eigen::VectorXd mean_of(const Dataset& data) {
    return Eigen::MatrixXd(data.features).colwise().mean().transpose();
}

TEST(Averaging, HasGradientsThatAreMinusTheValuesWhateverTheModel) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const Dataset data = random_real_data(20, 6, seed);
        const Eigen::MatrixXd values(data.features);
        const auto objective = make_averaging_objective(data, std::nullopt);
        EXPECT_EQ(objective->dimension(), 6);
        EXPECT_EQ(objective->records(), 20);
        EXPECT_TRUE(objective->record_clipping());
        Eigen::VectorXd gradient(6);
        for (const double scale : {0.0, 1.0, 1e6}) {
            const Eigen::VectorXd model = random_vector(6, scale, seed);
            for (Eigen::Index row = 0; row < 20; ++row) {
                objective->mean_gradient(model, std::vector<Eigen::Index>{row}, gradient);
                EXPECT_EQ(gradient, -values.row(row).transpose());
            }
            objective->mean_gradient(model, all_rows(20), gradient);
            EXPECT_LE((gradient + mean_of(data)).norm(), 1e-14) << "seed " << seed;
        }
    }
}

TEST(Averaging, WithRegularisationHasHalfTheMeanSquaredDistanceAsItsLoss) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const Dataset data = random_real_data(15, 4, seed);
        const Eigen::MatrixXd values(data.features);
        const auto objective = make_averaging_objective(data, std::nullopt);
        const Eigen::VectorXd model = random_vector(4, 1, seed);
        const LossSum loss = objective->train_loss(model);
        EXPECT_EQ(loss.records, 15);
        EXPECT_FALSE(loss.has_accuracy);
        EXPECT_NEAR(loss.loss / 15 + 0.5 * model.squaredNorm(),
                    0.5 * (values.rowwise() - model.transpose()).rowwise().squaredNorm().mean(),
                    1e-13);
        const auto curvature = objective->curvature_sum(model);
        ASSERT_TRUE(curvature);
        EXPECT_EQ(curvature->loss, loss.loss);
        EXPECT_LE((curvature->gradient + 15 * mean_of(data)).norm(), 1e-12);
        EXPECT_EQ(curvature->hessian, Eigen::MatrixXd::Zero(4, 4));
    }
}

TEST(Averaging, IsTestedOnTheDistanceToTheMean) {
    const Dataset data = random_real_data(9, 3, 5);
    const Eigen::VectorXd mean = random_vector(3, 1, 6), model = random_vector(3, 1, 7);
    const auto objective = make_averaging_objective(data, mean);
    for (const Eigen::Index stride : {1, 4}) {
        LossSum all;
        for (Eigen::Index first = 0; first < stride; ++first)
            all += objective->test_loss(model, first, stride);
        EXPECT_EQ(all.records, 1);
        EXPECT_NEAR(all.loss, 0.5 * (model - mean).squaredNorm(), 1e-15);
    }
    EXPECT_EQ(objective->test_loss(mean, 0, 1).loss, 0);
    EXPECT_EQ(make_averaging_objective(data, std::nullopt)->test_loss(model, 0, 1).records, 0);
    EXPECT_THROW((void)objective->test_loss(model, -1, 1), ConfigError);
    EXPECT_THROW((void)make_averaging_objective(data, random_vector(2, 1, 1)), DataError);
    EXPECT_THROW((void)make_averaging_objective(random_real_data(0, 3, 1), std::nullopt),
                 DataError);
}

TEST(Averaging, ClipsEveryValue) {
    const Dataset data = random_real_data(30, 5, 8);
    const Eigen::MatrixXd values(data.features);
    const auto objective = make_averaging_objective(data, std::nullopt);
    constexpr double clip = 1.5, grid = 0x1p-40;
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(5), sum(5);
    int clipped = 0;
    for (Eigen::Index row = 0; row < 30; ++row) {
        const double norm = values.row(row).norm();
        expected -= values.row(row).transpose() * (norm > clip ? clip / norm : 1.0);
        if (norm > clip) ++clipped;
    }
    EXPECT_GT(clipped, 3);
    EXPECT_LT(clipped, 27);
    objective->clipped_gradient_sum(Eigen::VectorXd::Zero(5), all_rows(30), clip, grid, sum);
    EXPECT_LE((sum - expected).cwiseAbs().maxCoeff(), 31 * grid);
}

}  // namespace
}  // namespace sotto
