#include "learn/output_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::random_vector;

Dataset labelled(const Eigen::VectorXd& labels, Target target = Target::label) {
    Dataset data;
    data.source = "test";
    data.labels = labels;
    data.target = target;
    return data;
}

TEST(ClassOf, IsTheLabelAndMinusOneIsTheFirst) {
    const Dataset data = labelled(Eigen::Vector2d(0, 1));
    EXPECT_EQ(class_of(-1, 2, data), 0);
    for (int c = 0; c < 5; ++c) EXPECT_EQ(class_of(c, 5, data), c);
    for (const double label : {5.0, 0.5, -2.0, std::nan("")})
        EXPECT_THROW((void)class_of(label, 5, data), DataError) << label;
}

TEST(OutputLoss, IsTheCrossEntropyOfALabel) {
    const Dataset data = labelled(Eigen::Vector3d(2, 0, 3));
    for (const double scale : {0.0, 1.0, 1e3, 1e300}) {
        const Eigen::VectorXd out = random_vector(4, scale, 3);
        for (Eigen::Index row = 0; row < 3; ++row) {
            const auto label = static_cast<Eigen::Index>(data.labels[row]);
            // log sum exp(out_k - out_label), where no term overflows.
            const double largest = out.maxCoeff();
            double sum = 0;
            for (const double value : out) sum += std::exp(value - largest);
            const double wanted = std::log(sum) + (largest - out[label]);
            EXPECT_NEAR(output_loss(out, data, row), wanted, 1e-14 * (1 + wanted));
            Eigen::Index best = 0;
            out.maxCoeff(&best);
            EXPECT_EQ(is_hit(out, data, row), best == label);
        }
    }
}

TEST(OutputLoss, IsTheSquareOfTheErrorOfAValue) {
    const Dataset data = labelled(Eigen::Vector2d(2, -1), Target::value);
    EXPECT_EQ(output_loss(Eigen::VectorXd::Constant(1, 5), data, 0), 9);
    EXPECT_EQ(output_loss(Eigen::VectorXd::Constant(1, 5), data, 1), 36);
}

TEST(TurnIntoSlopes, GivesTheCentralDifferencesOfTheLoss) {
    for (const Target target : {Target::label, Target::value}) {
        const Dataset data = labelled(Eigen::Vector2d(2, 0), target);
        const Eigen::VectorXd out = random_vector(target == Target::label ? 3 : 1, 2, 8);
        for (Eigen::Index row = 0; row < 2; ++row) {
            Eigen::VectorXd slopes = out;
            turn_into_slopes(slopes, data, row);
            for (Eigen::Index k = 0; k < out.size(); ++k) {
                Eigen::VectorXd above = out, below = out;
                above[k] += 1e-5;
                below[k] -= 1e-5;
                EXPECT_NEAR(slopes[k],
                            (output_loss(above, data, row) - output_loss(below, data, row)) / 2e-5,
                            1e-8);
            }
        }
    }
}

}  // namespace
}  // namespace sotto
