#include "views/linear_step.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Eigen::MatrixXd;

SparseRows covariance_of(const MatrixXd& dense) { return dense.sparseView(0, 0); }

/// Two states, three sources, four agents: y_0 = x_0 + w_0 + g_0, y_1 = w_1 + 2 g_1,
/// y_2 = w_2 + g_2, which shares its noise with the state.
StepEntries entries() {
    StepEntries step;
    step.previous = 2;
    step.state.rows = 1;
    step.state.from_state.emplace_back(0, 1, 0.5);
    step.state.from_sources.emplace_back(0, 2, 1.0);
    step.state.from_inputs.emplace_back(0, 3, 1.0);
    step.observed.rows = 3;
    step.observed.from_state.emplace_back(0, 0, 1.0);
    for (int i = 0; i < 3; ++i) {
        step.observed.from_sources.emplace_back(i, i, 1.0);
        step.observed.from_inputs.emplace_back(i, i, i == 1 ? 2.0 : 1.0);
    }
    return step;
}

TEST(LinearStep, HasTheMatricesOfItsEntriesAndTheirCovariances) {
    MatrixXd r(3, 3);
    r << 2, 0.5, 0, 0.5, 3, 0, 0, 0, 4;
    const LinearStep step = linear_step(entries(), covariance_of(r), 4, false);
    const MatrixXd n = MatrixXd(step.state_source), e = MatrixXd(step.observed_source);
    EXPECT_EQ(MatrixXd(step.transition), MatrixXd(Eigen::RowVector2d(0, 0.5)));
    EXPECT_EQ(step.observation.rows(), 3);
    EXPECT_EQ(MatrixXd(step.observed_input).diagonal(), Eigen::Vector3d(1, 2, 1));
    EXPECT_EQ(MatrixXd(step.state_covariance), MatrixXd(n * r * n.transpose()));
    EXPECT_EQ(MatrixXd(step.cross_covariance), MatrixXd(n * r * e.transpose()));
    EXPECT_EQ(MatrixXd(step.observed_covariance), MatrixXd(e * r * e.transpose()));
    EXPECT_EQ(step.alone, Eigen::VectorXd::Zero(4));
}

TEST(LinearStep, SetsApartWhatHearsNothingOfTheState) {
    const MatrixXd own = Eigen::Vector3d(2, 5, 4).asDiagonal();
    const LinearStep step = linear_step(entries(), covariance_of(own), 4, true);
    EXPECT_EQ(step.observation.rows(), 2) << "y_0 hears x_0, and y_2 has the state's noise";
    EXPECT_DOUBLE_EQ(step.alone(1), 2 * 2 / 5.0);
    EXPECT_EQ(step.alone.sum(), step.alone(1));
    EXPECT_EQ(MatrixXd(step.observed_covariance), MatrixXd(Eigen::Vector2d(2, 4).asDiagonal()));
    // Shared noise is known up to the input: it is taken out of the others.
    MatrixXd shared = own;
    shared(0, 1) = shared(1, 0) = 0.5;
    const LinearStep taken = linear_step(entries(), covariance_of(shared), 4, true);
    EXPECT_EQ(taken.observation.rows(), 2);
    EXPECT_TRUE(taken.conditioned);
    EXPECT_FALSE(step.conditioned);
    EXPECT_DOUBLE_EQ(taken.alone(1), 2 * 2 / 5.0);
    EXPECT_DOUBLE_EQ(MatrixXd(taken.observed_input)(0, 1), -0.5 / 5 * 2);
    EXPECT_DOUBLE_EQ(MatrixXd(taken.observed_covariance)(0, 0), 2 - 0.5 * 0.5 / 5);
    EXPECT_DOUBLE_EQ(MatrixXd(taken.observed_covariance)(1, 1), 4);
    // Without noise nothing stands alone: it is seen bare.
    MatrixXd bare = own;
    bare(1, 1) = 0;
    EXPECT_EQ(linear_step(entries(), covariance_of(bare), 4, true).observation.rows(), 3);
}

}  // namespace
}  // namespace sotto
