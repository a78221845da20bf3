#include "learn/layered_objective.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "core/numbers.hpp"
#include "learn/gradients.hpp"
#include "learn/layers.hpp"
#include "learn/quadratic.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using boost::multiprecision::cpp_rational;
using test::all_rows;
using test::clipped_sum;
using test::mean_gradient;
using test::random_vector;

/// Records with normal features and random classes (or values).
Dataset random_records(Eigen::Index records,
                       Eigen::Index features,
                       int classes,
                       std::uint64_t seed) {
    SeededRandom random(seed, "test-records");
    Dataset data;
    data.source = "test";
    data.target = classes > 0 ? Target::label : Target::value;
    RealRows table(records, features);
    for (double& value : table.reshaped()) value = random.normal();
    data.dense = table;
    data.labels.resize(records);
    for (double& label : data.labels)
        label = classes > 0 ? static_cast<double>(random.below(static_cast<std::uint64_t>(classes)))
                            : random.normal();
    return data;
}

RealRows& table_of(Dataset& data) { return std::get<RealRows>(*data.dense); }

struct Model {
    std::string name;
    Eigen::Index features;
    int classes;  // 0: values
    std::function<Layers()> layers;
    double slack = 1e-7;  // part of the clip that a record may lose to rounding
};

std::vector<Model> models() {
    return {{"softmax", 6, 4, [] { return softmax_layers(6, 4); }},
            {"mlp", 5, 3, [] { return mlp_layers(5, 8, 3); }},
            {"cnn",
             25,
             3,
             [] {
                 return cnn_layers({5, 5, 1}, 3);
             },
             1e-4},
            {"mlp for values", 4, 0, [] { return mlp_layers(4, 6, 1); }}};
}

std::unique_ptr<Objective> objective_of(const Model& model, const Dataset& data) {
    return make_layered_objective(model.layers(), data, nullptr);
}

/// Exact comparison: no rounding in differences, squares, sum or bound.
bool distance_is_at_most(const Eigen::VectorXd& a, const Eigen::VectorXd& b, double bound) {
    cpp_rational squares = 0;
    for (Eigen::Index i = 0; i < a.size(); ++i) {
        const cpp_rational difference = cpp_rational(a[i]) - cpp_rational(b[i]);
        squares += difference * difference;
    }
    return squares <= cpp_rational(bound) * cpp_rational(bound);
}

TEST(LayeredObjective, MeanGradientIsTheCentralDifferenceOfTheTrainingLoss) {
    for (const Model& model : models())
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
            const auto objective =
                objective_of(model, random_records(9, model.features, model.classes, seed));
            Eigen::VectorXd point = random_vector(objective->dimension(), 0.7, seed + 10);
            const Eigen::VectorXd gradient = mean_gradient(*objective, point, all_rows(9));
            for (Eigen::Index k = 0; k < point.size(); ++k) {
                constexpr double step = 1e-5;
                const double before = point[k];
                point[k] = before + step;
                const double above = objective->train_loss(point).loss / 9;
                point[k] = before - step;
                const double below = objective->train_loss(point).loss / 9;
                point[k] = before;
                EXPECT_NEAR(gradient[k], (above - below) / (2 * step), 1e-6)
                    << model.name << ", parameter " << k << ", seed " << seed;
            }
        }
}

TEST(LayeredObjective, SumsTheRecordsClippedGradients) {
    // A plain reference: every record's own gradient, clipped, one after the other. What is left:
    // the clip is a little smaller than asked for, and the sum is rounded to the grid.
    for (const Model& model : models())
        for (const Eigen::Index records : {1, 7, 300})
            for (const double clip : {1e-3, 0.3, 100.0}) {
                const double grid = std::exp2(std::floor(std::log2(clip))) * 0x1p-30;
                const auto objective =
                    objective_of(model, random_records(records, model.features, model.classes, 5));
                const Eigen::VectorXd point = random_vector(objective->dimension(), 1, 6);
                Eigen::VectorXd expected = Eigen::VectorXd::Zero(point.size());
                for (const auto row : all_rows(records)) {
                    const Eigen::VectorXd own = mean_gradient(*objective, point, {row});
                    expected += own * std::min(1.0, clip / own.norm());
                }
                const Eigen::VectorXd sum =
                    clipped_sum(*objective, point, all_rows(records), clip, grid);
                EXPECT_LE((sum - expected).norm(),
                          model.slack * clip * static_cast<double>(records))
                    << model.name << ", " << records << " records, clip " << clip;
                const Eigen::ArrayXd steps = sum.array() / grid;
                EXPECT_TRUE((steps == steps.round()).all()) << "not on the grid";
            }
}

