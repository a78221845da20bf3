#include "training/stop_grace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sotto {
namespace {

TEST(StopGrace, AdvisesOnceWhereTheTimeIsShortTwiceInARow) {
    StopGrace grace(1);
    EXPECT_FALSE(grace.advice(0.5, 0.4));
    EXPECT_FALSE(grace.advice(3, 0));  // one evaluation, say
    EXPECT_FALSE(grace.advice(0.5, 0.4));
    EXPECT_FALSE(grace.advice(0.8, 0.4));
    const auto advice = grace.advice(0.8, 0.4);
    ASSERT_TRUE(advice);
    EXPECT_NE(advice->find("up to 1.2 s"), std::string::npos) << *advice;
    EXPECT_NE(advice->find("after 1 s"), std::string::npos) << *advice;
    EXPECT_NE(advice->find("OMPI_MCA_odls_base_sigkill_timeout=3"), std::string::npos) << *advice;
    EXPECT_FALSE(grace.advice(0.8, 0.4));
}

TEST(StopGrace, AdvisesBeforeTheFirstRoundWhereComputingAloneTakesTooLong) {
    StopGrace grace(1);
    EXPECT_FALSE(grace.advice_before(0.5));
    const auto advice = grace.advice_before(0.6);
    ASSERT_TRUE(advice);
    EXPECT_NE(advice->find("up to 1.2 s"), std::string::npos) << *advice;
    EXPECT_FALSE(grace.advice_before(0.6));
    EXPECT_FALSE(grace.advice(9, 9)) << "said already";
    EXPECT_FALSE(grace.advice(9, 9)) << "said already";
    EXPECT_FALSE(StopGrace(1).advice_before(std::nan("")));
    EXPECT_FALSE(StopGrace(std::nullopt).advice_before(9));
}

TEST(StopGrace, SaysNothingWhereNobodyKillsOrTheTimeIsNoNumber) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(StopGrace(std::nullopt).advice(100, 100));
        StopGrace grace(1);
        EXPECT_FALSE(grace.advice(std::nan(""), 0));
        EXPECT_FALSE(grace.advice(std::nan(""), 0));
    }
    // A peer that says it takes for ever.
    StopGrace grace(1);
    EXPECT_FALSE(grace.advice(std::numeric_limits<double>::infinity(), 0));
    EXPECT_TRUE(grace.advice(std::numeric_limits<double>::infinity(), 0));
}

}  // namespace
}  // namespace sotto
