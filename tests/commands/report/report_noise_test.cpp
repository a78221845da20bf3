#include "commands/report/report_noise.hpp"

#include <gtest/gtest.h>

#include "commands/report/report_fixtures.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::logistic_config;
using test::quadratic_config;
using test::recorded_run;
using test::TemporaryFolder;

TEST(NoisePictures, ShowTheCovarianceOfThePlan) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "pairs", 6), folder, 5);
    const auto pictures = noise_pictures(run);
    ASSERT_EQ(pictures.size(), 1u);
    EXPECT_EQ(pictures[0].values, spatial_covariance(run.history.phases[0].plan));
    EXPECT_LT(pictures[0].values(0, 1), 0) << "pairs share noise of opposite signs";
    EXPECT_EQ(pictures[0].names, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
}

TEST(NoisePictures, ShowHowRoundsAreCorrelated) {
    const TemporaryFolder folder;
    TrainConfig config = logistic_config(folder, 4, "space-time", 12);
    config.plan.adjacency = Adjacency::record;
    config.plan.participation.cycle = 4;
    config.plan.spatial_mechanism = "decor";
    const RecordedRun run = recorded_run(config, folder, 4);
    const auto pictures = noise_pictures(run);
    ASSERT_EQ(pictures.size(), 2U);
    // (C_time^T C_time)^-1
    const Eigen::MatrixXd factor = dense_factor(run.history.phases[0].plan.temporal, 12);
    EXPECT_TRUE((pictures[1].values * (factor.transpose() * factor)).isIdentity(1e-8));
    EXPECT_EQ(pictures[1].names.back(), "11");
}

TEST(NoisePictures, ShowWhatEveryReceiverGets) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "zip-dl", 4), folder, 5);
    const auto pictures = noise_pictures(run);
    ASSERT_EQ(pictures.size(), 1U);
    const NoisePlan& plan = run.history.phases[0].plan;
    for (const NoiseRow& row : plan.rows) {
        double sum = 0;
        for (const double coefficient : row.coefficients)
            sum += plan.scale * plan.scale * coefficient * coefficient;
        EXPECT_NEAR(pictures[0].values(row.sender, row.receiver), sum, 1e-12 * sum);
    }
    EXPECT_EQ(pictures[0].unit, "model units squared");
}

}  // namespace
}  // namespace sotto