TEST(LayeredObjective, OneRecordMovesTheSumByAtMostTheClipExactly) {
    // Neighbouring data sets: one record zeroed (its features so large that its gradient is no
    // number, which adds zero), gone, or replaced, by one that may be huge or tiny. Coarse grids,
    // where rounding the sum matters, and grids as fine as allowed.
    constexpr Eigen::Index records = 12;
    double nearest = 0;
    for (const Model& model : models())
        for (const std::uint64_t seed : {1U, 2U, 3U, 4U})
            for (const double clip : {0.1, 1.0 / 3, 7.0})
                for (const double grid_part : {0x1p-11, 5 * 0x1p-14, 0x1p-30, 0x1p-48}) {
                    const double grid = std::exp2(std::floor(std::log2(clip))) * grid_part;
                    Dataset data = random_records(records, model.features, model.classes, seed);
                    table_of(data).row(4) *= 1e30;
                    table_of(data).row(5) *= 1e-200;
                    const Eigen::VectorXd point = random_vector(
                        objective_of(model, data)->dimension(), seed % 2 == 0 ? 1 : 30, seed + 20);
                    const auto sum = [&](const Dataset& used) {
                        return clipped_sum(
                            *objective_of(model, used), point, all_rows(records), clip, grid);
                    };
                    const Eigen::VectorXd base = sum(data);
                    for (const double scale : {1e-200, 1e-3, 1.0, 1e8, 1e150}) {
                        Dataset other = data;
                        Dataset fresh = random_records(1, model.features, model.classes, seed + 40);
                        table_of(other).row(2) = scale * table_of(fresh);
                        other.labels[2] = fresh.labels[0];
                        EXPECT_TRUE(distance_is_at_most(sum(other), base, 2 * clip))
                            << model.name << ", seed " << seed << ", scale " << scale;
                    }
                    Dataset zeroed = data;
                    table_of(zeroed).row(2).setConstant(1e200);
                    const Eigen::VectorXd without = sum(zeroed);
                    EXPECT_TRUE(distance_is_at_most(without, base, clip))
                        << model.name << ", seed " << seed << ", clip " << clip << ", grid "
                        << grid;
                    nearest = std::max(nearest, (without - base).norm() / clip);
                    std::vector<Eigen::Index> others = all_rows(records);
                    others.erase(others.begin() + 2);
                    const Eigen::VectorXd left =
                        clipped_sum(*objective_of(model, data), point, others, clip, grid);
                    EXPECT_TRUE(distance_is_at_most(left, base, clip))
                        << model.name << ", seed " << seed << ", clip " << clip << ", grid "
                        << grid;
                }
    EXPECT_GT(nearest, 0.999999) << "the clip must be met tightly, or this tests nothing";
}

TEST(LayeredObjective, LosesLittleOfTheClipWhereAllOfAShardMayBeInABatch) {
    const auto objective =
        make_layered_objective(cnn_layers({28, 28, 1}, 10), random_records(3, 784, 10, 1), nullptr);
    objective->set_largest_batch(6000);
    // Refused below 0.9 of the clip.
    EXPECT_NO_THROW((void)clipped_sum(
        *objective, Eigen::VectorXd::Zero(objective->dimension()), all_rows(3), 1, 0x1p-20));
}

TEST(LayeredObjective, ARecordWhoseGradientIsNotANumberAddsZero) {
    for (const Model& model : models()) {
        Dataset data = random_records(6, model.features, model.classes, 3);
        table_of(data).row(1).setConstant(1e300);
        const auto objective = objective_of(model, data);
        const Eigen::VectorXd point = random_vector(objective->dimension(), 1, 7);
        EXPECT_EQ(clipped_sum(*objective, point, {1}, 0.5, 0x1p-30),
                  Eigen::VectorXd::Zero(point.size()))
            << model.name;
        EXPECT_EQ(objective->records_set_to_zero(), 1);
        const Eigen::VectorXd others =
            clipped_sum(*objective, point, {0, 2, 3, 4, 5}, 0.5, 0x1p-30);
        EXPECT_LE((clipped_sum(*objective, point, all_rows(6), 0.5, 0x1p-30) - others).norm(),
                  1e-7);
        for (const double bad : {not_a_number, infinity}) {
            const Eigen::VectorXd nowhere = Eigen::VectorXd::Constant(point.size(), bad);
            const Eigen::VectorXd sum = clipped_sum(*objective, nowhere, all_rows(6), 0.5, 0x1p-30);
            EXPECT_TRUE(distance_is_at_most(sum, Eigen::VectorXd::Zero(sum.size()), 3.0));
        }
    }
}

