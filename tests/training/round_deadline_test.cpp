#include "training/round_deadline.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(RoundDeadline, IsAFifthAboveWhatSixSeventhsOfMessagesTake) {
    EXPECT_DOUBLE_EQ(deadline_for({2}), 2.4);
    std::vector<double> arrivals;
    for (int i = 20; i >= 0; --i) arrivals.push_back(i);  // the 0.85 quantile is 17
    EXPECT_DOUBLE_EQ(deadline_for(arrivals), 1.2 * 17);
}

TEST(RoundDeadline, DoesNotDependOnTheSlowestOrOnWhatAFewSayOfThem) {
    std::vector<double> arrivals(20, 0.01);
    arrivals[3] = arrivals[7] = 1000;
    EXPECT_DOUBLE_EQ(deadline_for(arrivals), 0.012);
    arrivals[4] = 1000;
    EXPECT_DOUBLE_EQ(deadline_for(arrivals), 0.012) << "three of twenty";
    arrivals[5] = 1000;
    EXPECT_GT(deadline_for(arrivals), 1) << "a fifth";
}

}  // namespace
}  // namespace sotto
