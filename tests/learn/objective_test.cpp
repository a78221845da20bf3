#include "sotto/learn/objective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "learn/gradients.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/learn/logistic.hpp"
#include "sotto/learn/quadratic.hpp"
#include "sotto/learn/synthetic.hpp"

namespace sotto {
namespace {

using sotto::testing::all_rows;
using sotto::testing::mean_gradient;
using sotto::testing::random_real_data;
using sotto::testing::random_vector;

struct Case {
    std::string name;
    std::function<std::unique_ptr<Objective>()> make;
};

std::vector<Case> cases() {
    std::vector<Case> result{
        {"logistic on binary data",
         [] { return make_logistic_objective(synthetic_binary(60, 5), nullptr); }},
        {"logistic on real values",
         [] { return make_logistic_objective(random_real_data(37, 9, 6), nullptr); }}};
    for (const int agent : {0, 1, 2, 3, 4})
        result.push_back({"quadratic agent " + std::to_string(agent) + " of 5",
                          [agent] { return make_quadratic_objective(agent, 5); }});
    return result;
}

TEST(Objective, GradientIsTheDerivativeOfTheLoss) {
    for (const Case& test : cases()) {
        const auto objective = test.make();
        const auto count = static_cast<double>(objective->records());
        const Eigen::VectorXd model = random_vector(objective->dimension(), 0.5, 1);
        const Eigen::VectorXd gradient =
            mean_gradient(*objective, model, all_rows(objective->records()));
        for (Eigen::Index i = 0; i < model.size(); ++i) {
            const double step = 1e-5;
            Eigen::VectorXd above = model, below = model;
            above[i] += step;
            below[i] -= step;
            const double difference =
                (objective->train_loss(above).loss - objective->train_loss(below).loss) /
                (2 * step * count);
            EXPECT_NEAR(gradient[i], difference, 1e-8 * (1 + std::abs(difference)))
                << test.name << ", coordinate " << i;
        }
    }
}

TEST(Objective, CurvatureIsTheSumOfLossesGradientsAndTheirDerivatives) {
    for (const Case& test : cases()) {
        const auto objective = test.make();
        const auto count = static_cast<double>(objective->records());
        const auto rows = all_rows(objective->records());
        const Eigen::VectorXd model = random_vector(objective->dimension(), 0.5, 2);
        const auto curvature = objective->curvature_sum(model);
        ASSERT_TRUE(curvature.has_value()) << test.name;
        EXPECT_NEAR(curvature->loss, objective->train_loss(model).loss, 1e-10 * curvature->loss);
        const Eigen::VectorXd gradient = count * mean_gradient(*objective, model, rows);
        EXPECT_LE((curvature->gradient - gradient).norm(), 1e-12 * (1 + gradient.norm()));
        EXPECT_EQ(curvature->hessian, curvature->hessian.transpose());
        for (Eigen::Index i = 0; i < model.size(); ++i) {
            const double step = 1e-5;
            Eigen::VectorXd above = model, below = model;
            above[i] += step;
            below[i] -= step;
            const Eigen::VectorXd column =
                count *
                (mean_gradient(*objective, above, rows) - mean_gradient(*objective, below, rows)) /
                (2 * step);
            EXPECT_LE((curvature->hessian.col(i) - column).norm(), 1e-7 * (1 + column.norm()))
                << test.name << ", column " << i;
        }
    }
}

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

TEST(Quadratic, HasNoLossesOfSingleRecords) {
    EXPECT_THROW((void)make_quadratic_objective(0, 4)->record_losses(Eigen::Vector2d(1, 2),
                                                                     random_real_data(3, 2, 1)),
                 ConfigError);
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

TEST(LossSum, AddsRecordsAndKnowsAccuracyOnlyIfAllPartsDo) {
    LossSum total;
    total += LossSum{.loss = 2, .correct = 1, .records = 3, .has_accuracy = true};
    EXPECT_TRUE(total.has_accuracy);
    total += LossSum{};
    EXPECT_TRUE(total.has_accuracy);
    total += LossSum{.loss = 1, .correct = 0, .records = 1, .has_accuracy = false};
    EXPECT_FALSE(total.has_accuracy);
    EXPECT_EQ(total.loss, 3);
    EXPECT_EQ(total.records, 4);
}

/// What a task gets that says nothing of its own.
class PlainObjective final : public Objective {
  public:
    Eigen::Index dimension() const override { return 3; }
    Eigen::Index records() const override { return 1; }
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>&,
                       std::span<const Eigen::Index>,
                       Eigen::Ref<Eigen::VectorXd>) override {}
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>&,
                              std::span<const Eigen::Index>,
                              double,
                              double,
                              Eigen::Ref<Eigen::VectorXd>) override {}
    bool record_clipping() const override { return false; }
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>&) override { return {}; }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        return {.loss = model.sum() + static_cast<double>(10 * first + stride), .records = 1};
    }
};

TEST(Objective, StartsAtZeroAndTestsModelByModelUnlessATaskSaysOtherwise) {
    PlainObjective objective;
    EXPECT_EQ(objective.initial_model(7), Eigen::Vector3d::Zero());
    const Eigen::MatrixXd models = random_vector(6, 1, 2).reshaped(3, 2);
    const auto losses = objective.test_losses(models);
    ASSERT_EQ(losses.size(), 2U);
    for (Eigen::Index m = 0; m < 2; ++m)
        EXPECT_EQ(losses[static_cast<std::size_t>(m)].loss, models.col(m).sum() + 1);
    EXPECT_FALSE(objective.shares_test(objective));
    EXPECT_FALSE(objective.curvature_sum(models.col(0)).has_value());
}

}  // namespace
}  // namespace sotto
