#include "learn/record_objective.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "learn/gradients.hpp"
#include "learn/layers.hpp"
#include "learn/logistic.hpp"
#include "learn/readers.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

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

constexpr double grid = 0x1p-40;

Dataset of_persons(Eigen::Index records, int persons) {
    Dataset data = synthetic_binary(records, 3);
    for (Eigen::Index row = 0; row < records; ++row)
        data.writers.push_back(static_cast<int>((row * row) % persons));
    return data;
}

std::unique_ptr<Objective> logistic(const Dataset& data) {
    return make_logistic_objective(data, nullptr);
}

TEST(UnitsOf, GroupRowsByWhoTheyAreOf) {
    Dataset data = of_persons(6, 100);
    data.writers = {7, 3, 7, 3, 9, 7};
    const std::vector<Eigen::Index> rows{5, 1, 2, 4};
    EXPECT_EQ(units_of(data, rows), (Units{{5, 2}, {1}, {4}}));
    data.writers.clear();
    EXPECT_THROW((void)units_of(data, rows), DataError);
}

TEST(UnitObjective, ClipsTheMeanGradientOfAUnitAsOne) {
    const Dataset data = of_persons(200, 23);
    const Units units = units_of(data, test::all_rows(200));
    const auto records = logistic(data);
    const auto persons = make_unit_objective(logistic(data), units);
    ASSERT_EQ(persons->records(), std::ssize(units));
    const Eigen::VectorXd model = Eigen::VectorXd::LinSpaced(records->dimension(), -0.5, 0.5);
    const double clip = 0.4;
    const std::vector<Eigen::Index> batch{2, 0, 5};
    Eigen::VectorXd wanted = Eigen::VectorXd::Zero(model.size()), mean = wanted, one = wanted;
    Eigen::VectorXd sum = wanted;
    int shortened = 0;
    for (const Eigen::Index unit : batch) {
        records->mean_gradient(model, units[static_cast<std::size_t>(unit)], one);
        mean += one / 3;
        wanted += one * std::min(1.0, clip / one.norm());
        shortened += one.norm() > clip ? 1 : 0;
    }
    persons->clipped_gradient_sum(model, batch, clip, grid, sum);
    EXPECT_LE((sum - wanted).norm(), 1e-9);
    EXPECT_EQ(persons->records_shortened(), shortened);
    EXPECT_GT(shortened, 0);
    persons->mean_gradient(model, batch, one);
    EXPECT_LE((one - mean).norm(), 1e-14);
    EXPECT_EQ(persons->train_loss(model).records, 200) << "losses are those of records";
    EXPECT_EQ(persons->train_loss(model).loss, records->train_loss(model).loss);
}

TEST(UnitObjective, TakesAtMostSoManyOfAPersonsRecordsWhateverOthersAreThere) {
    const Dataset data = of_persons(200, 6);
    const Units units = units_of(data, test::all_rows(200));
    const UnitSample sample = sample_of(data, units, 3);
    ASSERT_EQ(sample.keys.size(), units.size());
    const auto records = logistic(data);
    const auto persons = make_unit_objective(logistic(data), units, sample);
    const Units others(units.begin() + 1, units.end());
    const auto without_first =
        make_unit_objective(logistic(data), others, sample_of(data, others, 3));
    Eigen::VectorXd model = Eigen::VectorXd::LinSpaced(records->dimension(), -0.5, 0.5);
    Eigen::VectorXd one(model.size()), same(model.size()), of_three(model.size());
    std::set<std::vector<double>> seen;
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(model.size());
    constexpr int models = 400;
    for (int k = 0; k < models; ++k) {
        model(0) = -0.5 + 1e-9 * k;  // another model, almost the same gradients
        persons->mean_gradient(model, std::vector<Eigen::Index>{2}, one);
        without_first->mean_gradient(model, std::vector<Eigen::Index>{1}, same);
        ASSERT_EQ(one, same) << "the first person's records change nobody else's choice";
        mean += one / models;
        seen.emplace(one.begin(), one.end());
    }
    EXPECT_GT(seen.size(), 100U) << "chosen anew";
    records->mean_gradient(model, units[2], of_three);
    EXPECT_LT((mean - of_three).norm(), 0.15 * of_three.norm()) << "all records count alike";
    // A person with no more records than that has all of them.
    const auto all = make_unit_objective(logistic(data), units, sample_of(data, units, 1000));
    const auto plain = make_unit_objective(logistic(data), units);
    all->mean_gradient(model, std::vector<Eigen::Index>{2}, one);
    plain->mean_gradient(model, std::vector<Eigen::Index>{2}, same);
    EXPECT_EQ(one, same);
    EXPECT_TRUE(sample_of(data, units, 0).keys.empty());
}

TEST(UnitObjective, IsChangedByOnePersonsRecordsAsByOneRecord) {
    // A person with many records of any size, one with none of them: the sum moves by at most C.
    Dataset data = of_persons(120, 11);
    const Units units = units_of(data, test::all_rows(120));
    const double clip = 0.1;
    const auto sum_with = [&](double scale, bool there) {
        Dataset changed = data;
        for (const Eigen::Index row : units[4])
            for (SparseRows::InnerIterator entry(changed.features, row); entry; ++entry)
                entry.valueRef() *= scale;
        const auto persons = make_unit_objective(logistic(changed), units);
        std::vector<Eigen::Index> batch{0, 1, 2, 3, 5};
        if (there) batch.insert(batch.begin() + 2, 4);
        const Eigen::VectorXd model = Eigen::VectorXd::Constant(persons->dimension(), 0.1);
        Eigen::VectorXd sum(model.size());
        persons->clipped_gradient_sum(model, batch, clip, grid, sum);
        return sum;
    };
    const Eigen::VectorXd without = sum_with(1, false);
    for (const double scale : {1.0, 1e3, 1e12, -50.0}) {
        EXPECT_LE((sum_with(scale, true) - without).norm(), clip) << scale;
        EXPECT_GT((sum_with(scale, true) - without).norm(), 0.3 * clip) << scale;
    }
}