TEST(LayeredObjective, RefusesAGridThatLeavesTooLittleOfTheClip) {
    const Model model = models()[1];
    const auto objective =
        objective_of(model, random_records(10, model.features, model.classes, 3));
    const Eigen::VectorXd point = initial_parameters(model.layers(), 1);
    const double root = std::sqrt(static_cast<double>(point.size()));
    EXPECT_NO_THROW((void)clipped_sum(*objective, point, all_rows(10), 1, 0.09 / root));
    for (const double grid : {0.11 / root, 1.0, 0.0, -1.0, not_a_number, 0x1p-60})
        EXPECT_THROW((void)clipped_sum(*objective, point, all_rows(10), 1, grid), ConfigError)
            << grid;
    for (const double clip : {0.0, -1.0, not_a_number, infinity})
        EXPECT_THROW((void)clipped_sum(*objective, point, all_rows(10), clip, 0x1p-20), ConfigError)
            << clip;
    try {
        (void)clipped_sum(*objective, point, all_rows(10), 1, 0.5);
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("grid of 0.5"), std::string::npos) << error.what();
    }
}

TEST(LayeredObjective, CountsLossesAndHitsOfTheTestSet) {
    const auto test = std::make_shared<const Dataset>(random_records(301, 6, 4, 9));
    const auto objective =
        make_layered_objective(softmax_layers(6, 4), random_records(5, 6, 4, 8), test);
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(objective->dimension());
    const LossSum uniform = objective->test_loss(zero, 0, 1);
    EXPECT_NEAR(uniform.loss, 301 * std::log(4), 1e-9);
    EXPECT_EQ(uniform.records, 301);
    EXPECT_TRUE(uniform.has_accuracy);
    EXPECT_EQ(uniform.correct, static_cast<double>((test->labels.array() == 0).count()));
    const Eigen::VectorXd point = random_vector(zero.size(), 1, 3);
    LossSum parts;
    for (const Eigen::Index first : {0, 1, 2}) parts += objective->test_loss(point, first, 3);
    const LossSum whole = objective->test_loss(point, 0, 1);
    EXPECT_EQ(parts.records, whole.records);
    EXPECT_EQ(parts.correct, whole.correct);
    EXPECT_NEAR(parts.loss, whole.loss, 1e-9);
    EXPECT_THROW((void)objective->test_loss(point, 0, 0), ConfigError);
    EXPECT_EQ(objective->test_records(), 301);
    const auto swapped = make_layered_objective(softmax_layers(6, 4), *test, nullptr);
    EXPECT_EQ(swapped->train_loss_of_share(point, 3).loss, objective->test_loss(point, 0, 3).loss);
    EXPECT_THROW((void)swapped->train_loss_of_share(point, 0), ConfigError);

    const auto values =
        make_layered_objective(mlp_layers(4, 6, 1), random_records(8, 4, 0, 2), nullptr);
    const LossSum squares = values->train_loss(Eigen::VectorXd::Zero(values->dimension()));
    EXPECT_NEAR(squares.loss, random_records(8, 4, 0, 2).labels.squaredNorm(), 1e-12);
    EXPECT_FALSE(squares.has_accuracy);
    EXPECT_EQ(values->test_loss(Eigen::VectorXd::Zero(values->dimension()), 0, 1).records, 0);
}

TEST(LayeredObjective, LossesOfRecordsAreThoseOfTestSetsOfOneRecord) {
    const auto others = std::make_shared<const Dataset>(random_records(40, 6, 4, 9));
    const auto objective =
        make_layered_objective(mlp_layers(6, 5, 4), random_records(5, 6, 4, 8), others);
    const Eigen::VectorXd model = random_vector(objective->dimension(), 1, 3);
    const Eigen::VectorXd losses = objective->record_losses(model, *others);
    ASSERT_EQ(losses.size(), 40);
    for (Eigen::Index row = 0; row < 40; ++row)
        EXPECT_EQ(losses[row], objective->test_loss(model, row, 40).loss);
    EXPECT_THROW((void)objective->record_losses(model, random_records(5, 7, 4, 1)), DataError);
}

