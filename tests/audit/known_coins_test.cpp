#include "audit/known_coins.hpp"

#include <gtest/gtest.h>

#include "audit/canary_record_fixtures.hpp"

namespace sotto::test {
namespace {

using Eigen::Index;

/// Coins of the canaries that batches draw.
Eigen::MatrixXd drawn_by(BatchSampler batches, long trials, long rounds) {
    Eigen::MatrixXd drawn = Eigen::MatrixXd::Zero(rounds, trials);
    for (Index t = 0; t < rounds; ++t)
        for (const Index row : batches.rows(static_cast<std::uint64_t>(t)))
            if (row < trials) drawn(t, row) = 1;
    return drawn;
}

TEST(PublicCoins, AreThoseThatASeedGives) {
    const CanaryRecords canaries{.target = 2, .seed = 9, .trials = 400, .members = {}};
    const auto coins = public_coins(canaries, 9, 0.1, 160, 5);
    ASSERT_EQ(coins.size(), 2U);
    EXPECT_EQ(coins[0].drawn,
              drawn_by(sampled_batches(1600, 0.1, reproducible_coins(9, 0, 2)), 400, 5));
    EXPECT_EQ(coins[1].drawn, drawn_by(BatchSampler::uniform(1600, 160, 9, 2), 400, 5));
    EXPECT_NEAR(coins[0].drawn.mean(), 0.1, 0.04);
}

TEST(MemberCoins, AreReadOffTheirGradients) {
    AuditConfig config = canary_config("ldp", "coalition:1,3");
    config.train.plan.rounds = 6;
    CanaryPipeline pipeline(config);
    const TemporaryFolder folder;
    pipeline.record(folder.path("views"), {}, 7);
    const auto coins = member_coins(pipeline.canaries(), folder.path("views"), 6);
    ASSERT_EQ(coins.size(), 2U);
    EXPECT_EQ(coins[1].whose, "coins of agent 3");
    for (const int member : {1, 3})
        EXPECT_EQ(
            coins[member == 1 ? 0 : 1].drawn,
            drawn_by(sampled_batches(
                         1600, pipeline.account().probability, reproducible_coins(7, 0, member)),
                     400,
                     6));
    // Of another number of rounds.
    EXPECT_THROW((void)member_coins(pipeline.canaries(), folder.path("views"), 3), DataError);
    EXPECT_THROW((void)member_coins(pipeline.canaries(), folder.path("nothing"), 6), DataError);
}

}  // namespace
}  // namespace sotto::test