struct Shape {
    std::string name;
    Eigen::Index features;
    std::function<Layers()> layers;
};

/// Sizes of real tasks, small ones, and odd ones.
std::vector<Shape> shapes() {
    return {{"softmax", 784, [] { return softmax_layers(784, 10); }},
            {"softmax of three", 3, [] { return softmax_layers(3, 2); }},
            {"mlp", 784, [] { return mlp_layers(784, 128, 10); }},
            {"odd mlp", 13, [] { return mlp_layers(13, 7, 3); }},
            {"regression", 8, [] { return mlp_layers(8, 33, 1); }},
            {"cnn", 784, [] {
                 return cnn_layers({28, 28, 1}, 10);
             }}};
}

/// What the chain computes for the record in this column.
std::vector<double> column(LayerChain& chain,
                           const Eigen::VectorXd& model,
                           const Eigen::MatrixXd& records,
                           const Eigen::MatrixXd& slopes,
                           Eigen::Index place) {
    chain.features(records.cols()) = records;
    const Eigen::MatrixXd out = chain.forward(model);
    chain.output_slopes() = slopes;
    chain.backward(model);
    std::vector<double> result(out.col(place).begin(), out.col(place).end());
    result.push_back(chain.gradient_norms()[place]);
    // Alone, its gradient is that of its slopes in all layers.
    for (Eigen::Index i = 0; i < records.cols(); ++i)
        if (i != place) chain.drop_record(i);
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(chain.parameters());
    chain.add_gradients(gradient);
    result.insert(result.end(), gradient.begin(), gradient.end());
    return result;
}

TEST(RecordTiles, BeginLargeAndEndSmall) {
    for (const Shape& shape : shapes()) {
        LayerChain chain(shape.layers(), shape.features);
        const auto tiles = place_independent_tiles(chain);
        ASSERT_FALSE(tiles.empty()) << shape.name;
        EXPECT_TRUE(std::ranges::is_sorted(tiles, std::greater())) << shape.name;
        EXPECT_LE(tiles.front(), static_cast<Eigen::Index>(chain.chunk_records()));
        EXPECT_GE(tiles.back(), 1);
        EXPECT_EQ(tiles, place_independent_tiles(chain)) << shape.name << ": not reproducible";
    }
}

// The same record among others, in every tenth place of every tile.
TEST(RecordTiles, HaveTheSameBitsForARecordInEveryPlace) {
    for (const Shape& shape : shapes()) {
        LayerChain chain(shape.layers(), shape.features);
        const auto tiles = place_independent_tiles(chain);
        const Eigen::VectorXd model = random_vector(chain.parameters(), 1, 2);
        const Eigen::VectorXd record = random_vector(shape.features, 1, 3);
        const Eigen::VectorXd slope = random_vector(chain.outputs(), 1, 4);
        std::vector<double> first;
        for (const Eigen::Index tile : tiles)
            for (Eigen::Index place = 0; place < tile;
                 place += std::max<Eigen::Index>(tile / 9, 1)) {
                const auto seed = static_cast<std::uint64_t>(100 + place);
                Eigen::MatrixXd records =
                    random_vector(shape.features * tile, 1, seed).reshaped(shape.features, tile);
                Eigen::MatrixXd slopes = random_vector(chain.outputs() * tile, 1, seed + 1)
                                             .reshaped(chain.outputs(), tile);
                records.col(place) = record;
                slopes.col(place) = slope;
                auto found = column(chain, model, records, slopes, place);
                // Sums over a tile of other size are made in another order: what is summed counts.
                const auto counted = static_cast<std::size_t>(chain.outputs()) + 1;
                const auto compared =
                    tiles.size() == 1 || tile == tiles.front() ? found.size() : counted;
                if (first.empty()) first = found;
                EXPECT_EQ(0, std::memcmp(first.data(), found.data(), compared * sizeof(double)))
                    << shape.name << ", tile of " << tile << ", place " << place;
            }
    }
}

TEST(RowWalker, VisitsTheStoredValuesOfARow) {
    const Dataset data = random_real_data(20, 6, 4);
    const RowWalker rows(data.features);
    EXPECT_FALSE(rows.binary());
    Eigen::MatrixXd seen = Eigen::MatrixXd::Zero(20, 6);
    for (Eigen::Index row = 0; row < 20; ++row)
        rows.for_each<false>(row, [&](int column, double value) { seen(row, column) = value; });
    EXPECT_EQ(seen, Eigen::MatrixXd(data.features));
}

TEST(RowWalker, ScoresARowWithBothOfItsLoops) {
    for (const bool binary : {false, true}) {
        const Dataset data = binary ? synthetic_binary(30, 4) : random_real_data(30, 9, 4);
        const RowWalker rows(data.features);
        EXPECT_EQ(rows.binary(), binary);
        const Eigen::VectorXd weights = random_vector(data.feature_count(), 1, 5);
        const Eigen::VectorXd wanted = (data.features * weights).array() + 0.25;
        for (Eigen::Index row = 0; row < 30; ++row) {
            const double score = rows.score(row, weights.data(), 0.25);
            EXPECT_NEAR(score, wanted[row], 1e-13);
            EXPECT_EQ(score, rows.score<false>(row, weights.data(), 0.25));
        }
    }
}

}  // namespace
}  // namespace sotto
