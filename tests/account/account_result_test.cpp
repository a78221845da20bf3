#include "account/account_result.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numbers.hpp"

namespace sotto {
namespace {

PairFigure pair_of(int observer, int target, int distance, double epsilon) {
    PairFigure pair;
    pair.observers = {observer};
    pair.target = target;
    pair.distance = distance;
    pair.guarantee = {PrivacyLoss::gaussian(epsilon / 2), 1e-5, epsilon};
    pair.eavesdropper = {PrivacyLoss::gaussian(3), 1e-5, 10.0 + target};
    pair.argument = {"exact", true};
    return pair;
}

TEST(AccountOfPairs, SortsThemWorstFirst) {
    const AccountResult result =
        account_of_pairs("node:0", {pair_of(0, 1, 1, 2), pair_of(0, 2, 2, 5), pair_of(0, 3, 1, 3)});
    EXPECT_EQ(result.view, "node:0");
    EXPECT_EQ(result.pairs[0].target, 2);
    EXPECT_EQ(result.pairs[2].target, 1);
    EXPECT_DOUBLE_EQ(result.mean_epsilon, 10.0 / 3);
    EXPECT_FALSE(result.breaks_protection());
    EXPECT_TRUE(result.is_guarantee());
}

TEST(AccountOfPairs, AddsUpTheRowsOfEveryDistance) {
    std::vector<PairFigure> pairs{
        pair_of(0, 1, 1, 2), pair_of(0, 2, 2, 1), pair_of(1, 0, 1, 4), pair_of(2, 4, -1, 9)};
    for (PairFigure& pair : pairs)
        pair.published = {std::nullopt,
                          Guarantee{PrivacyLoss::gaussian(4), 1e-5, 3 * pair.guarantee.epsilon}};
    const AccountResult result = account_of_pairs("all-nodes", pairs);
    ASSERT_EQ(result.by_distance.size(), 2U) << "pairs without a distance are in no row";
    const DistanceRow& near = result.by_distance[0];
    EXPECT_EQ(near.distance, 1);
    EXPECT_EQ(near.pairs, 2);
    EXPECT_EQ(near.epsilon.min, 2);
    EXPECT_EQ(near.epsilon.max, 4);
    EXPECT_EQ(near.epsilon.mean, 3);
    EXPECT_EQ(near.epsilon.ldp, 10.5);
    EXPECT_EQ(near.epsilon.published, (std::vector<std::optional<double>>{std::nullopt, 9.0}));
    EXPECT_EQ(near.renyi.min, 1) << "mu is half of epsilon here";
    EXPECT_EQ(near.renyi.max, 4);
    EXPECT_EQ(near.renyi.mean, 2.5);
    EXPECT_EQ(near.renyi.ldp, 9);
    EXPECT_EQ(near.renyi.published, (std::vector<std::optional<double>>{std::nullopt, 16.0}));
    EXPECT_TRUE(result.has_renyi());
    EXPECT_FALSE(result.has_published(0));
    EXPECT_TRUE(result.has_published(1));
    EXPECT_FALSE(result.has_published(2));
    EXPECT_EQ(result.by_distance[1].pairs, 1);
}

TEST(AccountOfPairs, SaysThatAProtectionIsBroken) {
    const AccountResult result =
        account_of_pairs("node:0", {pair_of(0, 1, 1, 2), pair_of(0, 2, 1, infinity)});
    EXPECT_TRUE(result.breaks_protection());
    EXPECT_EQ(result.by_distance[0].infinite, 1);
    EXPECT_EQ(result.mean_epsilon, infinity);
}

TEST(AccountOfPairs, HasNoDivergenceOfLossesWithoutMu) {
    PairFigure pair = pair_of(0, 1, 1, 2);
    pair.guarantee.loss = PrivacyLoss::pure(2);
    const AccountResult result = account_of_pairs("node:0", {pair, pair_of(0, 2, 2, 5)});
    EXPECT_FALSE(result.has_renyi());
    EXPECT_TRUE(std::isnan(result.by_distance[0].renyi.mean));
    EXPECT_EQ(result.by_distance[1].renyi.mean, 6.25);
}

TEST(AccountOfPairs, OfNobodyIsEmpty) {
    const AccountResult result = account_of_pairs("all-nodes", {});
    EXPECT_EQ(result.mean_epsilon, 0);
    EXPECT_FALSE(result.breaks_protection());
    EXPECT_TRUE(result.is_guarantee());
}

}  // namespace
}  // namespace sotto
