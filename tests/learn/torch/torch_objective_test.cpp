#include "learn/torch/torch_objective.hpp"

#include <limits>

#include "learn/torch/torch_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/layered_objective.hpp"
#include "sotto/learn/layers/models.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::clipped_sum;
using test::mean_gradient;
using test::norm_is_at_most;
using test::objective_of;
using test::rows_of;
using test::three_classes;

constexpr Eigen::Index inputs = 6, hidden = 5, outputs = 3;

/// The parameters of models/mlp.pt as those of mlp_layers: matrices by columns, not by rows.
Eigen::VectorXd as_layers(const Eigen::VectorXd& torch) {
    Eigen::VectorXd layers = torch;
    const auto turn = [&](Eigen::Index first, Eigen::Index rows, Eigen::Index columns) {
        Eigen::Map<Eigen::MatrixXd>(layers.data() + first, rows, columns) =
            Eigen::Map<const RealRows>(torch.data() + first, rows, columns);
    };
    turn(0, hidden, inputs);
    turn(hidden * (inputs + 1), outputs, hidden);
    return layers;
}

struct Both {
    Dataset data = three_classes(30, inputs);
    std::unique_ptr<Objective> torch = objective_of("mlp", data);
    std::unique_ptr<Objective> layers = make_layered_objective(
        mlp_layers(inputs, hidden, outputs), data, std::make_shared<const Dataset>(data));
    Eigen::VectorXd model = torch->initial_model(1);
};

TEST(TorchObjective, HasTheGradientsOfTheSameModelOfLayers) {
    Both both;
    ASSERT_EQ(both.torch->dimension(), both.layers->dimension());
    const Eigen::VectorXd wanted = mean_gradient(*both.layers, as_layers(both.model), all_rows(30));
    const Eigen::VectorXd found = mean_gradient(*both.torch, both.model, all_rows(30));
    EXPECT_GT(wanted.norm(), 0.1);
    EXPECT_LE((as_layers(found) - wanted).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(TorchObjective, HasTheClippedSumsOfTheSameModelOfLayers) {
    Both both;
    for (const double clip : {0.05, 1.0, 100.0}) {
        const Eigen::VectorXd wanted =
            clipped_sum(*both.layers, as_layers(both.model), all_rows(30), clip, 0x1p-40);
        const Eigen::VectorXd found =
            clipped_sum(*both.torch, both.model, all_rows(30), clip, 0x1p-40);
        EXPECT_LE((as_layers(found) - wanted).cwiseAbs().maxCoeff(), 30 * 1e-5) << clip;
    }
}

TEST(TorchObjective, HasTheLossesOfTheSameModelOfLayers) {
    Both both;
    const LossSum wanted = both.layers->test_loss(as_layers(both.model), 0, 1);
    for (const LossSum& found : {both.torch->test_loss(both.model, 0, 1),
                                 both.torch->train_loss(both.model),
                                 both.torch->test_losses(both.model).front()}) {
        EXPECT_NEAR(found.loss, wanted.loss, 30 * 1e-5);
        EXPECT_EQ(found.correct, wanted.correct);
        EXPECT_EQ(found.records, 30);
        EXPECT_TRUE(found.has_accuracy);
    }
    const Eigen::VectorXd alone = both.torch->record_losses(both.model, both.data);
    EXPECT_NEAR(alone.sum(), wanted.loss, 30 * 1e-5);
}

TEST(TorchObjective, NoRecordIsLongerThanTheClipHoweverItsGradientExplodes) {
    constexpr double clip = 0.5;
    Dataset data = three_classes(9, inputs);
    const double limit = std::numeric_limits<float>::max();
    const std::vector<double> features{1e-30,
                                       1,
                                       1e10,
                                       1e19,
                                       1e30,
                                       limit,
                                       1e300,
                                       std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN()};
    for (Eigen::Index row = 0; row < 9; ++row)
        rows_of(data).row(row) *= features[static_cast<std::size_t>(row)];
    const auto objective = objective_of("mlp", data);
    const Eigen::VectorXd model = objective->initial_model(1);
    int long_ones = 0;
    for (const Eigen::Index row : all_rows(9)) {
        const Eigen::VectorXd sum = clipped_sum(*objective, model, {row}, clip, 0x1p-40);
        EXPECT_TRUE(norm_is_at_most(sum, clip)) << features[static_cast<std::size_t>(row)];
        if (sum.norm() > 0.99 * clip) ++long_ones;
    }
    EXPECT_GE(long_ones, 2) << "nothing was clipped";
    const Eigen::VectorXd zeros = clipped_sum(*objective, model, {6, 7, 8}, clip, 0x1p-40);
    EXPECT_EQ(zeros, Eigen::VectorXd::Zero(zeros.size()));
    EXPECT_GE(objective->records_set_to_zero(), 6);
}

TEST(TorchObjective, ARecordAddsTheSameBitsWhateverStandsBesideIt) {
    Dataset data = three_classes(20, 36);
    rows_of(data).row(3) *= 1e30;
    rows_of(data).row(4) *= std::numeric_limits<double>::quiet_NaN();
    const auto objective = objective_of("cnn", data);
    const Eigen::VectorXd model = objective->initial_model(1);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(objective->dimension());
    for (const Eigen::Index row : all_rows(20))
        sum += clipped_sum(*objective, model, {row}, 0.5, 0x1p-40);
    // Multiples of the grid: sums are exact.
    EXPECT_EQ(clipped_sum(*objective, model, all_rows(20), 0.5, 0x1p-40), sum);
}

TEST(TorchObjective, TrainsOnValuesWithALossOfItsOwn) {
    Dataset data = three_classes(12, inputs);
    data.target = Target::value;
    const auto objective = objective_of("poisson", data, 0);
    Eigen::VectorXd model = objective->initial_model(1);
    const LossSum before = objective->test_loss(model, 0, 1);
    EXPECT_FALSE(before.has_accuracy);
    for (int i = 0; i < 100; ++i) model -= 0.1 * mean_gradient(*objective, model, all_rows(12));
    EXPECT_LT(objective->test_loss(model, 0, 1).loss, before.loss - 1);
}

TEST(TorchObjective, RefusesLabelsThatAreNoClassAndOtherShapes) {
    Dataset data = three_classes(4, inputs);
    data.labels[2] = 5;
    EXPECT_THROW((void)objective_of("mlp", data), DataError);
    EXPECT_THROW((void)objective_of("cnn", three_classes(4, inputs)), ConfigError);
}

TEST(TorchObjective, SharesItsTestWithOthersOfTheSameFileAndData) {
    const Dataset data = three_classes(4, inputs);
    const auto test = std::make_shared<const Dataset>(data);
    const TorchModule module = test::load_model("mlp");
    const auto one = make_torch_objective(module.copy(), data, test, 3);
    const auto same = make_torch_objective(module.copy(), three_classes(2, inputs), test, 3);
    const auto other =
        make_torch_objective(module.copy(), data, std::make_shared<const Dataset>(data), 3);
    EXPECT_TRUE(one->shares_test(*same));
    EXPECT_FALSE(one->shares_test(*other));
}

}  // namespace
}  // namespace sotto
