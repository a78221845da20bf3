#include "core/column_sums.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

namespace sotto {
namespace {

template <class Value>
using Columns = Eigen::Matrix<Value, Eigen::Dynamic, Eigen::Dynamic>;

template <class Value>
void expect_plain_sums(Eigen::Index size) {
    const Columns<Value> columns = Columns<Value>::Random(size, 3) * Value(7);
    const std::vector<double> scales{0.5, 3.75, -1e3};
    std::vector<const Value*> places;
    for (Eigen::Index j = 0; j < 3; ++j) {
        places.push_back(columns.data() + j * size);
        const double wanted = columns.col(j).template cast<double>().squaredNorm();
        EXPECT_NEAR(sum_of_squares(std::span(places.back(), static_cast<std::size_t>(size))),
                    wanted,
                    1e-13 * wanted);
    }
    std::vector<double> sum(static_cast<std::size_t>(size), 0.25), wanted = sum;
    for (std::size_t k = 0; k < wanted.size(); ++k)
        for (std::size_t j = 0; j < 3; ++j)
            wanted[k] += std::trunc(static_cast<double>(places[j][k]) * scales[j]);
    add_truncated(std::span<const Value* const>(places), scales, sum);
    EXPECT_EQ(sum, wanted);

    std::ranges::fill(sum, 0.0);
    add_truncated(std::span(places).first(1), std::span(scales).first(1), sum);
    wanted.clear();
    for (const double units : sum) wanted.push_back(units * 0.375);
    truncate_to_units(
        std::span(places.front(), static_cast<std::size_t>(size)), scales.front(), 0.375, sum);
    EXPECT_EQ(sum, wanted);
    EXPECT_TRUE(std::ranges::none_of(sum, [](double x) { return x == 0 && std::signbit(x); }));
}

TEST(ColumnSums, AreThoseOfPlainLoopsForEverySize) {
    for (const Eigen::Index size : {0, 1, 7, 8, 9, 33, 2047, 2048, 2049, 5000}) {
        expect_plain_sums<float>(size);
        expect_plain_sums<double>(size);
    }
}

TEST(ColumnSums, OfValuesThatAreNotFiniteAreNot) {
    std::vector<float> values(20, 1e38F);
    EXPECT_NEAR(sum_of_squares(std::span<const float>(values)), 20e76, 1e72);
    values[3] = std::nanf("");
    EXPECT_TRUE(std::isnan(sum_of_squares(std::span<const float>(values))));
}

}  // namespace
}  // namespace sotto
