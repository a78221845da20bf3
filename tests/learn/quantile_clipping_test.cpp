#include "learn/quantile_clipping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/numbers.hpp"
#include "learn/canary.hpp"
#include "learn/gradients.hpp"
#include "learn/layered_objective.hpp"
#include "learn/layers.hpp"
#include "learn/logistic.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::clipped_sum;
using test::norm_is_at_most;
using test::random_real_data;
using test::random_vector;

constexpr Eigen::Index features = 6;

std::unique_ptr<Objective> logistic(Eigen::Index records = 40) {
    return make_logistic_objective(random_real_data(records, features, 3), nullptr);
}

Eigen::VectorXd model_with(double coordinate, std::uint64_t seed = 5) {
    Eigen::VectorXd model(features + 2);
    model << random_vector(features + 1, 1, seed), coordinate;
    return model;
}

TEST(QuantileClipping, OneRecordIsNeverLongerThanTheBoundWhateverTheClip) {
    int tight = 0;
    for (const double quantile : {0.1, 0.5, 0.9})
        for (const double share : {0.01, 0.4})
            for (const double coordinate : {-40.0, -2.0, 0.0, 0.7, 3.0, 1e6})
                for (const double grid : {0x1p-40, 0x1p-30, 37 * 0x1p-44}) {
                    const QuantileClip clip{quantile, share, 0.1, 1};
                    const auto objective = make_quantile_clipping(logistic(), clip);
                    const Eigen::VectorXd model = model_with(coordinate);
                    for (const double bound : {0.1, 1.0 / 3})
                        for (const auto row : all_rows(40)) {
                            const Eigen::VectorXd own =
                                clipped_sum(*objective, model, {row}, bound, grid);
                            ASSERT_TRUE(norm_is_at_most(own, bound));
                            for (const double value : own)
                                ASSERT_EQ(std::remainder(value, grid), 0.0);
                            if (own.norm() > bound * (1 - 1e-7)) ++tight;
                        }
                }
    EXPECT_GT(tight, 1000) << "the bound must be met tightly, or this tests nothing";
}

TEST(QuantileClipping, ContributesScaledClippedGradientsAndCountsThoseWithinTheClip) {
    const QuantileClip clip{0.8, 0.2, 0.1, 0.5};
    const auto plain = logistic();
    const auto objective = make_quantile_clipping(logistic(), clip);
    for (const double coordinate : {-3.0, 0.0, 2.0, 6.0}) {
        const Eigen::VectorXd model = model_with(coordinate);
        const double c = 0.1 * std::exp(0.5 * coordinate), grid = 0x1p-40;
        EXPECT_NEAR(clip.clip_norm(coordinate), c, 1e-14 * c);
        const Eigen::VectorXd sum = clipped_sum(*objective, model, all_rows(40), 0.1, grid);
        const Eigen::VectorXd wanted =
            clipped_sum(*plain, model.head(features + 1), all_rows(40), c, grid * c) *
            (std::sqrt(1 - 0.2) * 0.1 / c);
        EXPECT_LE((sum.head(features + 1) - wanted).cwiseAbs().maxCoeff(), 1e-9);
        int within = 0;
        for (const auto row : all_rows(40)) {
            Eigen::VectorXd gradient(features + 1);
            plain->mean_gradient(
                model.head(features + 1), std::vector<Eigen::Index>{row}, gradient);
            if (gradient.norm() <= c) ++within;
        }
        // sqrt(s) C_0 / max(p, 1 - p) times (within - 40 p).
        EXPECT_NEAR(sum(features + 1), std::sqrt(0.2) * 0.1 / 0.8 * (within - 32), 1e-9);
    }
}

TEST(QuantileClipping, ClipsTheMeanOfABatchForAgents) {
    const QuantileClip clip{0.5, 0.1, 0.2, 1};
    const auto plain = logistic();
    const auto objective = make_quantile_clipping(logistic(), clip);
    for (const double coordinate : {-4.0, 4.0}) {
        const Eigen::VectorXd model = model_with(coordinate);
        Eigen::VectorXd gradient(features + 2), mean(features + 1);
        objective->mean_gradient(model, all_rows(40), gradient);
        plain->mean_gradient(model.head(features + 1), all_rows(40), mean);
        const double c = 0.2 * std::exp(coordinate);
        const bool longer = mean.norm() > c;
        EXPECT_EQ(longer, coordinate < 0);
        const Eigen::VectorXd wanted =
            mean * std::min(1.0, c / mean.norm()) * (std::sqrt(0.9) * 0.2 / c);
        EXPECT_LE((gradient.head(features + 1) - wanted).norm(), 1e-11);
        EXPECT_NEAR(gradient(features + 1), std::sqrt(0.1) * 0.2 * (longer ? -1 : 1), 1e-11);
        EXPECT_TRUE(norm_is_at_most(gradient, 0.2));
    }
}

