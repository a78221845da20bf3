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

/// A sum that the program has clipped: what its gradients add up to, times a factor.
class ClippingProgram {
  public:
    explicit ClippingProgram(MatrixXf gradients) : gradients_(std::move(gradients)) {}
    HandedSum of(HandedFunctions::Rows rows, double clip) {
        sum_ = VectorXf::Zero(gradients_.rows());
        norms_.resize(std::ssize(rows));
        for (Index k = 0; k < norms_.size(); ++k) {
            const auto gradient = gradients_.col(rows[static_cast<std::size_t>(k)]);
            norms_(k) = gradient.allFinite() ? gradient.cast<double>().norm() : not_a_number;
            if (gradient.allFinite())
                sum_ += gradient * static_cast<float>(std::min(1.0, clip / norms_(k)));
        }
        sum_ *= factor;
        calls.push_back(norms_.size());
        return {Eigen::Map<const MatrixXf>(sum_.data(), sum_.size(), 1),
                Eigen::Map<const VectorXd>(norms_.data(), norms_.size() - norms_left_out)};
    }
    float factor = 1;
    Index norms_left_out = 0;
    std::vector<Index> calls;

  private:
    using VectorXf = Eigen::VectorXf;
    MatrixXf gradients_;
    VectorXf sum_;
    VectorXd norms_;
};

MatrixXf short_and_long_gradients() {
    MatrixXf gradients(6, 7);
    for (Index k = 0; k < 7; ++k)
        gradients.col(k) =
            test::random_vector(6, k % 2 == 0 ? 0.01 : 1e8, 3 + static_cast<std::uint64_t>(k))
                .cast<float>();
    gradients(2, 5) = std::nanf("");
    return gradients;
}

TEST(HandedObjective, TakesASumThatTheProgramHasClippedAtItsWord) {
    const MatrixXf gradients = short_and_long_gradients();
    for (const Index most : {Index{3}, Index{7}}) {
        ClippingProgram program(gradients);
        HandedObjective objective(6, 7, 1);
        objective.functions().most_summed_rows = most;
        objective.functions().clipped_sum = [&](const auto&, auto rows, double clip) {
            return program.of(rows, clip);
        };
        VectorXd sum(6), wanted = VectorXd::Zero(6);
        objective.clipped_gradient_sum(VectorXd::Zero(6), test::all_rows(7), 0.25, 0x1p-40, sum);
        for (Index k = 0; k < 7; ++k) {
            const VectorXd gradient = gradients.col(k).cast<double>();
            if (k != 5) wanted += gradient * std::min(1.0, 0.25 / gradient.norm());
        }
        EXPECT_LE((sum - wanted).cwiseAbs().maxCoeff(), 1e-7);
        for (const double value : sum) EXPECT_EQ(value, std::round(value * 0x1p40) * 0x1p-40);
        EXPECT_EQ(program.calls.size(), most == 3 ? 3u : 1u);
        EXPECT_EQ(objective.records_set_to_zero(), 1);
        EXPECT_EQ(objective.records_shortened(), 2);
        const VectorXd norms = objective.gradient_norms(VectorXd::Zero(6), test::all_rows(7));
        EXPECT_TRUE(std::isnan(norms(5)));
        EXPECT_NEAR(norms(0), gradients.col(0).cast<double>().norm(), 1e-12);
    }
}

TEST(HandedObjective, LeavesRoomForRoundingASumToTheGrid) {
    // A coarse grid: rounding toward zero may move the sum by 0.0625 sqrt(6) of a clip of 4.
    constexpr double clip = 4, grid = 0x1p-4;
    const MatrixXf gradients = short_and_long_gradients();
    ClippingProgram program(gradients);
    HandedObjective objective(6, 7, 7);
    objective.functions().clipped_sum = [&](const auto&, auto rows, double c) {
        return program.of(rows, c);
    };
    const std::vector<Index> all = test::all_rows(7);
    const VectorXd everybody = test::clipped_sum(objective, VectorXd::Zero(6), all, clip, grid);
    for (std::size_t left_out = 0; left_out < all.size(); ++left_out) {
        std::vector<Index> others = all;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
        const VectorXd rest = test::clipped_sum(objective, VectorXd::Zero(6), others, clip, grid);
        EXPECT_LE((everybody - rest).norm(), clip) << left_out;
    }
    EXPECT_THROW(test::clipped_sum(objective, VectorXd::Zero(6), all, clip, 0.25), ConfigError);
}

TEST(HandedObjective, RefusesASumThatItsNormsDoNotAllow) {
    const MatrixXf gradients = short_and_long_gradients();
    ClippingProgram program(gradients.rightCols(1));
    HandedObjective objective(6, 1, 7);
    objective.functions().clipped_sum = [&](const auto&, auto rows, double c) {
        return program.of(rows, c);
    };
    const auto sum = [&] {
        return test::clipped_sum(objective, VectorXd::Zero(6), {0}, 0.001, 0x1p-40);
    };
    EXPECT_NO_THROW((void)sum());
    for (const float factor : {1.01F, -3.0F, std::nanf(""), HUGE_VALF}) {
        program.factor = factor;
        EXPECT_THROW((void)sum(), PrivacyError) << factor;
    }
    program.factor = 1;
    program.norms_left_out = 1;
    EXPECT_THROW((void)sum(), ConfigError);
    objective.functions().clipped_sum = [](const auto&, auto, double) -> HandedSum {
        static const double negative = -1;
        return {std::nullopt, Eigen::Map<const VectorXd>(&negative, 1)};
    };
    EXPECT_THROW((void)sum(), ConfigError);
    EXPECT_THROW((void)objective.gradient_norms(VectorXd::Zero(6), test::all_rows(1)), ConfigError);
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
