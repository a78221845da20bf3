#include "core/value_range.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/numbers.hpp"

namespace sotto {
namespace {

TEST(RangedNorm, IsRightWhereSquaresOverflowOrAreLost) {
    for (const bool l1 : {false, true})
        for (const double scale : {1e-320, 1e-308, 1e-200, 1e-80, 1.0, 1e80, 1e200, 4e307}) {
            Eigen::VectorXd values(3);
            values << 3 * scale, 0, -4 * scale;
            const Eigen::VectorXd before = values;
            const auto norm = ranged_norm(values, l1);
            ASSERT_TRUE(norm);
            const double back = std::ldexp(norm->value / (l1 ? 7 : 5), norm->exponent);
            EXPECT_NEAR(back / scale, 1, scale < 1e-300 ? 1e-3 : 1e-14) << scale;
            EXPECT_EQ(std::ldexp(values(0), norm->exponent), before(0));
            EXPECT_EQ(std::ldexp(values(2), norm->exponent), before(2));
            EXPECT_EQ(norm->exponent == 0, scale > 1e-91 && scale < 1e90) << scale;
            EXPECT_TRUE(norm->longer_than(scale));
            EXPECT_FALSE(std::isfinite(8 * scale) && norm->longer_than(8 * scale));
        }
}

TEST(RangedNorm, OfNothingAndOfZerosIsZero) {
    Eigen::VectorXd none(0), zeros = Eigen::VectorXd::Zero(3);
    EXPECT_EQ(ranged_norm(none, false)->value, 0);
    EXPECT_EQ(ranged_norm(zeros, true)->value, 0);
}

TEST(RangedNorm, IsNoneOfWhatIsNotFinite) {
    for (const double bad : {not_a_number, infinity, -infinity}) {
        Eigen::VectorXd values(3);
        values << 1, bad, 1e300;
        EXPECT_FALSE(ranged_norm(values, false));
        EXPECT_FALSE(ranged_norm(values, true));
        EXPECT_EQ(values(2), 1e300);
    }
}

TEST(LimitValues, BringsEachToTheNearestThatIsAllowed) {
    std::vector<double> values{1, -5, 5.5, infinity, -infinity, not_a_number, -6};
    EXPECT_EQ(limit_values(values, 5), 5U);
    EXPECT_EQ(values, (std::vector<double>{1, -5, 5, 5, -5, 0, -5}));
    EXPECT_EQ(limit_values(values, 5), 0U);
}

TEST(FirstBeyond, FindsThePlaceOfWhatIsNotInRange) {
    EXPECT_FALSE(first_beyond({}, 1));
    EXPECT_FALSE(first_beyond(std::vector<double>{1, -1, 0, 5e-324}, 1));
    EXPECT_EQ(first_beyond(std::vector<double>{1, -1.5, 2}, 1), 1U);
    EXPECT_EQ(first_beyond(std::vector<double>{1, 0, not_a_number}, 1), 2U);
    EXPECT_EQ(first_beyond(std::vector<double>{-infinity}, 1e308), 0U);
}

TEST(FirstBeyond, FindsItInEveryPlaceOfEverySize) {
    for (std::size_t size = 1; size < 150; ++size) {
        std::vector<double> values(size, -1);
        EXPECT_FALSE(first_beyond(values, 1)) << size;
        for (std::size_t place = 0; place < size; ++place)
            for (const double bad : {1.5, -1.5, infinity, not_a_number}) {
                values[place] = bad;
                EXPECT_EQ(first_beyond(values, 1), place) << size << ' ' << bad;
                values[place] = -1;
            }
    }
}

}  // namespace
}  // namespace sotto
