#include "sotto/learn/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::all_rows;

TEST(SplitRows, GivesDisjointAscendingPartsThatCoverAllRows) {
    for (const Eigen::Index records : {2, 3, 10, 1001})
        for (const double fraction : {1e-9, 0.2, 0.5, 1 - 1e-9}) {
            const Split split = split_rows(records, fraction, 4);
            EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
            EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
            EXPECT_FALSE(split.train.empty());
            EXPECT_FALSE(split.test.empty());
            std::vector<Eigen::Index> merged;
            std::merge(split.train.begin(),
                       split.train.end(),
                       split.test.begin(),
                       split.test.end(),
                       std::back_inserter(merged));
            EXPECT_EQ(merged, all_rows(records));
        }
    EXPECT_EQ(split_rows(1000, 0.2, 1).test.size(), 200U);
    EXPECT_EQ(split_rows(1000, 0.2, 1).test, split_rows(1000, 0.2, 1).test);
    EXPECT_NE(split_rows(1000, 0.2, 1).test, split_rows(1000, 0.2, 2).test);
}

TEST(SplitRows, RefusesFractionsOutsideTheOpenUnitInterval) {
    for (const double fraction : {0.0, 1.0, -0.1, 2.0, std::nan("")})
        EXPECT_THROW((void)split_rows(10, fraction, 1), ConfigError) << fraction;
    EXPECT_THROW((void)split_rows(1, 0.5, 1), DataError);
}

}  // namespace
}  // namespace sotto
