#include "learn/logistic.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <memory>

#include "core/numbers.hpp"
#include "learn/gradients.hpp"
#include "learn/readers.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using boost::multiprecision::cpp_rational;
using test::all_rows;
using test::clipped_sum;
using test::mean_gradient;
using test::norm_is_at_most;
using test::random_real_data;
using test::random_vector;

TEST(Logistic, BatchGradientIsTheMeanOverItsRows) {
    const auto objective = make_logistic_objective(random_real_data(50, 8, 3), nullptr);
    const Eigen::VectorXd model = random_vector(9, 1, 4);
    const std::vector<Eigen::Index> rows{7, 49, 0, 13};
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(9);
    for (const auto row : rows) expected += mean_gradient(*objective, model, {row}) / 4;
    EXPECT_LE((mean_gradient(*objective, model, rows) - expected).norm(), 1e-15);
    EXPECT_EQ(mean_gradient(*objective, model, {}), Eigen::VectorXd::Zero(9));
}

TEST(Logistic, BinaryAndGeneralDataTakeDifferentPathsToTheSameResult) {
    // Doubled features with halved weights have the same scores; their gradients are doubled.
    const Dataset data = synthetic_binary(300, 9);
    Dataset doubled = data;
    doubled.features *= 2;
    const auto binary = make_logistic_objective(data, nullptr);
    const auto general = make_logistic_objective(doubled, nullptr);
    const Eigen::VectorXd model = random_vector(124, 0.5, 8);
    Eigen::VectorXd halved = model;
    halved.head(123) /= 2;
    const auto rows = all_rows(300);
    Eigen::VectorXd expected = mean_gradient(*binary, model, rows);
    expected.head(123) *= 2;
    EXPECT_EQ(mean_gradient(*general, halved, rows), expected);
    EXPECT_EQ(general->train_loss(halved).loss, binary->train_loss(model).loss);
}

TEST(Logistic, LossesAreStableForHugeScores) {
    Dataset data;
    data.features.resize(2, 1);
    data.features.insert(0, 0) = 1;
    data.features.insert(1, 0) = 1;
    data.labels = Eigen::Vector2d(1, -1);
    const auto objective = make_logistic_objective(data, nullptr);
    for (const double score : {1e-20, 30.0, 700.0, 1e5, 1e300}) {
        const LossSum sum = objective->train_loss(Eigen::Vector2d(score, 0));
        // log(1 + e^-s) + log(1 + e^s) = s + 2 log(1 + e^-s)
        EXPECT_NEAR(sum.loss, score + 2 * std::log1p(std::exp(-score)), 1e-15 * (1 + sum.loss));
        EXPECT_EQ(sum.correct, 1);
        const Eigen::VectorXd gradient =
            mean_gradient(*objective, Eigen::Vector2d(score, 0), {0, 1});
        EXPECT_TRUE(gradient.allFinite());
        EXPECT_NEAR(gradient[0], 0.5 * std::tanh(score / 2), 1e-15);
    }
    // The loss of a record far on its right side is not rounded to zero.
    Dataset one = data;
    one.labels = Eigen::Vector2d(1, 1);
    EXPECT_NEAR(make_logistic_objective(one, nullptr)->train_loss(Eigen::Vector2d(50, 0)).loss /
                    (2 * std::exp(-50.0)),
                1,
                1e-12);
}

TEST(Logistic, LossesOfRecordsAreThoseOfTestSetsOfOneRecord) {
    const auto others = std::make_shared<const Dataset>(random_real_data(30, 6, 12));
    const auto objective = make_logistic_objective(random_real_data(20, 6, 11), others);
    const Eigen::VectorXd model = random_vector(7, 1, 13);
    const Eigen::VectorXd losses = objective->record_losses(model, *others);
    ASSERT_EQ(losses.size(), 30);
    for (Eigen::Index row = 0; row < 30; ++row)
        EXPECT_EQ(losses[row], objective->test_loss(model, row, 30).loss);
    EXPECT_EQ(objective->record_losses(model, Dataset{}).size(), 0);
    EXPECT_THROW((void)objective->record_losses(model, random_real_data(3, 5, 1)), DataError);
}