TEST(LayeredObjective, LossesOfManyModelsAreThoseOfEveryOneToTheLastBit) {
    const auto test = std::make_shared<const Dataset>(random_records(301, 6, 4, 9));
    const auto other_test = std::make_shared<const Dataset>(random_records(301, 6, 4, 9));
    const auto make = [](Layers layers, std::uint64_t seed, std::shared_ptr<const Dataset> data) {
        return make_layered_objective(
            std::move(layers), random_records(5, 6, 4, seed), std::move(data));
    };
    const auto softmax = make(softmax_layers(6, 4), 1, test);
    const auto mlp = make(mlp_layers(6, 7, 4), 1, test);
    for (const auto* objective : {&softmax, &mlp}) {
        const Eigen::Index d = (*objective)->dimension();
        Eigen::MatrixXd models(d, 5);
        for (Eigen::Index m = 0; m < 5; ++m)
            models.col(m) = random_vector(d, 1, static_cast<std::uint64_t>(m));
        const auto losses = (*objective)->test_losses(models.rightCols(4));
        ASSERT_EQ(losses.size(), 4U);
        for (Eigen::Index m = 0; m < 4; ++m) {
            const LossSum alone = (*objective)->test_loss(models.col(m + 1), 0, 1);
            const LossSum& among = losses[static_cast<std::size_t>(m)];
            EXPECT_EQ(among.loss, alone.loss);
            EXPECT_EQ(among.correct, alone.correct);
            EXPECT_EQ(among.records, 301);
            EXPECT_TRUE(among.has_accuracy);
        }
        EXPECT_TRUE((*objective)->test_losses(models.leftCols(0)).empty());
    }
    // Of another agent; with other layers, other test data, another task.
    EXPECT_TRUE(softmax->shares_test(*make(softmax_layers(6, 4), 2, test)));
    EXPECT_FALSE(softmax->shares_test(*mlp));
    EXPECT_FALSE(mlp->shares_test(*make(mlp_layers(6, 8, 4), 1, test)));
    EXPECT_FALSE(softmax->shares_test(*make(softmax_layers(6, 4), 1, other_test)));
    EXPECT_FALSE(softmax->shares_test(*make_quadratic_objective(0, 2)));
    EXPECT_FALSE(make_quadratic_objective(0, 2)->shares_test(*softmax));
}

TEST(LayeredObjective, GivesTheSameForDenseAndSparseFeatures) {
    const Dataset dense = random_records(20, 6, 4, 5);
    const auto a = make_layered_objective(softmax_layers(6, 4), dense, nullptr);
    const auto b =
        make_layered_objective(softmax_layers(6, 4), with_sparse_features(dense), nullptr);
    const Eigen::VectorXd point = random_vector(a->dimension(), 1, 1);
    EXPECT_EQ(mean_gradient(*a, point, all_rows(20)), mean_gradient(*b, point, all_rows(20)));
}

TEST(LayeredObjective, RefusesDataThatDoNotFit) {
    const auto make = [](Dataset shard, Dataset test) {
        return make_layered_objective(softmax_layers(6, 4),
                                      std::move(shard),
                                      std::make_shared<const Dataset>(std::move(test)));
    };
    const Dataset good = random_records(5, 6, 4, 1);
    EXPECT_NO_THROW((void)make(good, good));
    EXPECT_THROW((void)make(random_records(0, 6, 4, 1), good), DataError);
    EXPECT_THROW((void)make(random_records(5, 7, 4, 1), good), ConfigError);
    EXPECT_THROW((void)make(good, random_records(5, 7, 4, 1)), DataError);
    EXPECT_THROW((void)make(random_records(5, 6, 0, 1), good), ConfigError);
    EXPECT_THROW((void)make(good, random_records(5, 6, 0, 1)), DataError);
    for (const double label : {4.0, 0.5, -2.0}) {
        Dataset bad = good;
        bad.labels[3] = label;
        EXPECT_THROW((void)make(bad, good), DataError) << label;
    }
    Dataset infinite = good;
    table_of(infinite)(2, 2) = infinity;
    EXPECT_THROW((void)make(infinite, good), DataError);
    EXPECT_THROW((void)make_layered_objective({}, good, nullptr), ConfigError);
}

constexpr Eigen::Index records = 5;

