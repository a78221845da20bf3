#include "sotto/learn/record_objective.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "learn/gradients.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using boost::multiprecision::cpp_rational;
using test::all_rows;
using test::norm_is_at_most;
using test::random_real_data;
using test::random_vector;

/// Half the squared distance of the model to the record's features.
class Distances final : public RecordObjective {
  public:
    using RecordObjective::RecordObjective;
    Eigen::Index dimension() const override { return shard().feature_count(); }

  protected:
    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                     const Dataset& data,
                     Eigen::Index row) override {
        Eigen::VectorXd features(data.feature_count());
        copy_features(data, {&row, 1}, features);
        return {.loss = 0.5 * (model - features).squaredNorm(), .correct = data.labels[row] > 0};
    }
    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                         const Dataset& data,
                         Eigen::Index row,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        copy_features(data, {&row, 1}, gradient);
        gradient = model - gradient;
    }
    bool has_accuracy() const override { return true; }
};

TEST(RecordObjective, SumsRoundedClippedGradientsExactlyAndNoneIsLongerThanTheClip) {
    const Dataset data = random_real_data(40, 7, 3);
    Distances objective(data, nullptr);
    int tight = 0;
    for (const double scale : {1e-3, 1.0, 1e5})
        for (const double clip : {0.1, 1.0 / 3})
            for (const double grid : {0x1p-10, 0x1p-40, 37 * 0x1p-44}) {
                const Eigen::VectorXd model = random_vector(7, scale, 5);
                std::vector<cpp_rational> exact(7, 0);
                for (const auto row : all_rows(40)) {
                    Eigen::VectorXd own(7), plain(7);
                    objective.clipped_gradient_sum(
                        model, std::vector<Eigen::Index>{row}, clip, grid, own);
                    objective.mean_gradient(model, std::vector<Eigen::Index>{row}, plain);
                    EXPECT_TRUE(norm_is_at_most(own, clip));
                    const Eigen::VectorXd wanted = plain * std::min(1.0, clip / plain.norm());
                    EXPECT_LE((own - wanted).cwiseAbs().maxCoeff(),
                              grid * (1 + 1e-9) + 1e-13 * clip);
                    for (Eigen::Index k = 0; k < 7; ++k)
                        exact[static_cast<std::size_t>(k)] += cpp_rational(own[k]);
                    if (own.norm() > clip * (1 - 1e-9)) ++tight;
                }
                Eigen::VectorXd sum(7);
                objective.clipped_gradient_sum(model, all_rows(40), clip, grid, sum);
                for (Eigen::Index k = 0; k < 7; ++k)
                    EXPECT_EQ(cpp_rational(sum[k]), exact[static_cast<std::size_t>(k)]);
            }
    EXPECT_GT(tight, 100) << "the clip must be met tightly, or this tests nothing";
}

TEST(RecordObjective, ARecordWhoseGradientIsNotANumberAddsZero) {
    Distances objective(random_real_data(5, 3, 1), nullptr);
    Eigen::VectorXd sum(3);
    for (const double bad : {not_a_number, infinity}) {
        const auto before = objective.records_set_to_zero();
        objective.clipped_gradient_sum(
            Eigen::VectorXd::Constant(3, bad), all_rows(5), 1, 0x1p-20, sum);
        EXPECT_EQ(sum, Eigen::VectorXd::Zero(3)) << bad;
        EXPECT_EQ(objective.records_set_to_zero(), before + 5);
    }
}

TEST(RecordObjective, ClipsAGradientWhoseSquareOverflows) {
    Distances objective(random_real_data(5, 3, 1), nullptr);
    Eigen::VectorXd sum(3);
    for (const double huge : {1e155, 1e200, 1.7e308}) {
        objective.clipped_gradient_sum(
            Eigen::VectorXd::Constant(3, huge), std::vector<Eigen::Index>{4}, 1, 0x1p-40, sum);
        EXPECT_TRUE(norm_is_at_most(sum, 1));
        EXPECT_NEAR(sum(0), std::sqrt(1.0 / 3), 1e-9) << huge;
    }
    EXPECT_EQ(objective.records_set_to_zero(), 0);
}

TEST(RecordObjective, AveragesGradientsAndAddsLosses) {
    const Dataset data = random_real_data(30, 4, 2);
    Distances objective(data, std::make_shared<const Dataset>(random_real_data(9, 4, 8)));
    const Eigen::VectorXd model = random_vector(4, 1, 1);
    Eigen::VectorXd mean(4);
    objective.mean_gradient(model, all_rows(30), mean);
    const Eigen::MatrixXd dense(data.features);
    EXPECT_LE((mean - (model - dense.colwise().mean().transpose())).norm(), 1e-13);
    const LossSum train = objective.train_loss(model);
    EXPECT_NEAR(train.loss, 0.5 * (dense.rowwise() - model.transpose()).squaredNorm(), 1e-10);
    EXPECT_EQ(train.correct, static_cast<double>((data.labels.array() > 0).count()));
    EXPECT_EQ(objective.test_loss(model, 1, 3).records, 3);
    EXPECT_EQ(objective.test_records(), 9);
    const LossSum share = objective.train_loss_of_share(model, 29);
    EXPECT_NEAR(share.loss,
                0.5 * ((dense.row(0).transpose() - model).squaredNorm() +
                       (dense.row(29).transpose() - model).squaredNorm()),
                1e-12);
    EXPECT_EQ(share.records, 2);
    const Eigen::VectorXd losses = objective.record_losses(model, data);
    EXPECT_EQ(losses.size(), 30);
    EXPECT_NEAR(losses.sum(), train.loss, 1e-12 * train.loss);
    EXPECT_NEAR(losses[4], 0.5 * (dense.row(4).transpose() - model).squaredNorm(), 1e-12);
    EXPECT_EQ(objective.initial_model(3), Eigen::VectorXd::Zero(4));
    EXPECT_THROW((void)objective.test_loss(model, -1, 1), ConfigError);
    Eigen::VectorXd sum(4);
    EXPECT_THROW(objective.clipped_gradient_sum(model, all_rows(30), 1, 0x1p-60, sum), ConfigError);
    EXPECT_THROW((void)Distances(random_real_data(0, 4, 1), nullptr), DataError);
}

}  // namespace
}  // namespace sotto