TEST(Logistic, SlicesOfTheTestSetAddUpToTheWhole) {
    const auto test = std::make_shared<const Dataset>(random_real_data(101, 6, 12));
    const auto objective = make_logistic_objective(random_real_data(20, 6, 11), test);
    const Eigen::VectorXd model = random_vector(7, 1, 13);
    const LossSum whole = objective->test_loss(model, 0, 1);
    EXPECT_EQ(whole.records, 101);
    for (const Eigen::Index stride : {1, 2, 7, 150}) {
        LossSum sum;
        for (Eigen::Index first = 0; first < stride; ++first)
            sum += objective->test_loss(model, first, stride);
        EXPECT_EQ(sum.records, whole.records);
        EXPECT_EQ(sum.correct, whole.correct);
        EXPECT_TRUE(sum.has_accuracy);
        EXPECT_NEAR(sum.loss, whole.loss, 1e-12 * whole.loss);
    }
    const auto same_data = make_logistic_objective(*test, nullptr);
    EXPECT_EQ(same_data->train_loss(model).loss, whole.loss);
    EXPECT_EQ(same_data->train_loss_of_share(model, 7).loss,
              objective->test_loss(model, 0, 7).loss);
    EXPECT_EQ(same_data->train_loss_of_share(model, 7).records, 15);
    EXPECT_EQ(objective->test_records(), 101);
    EXPECT_EQ(same_data->test_records(), 0);
    EXPECT_THROW((void)objective->train_loss_of_share(model, 0), ConfigError);
    EXPECT_EQ(same_data->test_loss(model, 0, 1).records, 0);
    EXPECT_THROW((void)objective->test_loss(model, -1, 1), ConfigError);
    EXPECT_THROW((void)objective->test_loss(model, 0, 0), ConfigError);
}

TEST(Logistic, ProbabilitiesAgreeWithLossesAndAccuracy) {
    const Dataset data = random_real_data(80, 6, 14);
    const Eigen::VectorXd model = random_vector(7, 1, 15);
    const Eigen::VectorXd probabilities = logistic_probabilities(model, data);
    double loss = 0, correct = 0;
    for (Eigen::Index i = 0; i < 80; ++i) {
        const double own = data.labels[i] > 0 ? probabilities[i] : 1 - probabilities[i];
        loss -= std::log(own);
        if ((probabilities[i] >= 0.5) == (data.labels[i] > 0)) correct += 1;
    }
    const LossSum sum = make_logistic_objective(data, nullptr)->train_loss(model);
    EXPECT_NEAR(sum.loss, loss, 1e-12 * loss);
    EXPECT_EQ(sum.correct, correct);
    EXPECT_THROW((void)logistic_probabilities(random_vector(8, 1, 1), data), DataError);
}

