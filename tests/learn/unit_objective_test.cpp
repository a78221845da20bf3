#include "sotto/learn/unit_objective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/test_support.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/logistic.hpp"
#include "sotto/learn/synthetic.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
