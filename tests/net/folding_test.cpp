#include "net/folding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sotto {
namespace {

TEST(FoldInto, AddsOrTakesTheLarger) {
    const Eigen::Vector3d values(4, -5, 0.5);
    Eigen::VectorXd sum = Eigen::Vector3d(1, 2, 3);
    fold_into(sum, values, Fold::sum);
    EXPECT_EQ(sum, Eigen::Vector3d(5, -3, 3.5));
    Eigen::VectorXd largest = Eigen::Vector3d(1, 2, 3);
    fold_into(largest, values, Fold::maximum);
    EXPECT_EQ(largest, Eigen::Vector3d(4, 2, 3));
}

TEST(FoldInto, LosesNoNotANumber) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const bool first : {true, false})
        for (const Fold fold : {Fold::sum, Fold::maximum}) {
            Eigen::VectorXd total = Eigen::Vector2d(first ? nan : 7, 1);
            fold_into(total, Eigen::Vector2d(first ? 7 : nan, 2), fold);
            EXPECT_TRUE(std::isnan(total[0]));
            EXPECT_FALSE(std::isnan(total[1]));
        }
}

TEST(AddWords, AddsModulo2To64) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::vector<std::uint64_t> sum{1, most, 5};
    add_words(std::vector<std::uint64_t>{2, 3, most}, sum);
    EXPECT_EQ(sum, (std::vector<std::uint64_t>{3, 2, 4}));
}

}  // namespace
}  // namespace sotto