/// Two dense layers with a ReLU between, at random parameters and records; what is differentiated
/// is a linear function of the outputs.
class LayerChainTest : public ::testing::Test {
  protected:
    LayerChainTest() {
        chain_.features(records) = in_;
        (void)chain_.forward(model_);
        chain_.output_slopes() = slopes_;
        chain_.backward(model_);
    }
    [[nodiscard]] Eigen::VectorXd gradient() {
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(chain_.parameters());
        chain_.add_gradients(sum);
        return sum;
    }
    /// The gradient of one record, by a chain of its own.
    [[nodiscard]] Eigen::VectorXd gradient_of(Eigen::Index record) const {
        LayerChain alone(mlp_layers(4, 6, 3), 4);
        alone.features(1) = in_.col(record);
        (void)alone.forward(model_);
        alone.output_slopes() = slopes_.col(record);
        alone.backward(model_);
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(alone.parameters());
        alone.add_gradients(sum);
        return sum;
    }
    LayerChain chain_{mlp_layers(4, 6, 3), 4};
    Eigen::VectorXd model_ = random_vector(chain_.parameters(), 1, 2);
    Eigen::MatrixXd in_ = random_vector(4 * records, 1, 3).reshaped(4, records);
    Eigen::MatrixXd slopes_ = random_vector(3 * records, 1, 4).reshaped(3, records);
};

TEST_F(LayerChainTest, IsItsLayersOneAfterTheOther) {
    EXPECT_EQ(chain_.parameters(), 6 * 5 + 3 * 7);
    EXPECT_EQ(chain_.outputs(), 3);
    const auto first = make_dense_layer(4, 6, WeightStart::zero);
    const auto second = make_dense_layer(6, 3, WeightStart::zero);
    Eigen::MatrixXd hidden(6, records), out(3, records);
    first->forward(model_.head(30), in_, hidden);
    second->forward(model_.tail(21), hidden.cwiseMax(0.0), out);
    EXPECT_EQ(chain_.forward(model_), out);
    EXPECT_EQ(chain_.output_slopes(), out);
}

TEST_F(LayerChainTest, AddsTheGradientsOfItsRecords) {
    Eigen::VectorXd wanted = Eigen::VectorXd::Zero(chain_.parameters());
    for (Eigen::Index i = 0; i < records; ++i) wanted += gradient_of(i);
    EXPECT_LE((gradient() - wanted).norm(), 1e-13 * wanted.norm());
}

TEST_F(LayerChainTest, KnowsTheNormsOfItsRecordsGradientsFromAbove) {
    const Eigen::VectorXd norms = chain_.gradient_norms();
    ASSERT_EQ(norms.size(), records);
    for (Eigen::Index i = 0; i < records; ++i) {
        EXPECT_GE(norms[i], gradient_of(i).norm());
        EXPECT_LE(norms[i], gradient_of(i).norm() * (1 + 1e-10));
    }
}

TEST_F(LayerChainTest, ScalesAndDropsRecords) {
    chain_.scale_record(1, 0.25);
    chain_.drop_record(3);
    const Eigen::VectorXd wanted =
        gradient_of(0) + 0.25 * gradient_of(1) + gradient_of(2) + gradient_of(4);
    EXPECT_LE((gradient() - wanted).norm(), 1e-13 * wanted.norm());
}

TEST(LayerChain, DropsARecordThatIsNotANumber) {
    LayerChain chain(softmax_layers(2, 2), 2);
    chain.features(2) << 1, std::numeric_limits<double>::infinity(), 2, 3;
    (void)chain.forward(Eigen::VectorXd::Ones(6));
    chain.output_slopes() << 1, std::numeric_limits<double>::quiet_NaN(), 1, 1;
    chain.backward(Eigen::VectorXd::Ones(6));
    EXPECT_FALSE(std::isfinite(chain.gradient_norms()[1]));
    chain.drop_record(1);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(6);
    chain.add_gradients(sum);
    EXPECT_TRUE(sum.allFinite());
    EXPECT_GT(sum.norm(), 0);
}

TEST(LayerChain, SumErrorGrowsWithTheTermsOfASum) {
    const LayerChain dense(softmax_layers(25, 3), 25), cnn(cnn_layers({5, 5, 1}, 3), 25);
    EXPECT_DOUBLE_EQ(dense.sum_error(100), 1.01 * 116 * 0x1p-53);
    EXPECT_GT(cnn.sum_error(100), dense.sum_error(100));
    EXPECT_GT(dense.sum_error(101), dense.sum_error(100));
}

TEST(LayerChain, NeedsLayersThatFit) {
    EXPECT_THROW(LayerChain({}, 3), ConfigError);
    EXPECT_THROW(LayerChain(softmax_layers(4, 2), 3), ConfigError);
    Layers layers = softmax_layers(4, 2);
    layers.push_back(make_relu_layer(3));
    EXPECT_THROW(LayerChain(std::move(layers), 4), ConfigError);
}

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
