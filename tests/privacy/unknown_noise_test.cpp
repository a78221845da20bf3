#include "privacy/unknown_noise.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

/// Agents 0 and 1 share a stream; all three have one of their own.
NoisePlan small_plan() {
    NoisePlan plan = blank_plan(3, 2);
    add_stream(plan, {0}, {1.0});
    add_stream(plan, {1}, {3.0});
    add_stream(plan, {2}, {0.5});
    add_stream(plan, {0, 1}, {1.0, -1.0});
    return plan;
}

TEST(UnknownStreams, AreThoseOfWhichNoMemberHoldsTheSeed) {
    const NoisePlan plan = small_plan();
    EXPECT_EQ(unknown_streams(plan, {}), (std::vector<bool>{true, true, true, true}));
    EXPECT_EQ(unknown_streams(plan, std::vector<int>{0}),
              (std::vector<bool>{false, true, true, false}));
    EXPECT_EQ(unknown_streams(plan, std::vector<int>{1, 2}),
              (std::vector<bool>{true, false, false, false}));
}

TEST(UnknownCoefficients, LeaveOutMembersAndTheirStreams) {
    const NoisePlan plan = small_plan();
    Eigen::MatrixXd expected(3, 4);
    expected << 2, 0, 0, 2, 0, 6, 0, -2, 0, 0, 1, 0;
    EXPECT_EQ(Eigen::MatrixXd(unknown_coefficients(plan, {})), expected);
    expected.col(0).setZero();
    expected.col(3).setZero();
    EXPECT_EQ(Eigen::MatrixXd(unknown_coefficients(plan, std::vector<int>{0})), expected);
}

TEST(OuterProduct, IsTheSameOfFewAndOfManyCoefficients) {
    SeededRandom random(3, "outer product");
    for (const double share : {0.01, 0.5}) {
        Eigen::MatrixXd dense = Eigen::MatrixXd::NullaryExpr(
            30, 40, [&] { return random.uniform() < share ? random.normal() : 0.0; });
        EXPECT_TRUE(outer_product(dense.sparseView()).isApprox(dense * dense.transpose(), 1e-14));
    }
}

TEST(UnknownPrecision, IsThatOfWhatTheCoalitionLeaves) {
    const NoisePlan plan = small_plan();
    // Between agents 0 and 1 the covariance is [[8, -4], [-4, 40]].
    const Eigen::VectorXd outside = unknown_precision(plan, {});
    EXPECT_TRUE(relatively_near(outside(0), 40.0 / 304, 1e-14));
    EXPECT_TRUE(relatively_near(outside(1), 8.0 / 304, 1e-14));
    EXPECT_DOUBLE_EQ(outside(2), 1);
    const Eigen::VectorXd against_zero = unknown_precision(plan, std::vector<int>{0});
    EXPECT_EQ(against_zero(0), infinity);
    EXPECT_DOUBLE_EQ(against_zero(1), 1.0 / 36);
}

}  // namespace
}  // namespace sotto
