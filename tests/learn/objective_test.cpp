#include "sotto/learn/objective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/numbers.hpp"
#include "learn/gradients.hpp"
#include "learn/logistic.hpp"
#include "learn/quadratic.hpp"
#include "learn/readers.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::mean_gradient;
using test::random_real_data;
using test::random_vector;

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
