#include <gtest/gtest.h>

#include "account/bounds/bound_fixtures.hpp"

namespace sotto {
namespace {

using test::CancellingTraining;

TEST(StationarityBound, IsWhereTheDescentOfTheorem2StopsHelping) {
    CancellingTraining training("zip-dl");
    training.smoothness = 0.8;
    const double floor = stationarity_record().of_training(training.input()).value();
    const double added = descent_record().of_training(training.input()).value();
    // A round descends by mu/2 (1 - 2 mu delta) |gradient|^2 and adds `added`.
    EXPECT_NEAR(0.1 * (1 - 2 * 0.2 * 0.8) * floor, added, 1e-12 * added);
}

TEST(StationarityBound, NeedsASmoothnessAndAStepThatDescends) {
    CancellingTraining training("homomorphic");
    EXPECT_FALSE(stationarity_record().of_training(training.input()));
    training.smoothness = 2.4;
    EXPECT_TRUE(stationarity_record().of_training(training.input()));
    training.smoothness = 2.6;
    EXPECT_FALSE(stationarity_record().of_training(training.input()));
}

}  // namespace
}  // namespace sotto