TEST(QuantileClipping, TheClipComesToTheQuantileOfTheNorms) {
    const double step = 0.3, rate = 0.2, momentum = 0.5;
    for (const double quantile : {0.25, 0.75}) {
        QuantileClip clip{quantile, 0.1, 0.01, 1};
        clip.gain = gain_of(clip, rate, step, momentum);
        const auto objective = make_quantile_clipping(logistic(400), clip);
        Eigen::VectorXd model = model_with(0), velocity = Eigen::VectorXd::Zero(model.size());
        const Eigen::VectorXd there = model.head(features + 1);
        for (int round = 0; round < 300; ++round) {
            velocity *= momentum;
            velocity += clipped_sum(*objective, model, all_rows(400), 0.01, 0x1p-45) / 400;
            const double before = clip.gain * model(features + 1);
            model -= step * velocity;
            model.head(features + 1) = there;
            EXPECT_LE(std::abs(clip.gain * model(features + 1) - before), rate);
        }
        std::vector<double> norms;
        const auto plain = logistic(400);
        for (const auto row : all_rows(400)) {
            Eigen::VectorXd gradient(features + 1);
            plain->mean_gradient(there, std::vector<Eigen::Index>{row}, gradient);
            norms.push_back(gradient.norm());
        }
        std::ranges::sort(norms);
        const double c = clip.clip_norm(model(features + 1));
        const auto within = std::ranges::upper_bound(norms, c) - norms.begin();
        EXPECT_NEAR(static_cast<double>(within) / 400, quantile, 0.05);
    }
}

TEST(QuantileClipping, CountsRecordsOfLayersAsOfSingleGradients) {
    const QuantileClip clip{0.5, 0.3, 0.1, 1};
    const auto make = [] {
        return make_layered_objective(
            mlp_layers(features, 5, 2), random_real_data(30, features, 3), nullptr);
    };
    const auto objective = make_quantile_clipping(make(), clip);
    const auto plain = make();
    Eigen::VectorXd model(objective->dimension());
    const Eigen::VectorXd start = plain->initial_model(4);
    const double c = 0.8;
    model << start, std::log(c / 0.1);
    int within = 0;
    for (const auto row : all_rows(30)) {
        Eigen::VectorXd gradient(plain->dimension());
        plain->mean_gradient(start, std::vector<Eigen::Index>{row}, gradient);
        if (gradient.norm() <= c * (1 - 1e-9)) ++within;
    }
    EXPECT_GT(within, 3);
    EXPECT_LT(within, 27);
    const Eigen::VectorXd sum = clipped_sum(*objective, model, all_rows(30), 0.1, 0x1p-40);
    EXPECT_NEAR(sum(sum.size() - 1), std::sqrt(0.3) * 0.1 * (2 * within - 30), 1e-9);
}

TEST(QuantileClipping, RecordsThatAreNoNumberAddNothingAndAreCounted) {
    const auto objective = make_quantile_clipping(logistic(), {});
    Eigen::VectorXd model = model_with(0);
    model.head(features + 1).setConstant(not_a_number);
    EXPECT_EQ(clipped_sum(*objective, model, all_rows(40), 0.1, 0x1p-40),
              Eigen::VectorXd::Zero(features + 2));
    EXPECT_EQ(objective->records_set_to_zero(), 40);
    Eigen::VectorXd gradient(features + 2);
    objective->mean_gradient(model, all_rows(40), gradient);
    EXPECT_FALSE(gradient.allFinite());
}

TEST(QuantileClipping, LossesAndCurvatureAreThoseOfTheModel) {
    const auto plain = logistic();
    const auto objective = make_quantile_clipping(logistic(), {});
    const Eigen::VectorXd model = model_with(3);
    const Eigen::VectorXd own = model.head(features + 1);
    EXPECT_EQ(objective->model_parameters(), features + 1);
    EXPECT_EQ(objective->initial_model(1).size(), features + 2);
    EXPECT_EQ(objective->train_loss(model).loss, plain->train_loss(own).loss);
    EXPECT_EQ(objective->train_loss_of_share(model, 3).loss,
              plain->train_loss_of_share(own, 3).loss);
    EXPECT_EQ(objective->test_records(), plain->test_records());
    const auto curvature = objective->curvature_sum(model);
    ASSERT_TRUE(curvature);
    EXPECT_EQ(curvature->gradient.head(features + 1), plain->curvature_sum(own)->gradient);
    EXPECT_EQ(curvature->gradient(features + 1), 0);
    EXPECT_EQ(curvature->hessian.col(features + 1), Eigen::VectorXd::Zero(features + 2));
}

TEST(QuantileClipping, RefusesATaskThatDoesNotCount) {
    Contributions contributions;
    contributions.values = Eigen::Vector2d(1, 2);
    contributions.signs = decltype(contributions.signs)::Ones(1, 2);
    EXPECT_THROW((void)make_quantile_clipping(make_canary_objective(contributions), {}),
                 ConfigError);
}

}  // namespace
}  // namespace sotto