TEST(Logistic, AModelThatIsNotANumberClassifiesNothingCorrectly) {
    const auto objective = make_logistic_objective(synthetic_binary(50, 1), nullptr);
    const Eigen::VectorXd model =
        Eigen::VectorXd::Constant(124, std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(objective->train_loss(model).correct, 0);
    EXPECT_TRUE(std::isnan(objective->train_loss(model).loss));
}

TEST(Logistic, RefusesUnusableData) {
    Dataset labels = random_real_data(5, 3, 1);
    labels.labels[3] = 2;
    EXPECT_THROW((void)make_logistic_objective(labels, nullptr), DataError);
    Dataset infinite = random_real_data(5, 3, 1);
    infinite.features.coeffs()[0] = std::numeric_limits<double>::infinity();
    EXPECT_THROW((void)make_logistic_objective(infinite, nullptr), DataError);
    EXPECT_THROW((void)make_logistic_objective(select_rows(labels, {}), nullptr), DataError);
    EXPECT_THROW(
        (void)make_logistic_objective(random_real_data(5, 3, 1),
                                      std::make_shared<const Dataset>(random_real_data(5, 4, 1))),
        DataError);
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

TEST(LogisticClipping, IsTheExactSumOfItsRecordsBitForBit) {
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

TEST(LogisticClipping, RoundsEveryRecordsClippedGradientTowardZeroToTheGrid) {
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

TEST(LogisticClipping, EqualsAPlainReferenceBitForBit) {
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

TEST(LogisticClipping, GivesNoRecordMoreThanTheClipNormExactly) {
    // The finest grid allowed, so that truncation hides as little as possible of a rounding error.
    int clipped = 0;
    for (const Task& task : tasks()) {
        const auto objective = make_logistic_objective(task.data, nullptr);
        objective->set_largest_batch(1);
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

TEST(LogisticClipping, IsTheRawSumWhenNothingIsClipped) {
    const auto objective = make_logistic_objective(synthetic_binary(100, 3), nullptr);
    const Eigen::VectorXd model = random_vector(124, 0.3, 34);
    const auto rows = all_rows(100);
    Eigen::VectorXd mean(124);
    objective->mean_gradient(model, rows, mean);
    const Eigen::VectorXd sum = clipped_sum(*objective, model, rows, 1000, 0x1p-32);
    EXPECT_LE((sum - 100 * mean).cwiseAbs().maxCoeff(), 100 * 0x1p-32 + 1e-12);
}

TEST(LogisticClipping, StaysBoundedForModelsThatAreNotFinite) {
    const auto objective = make_logistic_objective(synthetic_binary(10, 3), nullptr);
    for (const double bad : {not_a_number, infinity, -infinity}) {
        const Eigen::VectorXd model = Eigen::VectorXd::Constant(124, bad);
        for (const auto row : all_rows(10))
            EXPECT_TRUE(norm_is_at_most(clipped_sum(*objective, model, {row}, 0.5, 0x1p-20), 0.5));
        if (std::isnan(bad)) {
            const auto before = objective->records_set_to_zero();
            EXPECT_EQ(clipped_sum(*objective, model, all_rows(10), 0.5, 0x1p-20),
                      Eigen::VectorXd::Zero(124));
            EXPECT_EQ(objective->records_set_to_zero(), before + 10);
        }
    }
}

TEST(LogisticClipping, KeepsTheDirectionOfRecordsWhoseSquareOverflows) {
    for (const double huge : {1e155, 1e200, 1e300}) {
        Dataset data = random_real_data(3, 2, 1);
        data.features.coeffRef(1, 0) = huge;
        data.features.coeffRef(1, 1) = -huge;
        const auto objective = make_logistic_objective(data, nullptr);
        const Eigen::VectorXd sum =
            clipped_sum(*objective, Eigen::VectorXd::Zero(3), {1}, 0.5, 0x1p-30);
        EXPECT_TRUE(norm_is_at_most(sum, 0.5)) << huge;
        EXPECT_NEAR(std::abs(sum(0)), 0.5 * std::sqrt(0.5), 1e-8) << huge;
        EXPECT_EQ(sum(0), -sum(1));
        EXPECT_EQ(objective->records_set_to_zero(), 0);
    }
    // Its norm is no double: nothing is left of it.
    Dataset data = random_real_data(3, 2, 1);
    data.features.coeffRef(1, 0) = 1.7e308;
    data.features.coeffRef(1, 1) = -1.7e308;
    const auto objective = make_logistic_objective(data, nullptr);
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3);
    EXPECT_EQ(clipped_sum(*objective, zero, {1}, 0.5, 0x1p-30), zero);
    EXPECT_EQ(objective->records_set_to_zero(), 1);
}

TEST(LogisticClipping, RefusesAGridOrClipThatCannotBeExact) {
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
