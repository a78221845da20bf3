#include "views/participation_patterns.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Patterns = std::vector<std::vector<Eigen::Index>>;

TEST(ParticipationPatterns, AreTheRoundsACycleApart) {
    const std::vector<long> rounds{0, 1, 2, 3, 4};
    EXPECT_EQ(participation_patterns(rounds, {1}), (Patterns{{0, 1, 2, 3, 4}}));
    EXPECT_EQ(participation_patterns(rounds, {2}), (Patterns{{0, 2, 4}, {1, 3}}));
    EXPECT_EQ(participation_patterns(rounds, {3}), (Patterns{{0, 3}, {1, 4}, {2}}));
    EXPECT_EQ(participation_patterns(rounds, {1000}).size(), 5U);
}

TEST(ParticipationPatterns, GoByTrainingRounds) {
    const std::vector<long> again{0, 1, 2, 1, 2, 3};
    EXPECT_EQ(participation_patterns(again, {2}), (Patterns{{0, 2, 4}, {1, 3, 5}}));
    EXPECT_EQ(participation_patterns(again, {4}), (Patterns{{0}, {1, 3}, {2, 4}, {5}}));
}

}  // namespace
}  // namespace sotto
