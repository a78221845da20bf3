#include "privacy/message_noise.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "privacy/message_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(IsSpatial, ExactlyWhereOneGaussianMessageGoesToAll) {
    NoisePlan plan = private_plan({1, 2});
    EXPECT_TRUE(is_spatial(plan));
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_FALSE(is_spatial(plan));
    EXPECT_FALSE(is_spatial(one_sender(Eigen::Vector3d(0, 1, 2), StreamDistribution::gaussian)));
}

TEST(MessagePrecision, OfNoiseForEveryReceiverIsThatOfAllMessagesTogether) {
    SeededRandom random(4, "message noise");
    for (int receivers = 2; receivers < 7; ++receivers) {
        const Eigen::MatrixXd q = Eigen::MatrixXd::NullaryExpr(
            receivers, receivers + 1, [&] { return random.uniform() - 0.5; });
        const Eigen::MatrixXd others = q.bottomRows(receivers - 1);
        const Eigen::VectorXd ones = Eigen::VectorXd::Ones(receivers - 1);
        const double expected = ones.dot((others * others.transpose()).inverse() * ones);
        const NoisePlan plan = one_sender(q, StreamDistribution::gaussian);
        EXPECT_TRUE(relatively_near(message_precision(plan, {})(0), expected, 1e-9));
        EXPECT_EQ(message_precision(plan, std::vector<int>{0})(0), infinity);
    }
}

TEST(MessagePrecision, IsInfiniteWhereMessagesOfOneRoundCancelTheirNoise) {
    Eigen::MatrixXd q(3, 1);
    q << 0, 1, -1;
    EXPECT_EQ(message_precision(one_sender(q, StreamDistribution::gaussian), {})(0), infinity);
    q << 0, 1, 1;
    EXPECT_DOUBLE_EQ(message_precision(one_sender(q, StreamDistribution::gaussian), {})(0), 1);
}

TEST(MessagePrecision, OfLaplaceNoiseIsTheSquaredInverseScale) {
    Eigen::MatrixXd q(3, 1);
    q << -2, 0.5, 0.5;
    EXPECT_EQ(message_precision(one_sender(q, StreamDistribution::laplace), {})(0), 4);
    q << -2, 0.5, 0.25;
    EXPECT_THROW((void)message_precision(one_sender(q, StreamDistribution::laplace), {}),
                 PrivacyError);
}

TEST(OwnCopyWeight, SaysWhichCombinationOfTheOthersItIs) {
    EXPECT_EQ(own_copy_weight(private_plan({1, 2})), Eigen::Vector2d::Ones());
    // q_self = -2 z, the others get z: beta sums to -2, however it is shared.
    EXPECT_NEAR(
        own_copy_weight(one_sender(Eigen::Vector3d(-2, 1, 1), StreamDistribution::gaussian))(0),
        -2,
        1e-12);
    Eigen::MatrixXd q(3, 2);
    q << 3, -1, 1, 0, 0, 1;  // q_self = 3 q_1 - q_2
    EXPECT_NEAR(own_copy_weight(one_sender(q, StreamDistribution::gaussian))(0), 2, 1e-12);
    q << 1, 1, 1, 0, 2, 0;  // nobody else sees the second stream
    EXPECT_THROW((void)own_copy_weight(one_sender(q, StreamDistribution::gaussian)), PrivacyError);
}

}  // namespace
}  // namespace sotto
