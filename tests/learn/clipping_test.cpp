#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/learn/objective.hpp"
#include "test_data.hpp"

namespace sotto {
namespace {

using boost::multiprecision::cpp_rational;
using sotto::testing::all_rows;
using sotto::testing::random_real_data;
using sotto::testing::random_vector;

Eigen::VectorXd clipped_sum(Objective& objective,
                            const Eigen::VectorXd& model,
                            const std::vector<Eigen::Index>& rows,
                            double clip,
                            double grid) {
    Eigen::VectorXd sum = Eigen::VectorXd::Constant(objective.dimension(), 1e9);
    objective.clipped_gradient_sum(model, rows, clip, grid, sum);
    return sum;
}

struct Task {
    std::string name;
    Dataset data;
    double model_scale;
};

std::vector<Task> tasks() {
    Dataset large = random_real_data(30, 8, 22);
    large.features *= 1e4;
    // One feature: coordinates as large as the norm, which the grid truncates least.
    const Dataset narrow = random_real_data(60, 1, 23);
    return {{"binary", synthetic_binary(40, 20), 0.5},
            {"one feature", narrow, 1},
            {"real values", random_real_data(40, 9, 21), 1},
            {"large values", large, 1e-4}};
}

/// Exact comparison: no rounding in squares, sum or bound.
bool norm_is_at_most(const Eigen::VectorXd& vector, double bound) {
    cpp_rational squares = 0;
    for (const double value : vector) squares += cpp_rational(value) * cpp_rational(value);
    return squares <= cpp_rational(bound) * cpp_rational(bound);
}

TEST(ClippedGradientSum, IsTheExactSumOfItsRecordsBitForBit) {
    for (const Task& task : tasks()) {
        const auto objective = make_logistic_objective(task.data, nullptr);
        const Eigen::VectorXd model = random_vector(objective->dimension(), task.model_scale, 30);
        const auto rows = all_rows(objective->records());
        for (const double clip : {1e-3, 0.1, 1.0, 100.0})
            for (const double grid : {0x1p-10, 0x1p-30, 100 * 0x1p-30}) {
                std::vector<cpp_rational> exact(static_cast<std::size_t>(model.size()), 0);
                for (const auto row : rows) {
                    const Eigen::VectorXd one = clipped_sum(*objective, model, {row}, clip, grid);
                    for (Eigen::Index i = 0; i < model.size(); ++i)
                        exact[static_cast<std::size_t>(i)] += cpp_rational(one[i]);
                }
                const Eigen::VectorXd sum = clipped_sum(*objective, model, rows, clip, grid);
                for (Eigen::Index i = 0; i < model.size(); ++i)
                    EXPECT_EQ(cpp_rational(sum[i]), exact[static_cast<std::size_t>(i)])
                        << task.name << ", coordinate " << i;
            }
    }
}

TEST(ClippedGradientSum, RoundsEveryRecordsClippedGradientTowardZeroToTheGrid) {
    // A plain reference: dense gradient, clip by its norm, truncate. The rounding guard may move
    // a coordinate by a few units in the last place, which moves its truncation by one step at
    // most.
    for (const Task& task : tasks()) {
        const auto objective = make_logistic_objective(task.data, nullptr);
        const Eigen::VectorXd model = random_vector(objective->dimension(), task.model_scale, 31);
        for (const double clip : {1e-3, 0.1, 1.0, 100.0})
            for (const double grid : {0x1p-10, 0x1p-30})
                for (const auto row : all_rows(objective->records())) {
                    Eigen::VectorXd gradient(model.size());
                    objective->mean_gradient(model, std::vector<Eigen::Index>{row}, gradient);
                    const double norm = gradient.norm();
                    if (norm > clip) gradient *= clip / norm;
                    const Eigen::VectorXd one = clipped_sum(*objective, model, {row}, clip, grid);
                    const Eigen::ArrayXd steps = one.array() / grid;
                    EXPECT_TRUE((steps == steps.round()).all()) << "not on the grid";
                    for (Eigen::Index i = 0; i < model.size(); ++i) {
                        const double slack = 1e-14 * std::abs(gradient[i]);
                        EXPECT_LE(std::abs(one[i]), std::abs(gradient[i]) + slack);
                        EXPECT_GT(std::abs(one[i]), std::abs(gradient[i]) - slack - grid);
                        EXPECT_GE(one[i] * gradient[i], 0);
                    }
                }
    }
}

TEST(ClippedGradientSum, EqualsAPlainReferenceBitForBit) {
    // The same steps on dense vectors, one record after the other.
    for (const Task& task : tasks()) {
        const auto objective = make_logistic_objective(task.data, nullptr);
        const Eigen::Index d = objective->dimension();
        const Eigen::VectorXd model = random_vector(d, task.model_scale, 32);
        const Eigen::MatrixXd dense(task.data.features);
        const std::vector<Eigen::Index> rows{3, 29, 0, 12, 3};
        for (const double clip : {1e-3, 0.1, 100.0}) {
            const double grid = 0x1p-25;
            Eigen::VectorXd expected = Eigen::VectorXd::Zero(d);
            for (const auto row : rows) {
                Eigen::VectorXd gradient(d);
                objective->mean_gradient(model, std::vector<Eigen::Index>{row}, gradient);
                double slope = gradient[d - 1];  // the bias feature is 1
                double squares = 1;
                for (Eigen::Index i = 0; i + 1 < d; ++i) squares += dense(row, i) * dense(row, i);
                const double count = 8 + static_cast<double>((dense.row(row).array() != 0).count());
                const double norm =
                    std::sqrt(squares) * (1 + count * std::numeric_limits<double>::epsilon());
                if (std::abs(slope) * norm > clip) slope = std::copysign(clip / norm, slope);
                for (Eigen::Index i = 0; i + 1 < d; ++i)
                    expected[i] += std::trunc(slope * dense(row, i) / grid) * grid;
                expected[d - 1] += std::trunc(slope / grid) * grid;
            }
            EXPECT_EQ(clipped_sum(*objective, model, rows, clip, grid), expected) << task.name;
        }
    }
}

TEST(ClippedGradientSum, GivesNoRecordMoreThanTheClipNormExactly) {
    // The finest grid allowed, so that truncation hides as little as possible of a rounding error.
    int clipped = 0;
    for (const Task& task : tasks()) {
        const auto objective = make_logistic_objective(task.data, nullptr);
        for (const double clip : {0.1, 0.3, 0.7, 1.0 / 3})
            for (const double scale : {0.0, 1.0, 100.0}) {
                const double finest = std::exp2(std::floor(std::log2(clip)) - 52);
                const Eigen::VectorXd model =
                    random_vector(objective->dimension(), task.model_scale * scale, 33);
                // A power of two, and B times one as batches of 127 records need it.
                for (const double grid : {finest, 127 * finest})
                    for (const auto row : all_rows(objective->records())) {
                        const Eigen::VectorXd one =
                            clipped_sum(*objective, model, {row}, clip, grid);
                        EXPECT_TRUE(norm_is_at_most(one, clip)) << task.name << ", row " << row;
                        if (one.norm() > clip * (1 - 1e-12)) ++clipped;
                    }
            }
    }
    EXPECT_GT(clipped, 300) << "the clip must be met tightly, or this tests nothing";
}

TEST(ClippedGradientSum, IsTheRawSumWhenNothingIsClipped) {
    const auto objective = make_logistic_objective(synthetic_binary(100, 3), nullptr);
    const Eigen::VectorXd model = random_vector(124, 0.3, 34);
    const auto rows = all_rows(100);
    Eigen::VectorXd mean(124);
    objective->mean_gradient(model, rows, mean);
    const Eigen::VectorXd sum = clipped_sum(*objective, model, rows, 1000, 0x1p-32);
    EXPECT_LE((sum - 100 * mean).cwiseAbs().maxCoeff(), 100 * 0x1p-32 + 1e-12);
}

TEST(ClippedGradientSum, StaysBoundedForModelsThatAreNotFinite) {
    const auto objective = make_logistic_objective(synthetic_binary(10, 3), nullptr);
    for (const double bad : {not_a_number, infinity, -infinity}) {
        const Eigen::VectorXd model = Eigen::VectorXd::Constant(124, bad);
        for (const auto row : all_rows(10))
            EXPECT_TRUE(norm_is_at_most(clipped_sum(*objective, model, {row}, 0.5, 0x1p-20), 0.5));
        if (std::isnan(bad)) {
            EXPECT_EQ(clipped_sum(*objective, model, all_rows(10), 0.5, 0x1p-20),
                      Eigen::VectorXd::Zero(124));
        }
    }
}

TEST(ClippedGradientSum, RefusesAGridOrClipThatCannotBeExact) {
    const auto objective = make_logistic_objective(synthetic_binary(10, 3), nullptr);
    const Eigen::VectorXd model = Eigen::VectorXd::Zero(124);
    const auto rows = all_rows(10);
    for (const double grid : {0.0, -0x1p-10, 0x1p-60, 0x1p-1074, not_a_number})
        EXPECT_THROW((void)clipped_sum(*objective, model, rows, 1, grid), ConfigError) << grid;
    for (const double clip : {0.0, -1.0, not_a_number, infinity})
        EXPECT_THROW((void)clipped_sum(*objective, model, rows, clip, 0x1p-20), ConfigError)
            << clip;
    try {
        (void)clipped_sum(*objective, model, rows, 2e5, 0x1p-33);
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("clip-norm: 200000 is too large"),
                  std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("allowed: below 104858"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace sotto
