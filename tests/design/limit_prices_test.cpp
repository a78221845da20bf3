#include "design/limit_prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "design/coalition_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::VectorXd;

/// A ring of four: agent 0 shares seeds with 1 and 3, not with 2.
class LimitPricesOfARing : public ::testing::Test {
  protected:
    LimitPricesOfARing() {
        for (int u = 0; u < 4; ++u) prices_.add({u}, 1);
    }

    /// Follows the same excess for all coalitions but `large` for the one of `most`.
    LimitPrices::Far pass(int most, double large, const LimitPrices::Step& step) {
        LimitPrices::Far far(4);
        priced_.clear();
        for (int c = 0; c < 4; ++c) {
            VectorXd excess = VectorXd::Constant(4, c == most ? large : 1);
            excess(c) = 0;
            priced_.push_back(prices_.follow(static_cast<std::size_t>(c), excess, step, far));
        }
        prices_.settle(far, step);
        return far;
    }

    GroupLayout layout_{
        4, edge_groups(make_graph(Topology::ring, 4)), GroupNoise::difference, false};
    LimitPrices prices_{layout_, VectorXd::Constant(4, 2)};
    std::vector<LimitPrices::Priced> priced_;
};

TEST_F(LimitPricesOfARing, AreEvenAmongThoseWhoShareSeeds) {
    pass(-1, 1, {});
    pass(-1, 1, {});
    for (int c = 0; c < 4; ++c) {
        const auto& [agents, prices] = priced_[static_cast<std::size_t>(c)];
        // The one opposite learns no more than the mean.
        EXPECT_EQ(agents,
                  (std::vector<int>{std::min((c + 1) % 4, (c + 3) % 4),
                                    std::max((c + 1) % 4, (c + 3) % 4)}));
        for (const double price : prices) EXPECT_EQ(price, 0.25);
    }
}

TEST_F(LimitPricesOfARing, GrowWithWhatALimitIsExceededBy) {
    const LimitPrices::Step step{.power = 2, .mean = 1.5};
    pass(1, 3, step);
    for (const double price : priced_[1].prices) EXPECT_DOUBLE_EQ(price, 0.25 * 4);
    for (const double price : priced_[0].prices) EXPECT_DOUBLE_EQ(price, 0.25 / 2.25);
    pass(1, 3, {.power = 2, .mean = 1.5, .negligible = 0.5});
    EXPECT_TRUE(priced_[0].agents.empty());
    EXPECT_FALSE(priced_[1].agents.empty());
}

TEST_F(LimitPricesOfARing, GrowAtMostTenfoldAtOnce) {
    pass(1, 1e6, {.power = 3});
    for (const double price : priced_[1].prices) EXPECT_DOUBLE_EQ(price, 2.5);
    pass(1, 1e-9, {.power = 3});
    EXPECT_DOUBLE_EQ(priced_[1].prices(0), 0.25);
}

TEST_F(LimitPricesOfARing, AreGivenToOthersThatLearnTooMuch) {
    const LimitPrices::Step step{.mean = 2, .negligible = 1e-3};
    const LimitPrices::Far far = pass(2, 5, step);
    EXPECT_EQ(far.coalition, (std::vector<int>{2, 3, 0, 1}));
    EXPECT_EQ(far.excess, VectorXd({{5, 1, 1, 1}}));
    EXPECT_EQ(priced_[2].agents, (std::vector<int>{1, 3}));
    pass(2, 5, step);
    EXPECT_EQ(priced_[2].agents, (std::vector<int>{0, 1, 3}));
    EXPECT_EQ(priced_[0].agents, (std::vector<int>{1, 3}));
    EXPECT_LT(priced_[2].prices(0), priced_[2].prices(1));
}

TEST(FarCoalitions, AreTheWorstOfAllParts) {
    LimitPrices::Far some(2), others(2);
    some.excess << 1, 3;
    some.coalition = {4, 5};
    others.excess << 2, 2;
    others.coalition = {6, 7};
    some.merge(others);
    EXPECT_EQ(some.excess, VectorXd({{2, 3}}));
    EXPECT_EQ(some.coalition, (std::vector<int>{6, 5}));
}

TEST(LimitPrices, BeginWithEverybodyWhoSharesNoSeeds) {
    const GroupLayout alone(3, {}, GroupNoise::difference, false);
    const GroupLayout ring(
        3, edge_groups(make_graph(Topology::ring, 3)), GroupNoise::difference, false);
    // Curious agents without friends, and nobody curious.
    for (const auto& [layout, coalition, agents] :
         {std::tuple{&alone, std::vector<int>{1}, std::vector<int>{0, 2}},
          {&ring, std::vector<int>{}, std::vector<int>{0, 1, 2}}}) {
        LimitPrices prices(*layout, VectorXd::Ones(3));
        prices.add(coalition, 1);
        LimitPrices::Far far(3);
        EXPECT_EQ(prices.follow(0, VectorXd::Ones(3), {}, far).agents, agents);
    }
}

}  // namespace
}  // namespace sotto
