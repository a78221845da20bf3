#include "learn/handed_objective.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numbers.hpp"
#include "learn/gradients.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

/// Gradients of all records, handed over as they are asked for.
class Program {
  public:
    explicit Program(MatrixXd gradients) : gradients_(std::move(gradients)) {}
    HandedGradients of(HandedFunctions::Rows rows) {
        part_.resize(gradients_.rows(), std::ssize(rows));
        for (Index k = 0; k < part_.cols(); ++k)
            part_.col(k) = gradients_.col(rows[static_cast<std::size_t>(k)]);
        calls.push_back(part_.cols());
        return Eigen::Map<const MatrixXd>(part_.data(), part_.rows(), part_.cols());
    }
    std::vector<Index> calls;

  private:
    MatrixXd gradients_, part_;
};

TEST(HandedObjective, ClipsEveryRecordWhateverItIsHandedInParts) {
    MatrixXd gradients(4, 7);
    for (Index k = 0; k < 7; ++k)
        gradients.col(k) =
            test::random_vector(4, k % 2 == 0 ? 0.01 : 1e8, 3 + static_cast<std::uint64_t>(k));
    gradients(2, 5) = not_a_number;
    Program program(gradients);
    HandedObjective objective(4, 7, 3);
    objective.functions().record_gradients = [&](const auto&, auto rows) {
        return program.of(rows);
    };
    VectorXd sum(4), wanted = VectorXd::Zero(4);
    objective.clipped_gradient_sum(VectorXd::Zero(4), test::all_rows(7), 0.25, 0x1p-40, sum);
    for (Index k = 0; k < 7; ++k)
        if (k != 5) wanted += gradients.col(k) * std::min(1.0, 0.25 / gradients.col(k).norm());
    EXPECT_LE((sum - wanted).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_EQ(program.calls, (std::vector<Index>{3, 3, 1}));
    EXPECT_EQ(objective.records_set_to_zero(), 1);
    EXPECT_EQ(objective.records_shortened(), 2);
    for (const Index row : test::all_rows(7)) {
        objective.clipped_gradient_sum(
            VectorXd::Zero(4), std::vector<Index>{row}, 0.25, 0x1p-40, sum);
        EXPECT_TRUE(test::norm_is_at_most(sum, 0.25)) << row;
    }
}

TEST(HandedObjective, TakesSinglePrecisionToo) {
    const MatrixXf single = MatrixXf::Random(5, 2);
    HandedObjective objective(5, 2, 8);
    objective.functions().record_gradients = [&](const auto&, auto) -> HandedGradients {
        return Eigen::Map<const MatrixXf>(single.data(), 5, 2);
    };
    objective.functions().batch_gradient = [&](const auto&, auto) -> HandedGradients {
        return Eigen::Map<const MatrixXf>(single.data(), 5, 1);
    };
    VectorXd sum(5), gradient(5);
    objective.clipped_gradient_sum(VectorXd::Zero(5), test::all_rows(2), 100, 0x1p-40, sum);
    EXPECT_LE((sum - single.cast<double>().rowwise().sum()).cwiseAbs().maxCoeff(), 1e-11);
    objective.mean_gradient(VectorXd::Zero(5), test::all_rows(2), gradient);
    EXPECT_EQ(gradient, single.col(0).cast<double>());
}

TEST(HandedObjective, HasNothingToSayBeforeItIsHandedAnything) {
    HandedObjective objective(3, 5, 2, 9);
    VectorXd sum = VectorXd::Ones(3);
    objective.clipped_gradient_sum(VectorXd::Zero(3), test::all_rows(5), 1, 0x1p-20, sum);
    EXPECT_EQ(sum, VectorXd::Zero(3));
    EXPECT_EQ(test::mean_gradient(objective, VectorXd::Zero(3), {0}), VectorXd::Zero(3));
    EXPECT_EQ(objective.train_loss(sum).records, 0);
    EXPECT_EQ(objective.test_loss(sum, 0, 1).records, 0);
    EXPECT_EQ(objective.test_records(), 9);
}

TEST(HandedObjective, AsksForTheLossesOfTheRowsThatAreWanted) {
    HandedObjective objective(3, 5, 2);
    const auto losses = [](const auto& model, Index first, Index stride) {
        return LossSum{
            .loss = model(0), .correct = 1, .records = 10 * first + stride, .has_accuracy = true};
    };
    objective.functions().train_losses = losses;
    objective.functions().test_losses = losses;
    const VectorXd model = VectorXd::Constant(3, 0.5);
    EXPECT_EQ(objective.train_loss_of_share(model, 4).records, 4);
    EXPECT_EQ(objective.test_loss(model, 2, 3).records, 23);
    EXPECT_EQ(objective.test_loss(model, 2, 3).loss, 0.5);
    EXPECT_THROW((void)objective.test_loss(model, 0, 0), ConfigError);
}

TEST(HandedObjective, RefusesGradientsOfAnotherShape) {
    const MatrixXd handed = MatrixXd::Zero(4, 3);
    HandedObjective objective(4, 5, 5);
    VectorXd sum(4);
    for (const auto& [rows, columns] : {std::pair<Index, Index>{3, 2}, {4, 1}, {4, 3}}) {
        objective.functions().record_gradients = [&, r = rows, c = columns](
                                                     const auto&, auto) -> HandedGradients {
            return Eigen::Map<const MatrixXd>(handed.data(), r, c);
        };
        EXPECT_THROW(
            objective.clipped_gradient_sum(VectorXd::Zero(4), test::all_rows(2), 1, 0x1p-20, sum),
            ConfigError);
    }
    EXPECT_THROW(HandedObjective(0, 1, 1), ConfigError);
    EXPECT_THROW(HandedObjective(1, 0, 1), ConfigError);
    EXPECT_THROW(HandedObjective(1, 1, 0), ConfigError);
    EXPECT_THROW(HandedObjective(1, 1, 1, -1), ConfigError);
}

}  // namespace
}  // namespace sotto
