#include "design/seed_group_design.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;

// Solutions are shared between designs of one process: only by those that ask for the same.
TEST(DesignOfSeedGroups, IsTheOneOfItsOwnInputHoweverManyWereMadeBefore) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6, 2, 0.6);
    const Setting setting{{"random", graph},
                          MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    DesignInput base = setting.input(30);
    base.seed_groups = make_seed_groups("all-pairs", *base.graph);
    base.coalition_size = 1;
    std::vector<DesignInput> inputs(7, base);
    inputs[1].utility.horizon = 3;
    inputs[2].kappa(4) = 2;
    inputs[3].coalition_size = 2;
    inputs[4].common_variance = true;
    inputs[5].seed_groups = make_seed_groups("circulant:2", *base.graph);
    inputs[6].variance_cap = 1.3;
    for (const char* mechanism : {"pairs", "corn-hbc"}) {
        std::vector<Design> first;
        for (const DesignInput& input : inputs) first.push_back(design_of(mechanism, input));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            SCOPED_TRACE(fmt::format("input {}", i));
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_GT(std::abs(first[i].objective - first[j].objective),
                          1e-3 * first[i].objective)
                    << "cannot be told from " << j;
            DesignInput louder = inputs[i];  // the same problem for half the epsilon
            louder.kappa /= 4;
            const Design again = design_of(mechanism, louder);
            EXPECT_EQ(again.objective, first[i].objective);
            EXPECT_EQ(again.plan.scale, 2 * first[i].plan.scale);
            ASSERT_EQ(again.plan.rows.size(), first[i].plan.rows.size());
            for (std::size_t row = 0; row < again.plan.rows.size(); ++row)
                EXPECT_EQ(again.plan.rows[row].coefficients, first[i].plan.rows[row].coefficients);
        }
    }
    EXPECT_NE(design_of("pairs", base).objective, design_of("corn-hbc", base).objective);
}

TEST(DesignOfSeedGroups, SaysWhatToChooseWhereTheProblemIsTooLarge) {
    const auto message = [](int agents, const std::string& groups, double gap) {
        const Graph graph = make_graph(Topology::ring, agents);
        const Setting setting{{"ring", graph},
                              MixingMatrix::from_rule(graph, MixingRule::metropolis)};
        DesignInput input = setting.input(5);
        input.coalition_size = 1;
        input.gap = gap;
        input.seed_groups = make_seed_groups(groups, graph);
        return message_of<ConfigError>(
            [&] { (void)solve_for_seed_groups(input, GroupNoise::difference); });
    };
    EXPECT_EQ(message(120, "all-pairs", 1e-4),
              "seed-groups: 7260 unknowns are too many to optimise (at most 6000); use fewer or "
              "smaller groups (--seed-groups edges, or a FILE), or --mechanism decor");
    EXPECT_EQ(message(250, "circulant:44", 1e-4),
              "coalition-size: 1 of 250 agents with 5750 unknowns are too much to optimise (3 GB); "
              "choose fewer seed groups (--seed-groups circulant:2), or --mechanism decor");
    EXPECT_EQ(message(1100, "all-pairs", 0.01),
              "seed-groups: 604450 groups among 1100 agents are too many to optimise against "
              "coalitions of 1 (3e+12 multiplications a step, at most 1e+12); choose fewer "
              "(--seed-groups nearest:10), or --mechanism decor");
}

TEST(DesignOfSeedGroups, HasTheNoiseOfItsSolution) {
    const Setting setting = settings({6}).back();
    DesignInput input = setting.input(20, Eigen::VectorXd::Constant(6, 0.04));
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("all-pairs", setting.named.graph);
    const CoalitionSolution solution = solve_for_seed_groups(input, GroupNoise::free);
    Eigen::MatrixXd covariance = solution.private_variance.asDiagonal();
    std::vector<Eigen::MatrixXd> factors;
    for (std::size_t k = 0; k < input.seed_groups.size(); ++k) {
        const auto& members = input.seed_groups[k].members;
        covariance(members, members) += solution.group_covariance[k];
        factors.push_back(solution.group_covariance[k].llt().matrixL());
    }
    const Design design = make_seed_group_design("example", input, solution, factors);
    EXPECT_TRUE(spatial_covariance(design.plan).isApprox(covariance / 0.04, 1e-9));
    EXPECT_EQ(design.plan.mechanism, "example");
    EXPECT_EQ(design.plan.coalition_size, 1);
    EXPECT_EQ(design.objective, solution.value);
    EXPECT_EQ(design.lower_bound, solution.lower_bound);
}

using namespace test;

TEST(MakeGroupPlan, AddsPrivateNoiseAndWhatTheFactorsOfTheGroupsSay) {
    const VectorXd private_variance = random_kappa(5, 3);
    const std::vector<SeedGroup> groups{{{0, 2, 3}}, {{1, 4}}, {{2, 4}}};
    const std::vector<MatrixXd> factors{
        MatrixXd::Random(3, 2), MatrixXd(2, 0), MatrixXd::Random(2, 1)};
    NoisePlan plan = make_group_plan("example", private_variance, groups, factors);
    plan.scale = 1;
    plan.validate();
    MatrixXd covariance = private_variance.asDiagonal();
    for (std::size_t k = 0; k < groups.size(); ++k)
        covariance(groups[k].members, groups[k].members) += factors[k] * factors[k].transpose();
    EXPECT_TRUE(spatial_covariance(plan).isApprox(covariance, 1e-12));
    // A group without noise has no seed to deal.
    ASSERT_EQ(plan.groups.size(), 7U);
    EXPECT_EQ(plan.groups[5].members, groups[0].members);
    EXPECT_EQ(plan.groups[6].members, groups[2].members);
    EXPECT_EQ(plan.streams.size(), 5U + 2U + 1U);
}

TEST(BlockFactor, LeavesOutNoMoreThanIsNegligible) {
    const MatrixXd root = MatrixXd::Random(5, 2);
    MatrixXd block = root * root.transpose();
    MatrixXd factor = block_factor(block, 1e-9);
    EXPECT_EQ(factor.cols(), 2);
    EXPECT_TRUE((factor * factor.transpose()).isApprox(block, 1e-12));
    block.diagonal().array() += 1e-3;
    factor = block_factor(block, 1e-2);
    EXPECT_EQ(factor.cols(), 2);
    const VectorXd missing = (block - factor * factor.transpose()).diagonal();
    EXPECT_GE(missing.minCoeff(), -1e-12);
    EXPECT_LE(missing.maxCoeff(), 1e-3 * (1 + 1e-9));
    EXPECT_EQ(block_factor(MatrixXd::Zero(3, 3), 1e-9).cols(), 0);
}

TEST(DifferenceFactor, IsOppositeAtItsTwoEnds) {
    const MatrixXd factor = difference_factor(0.3);
    EXPECT_EQ(factor(0, 0), -factor(1, 0));
    EXPECT_NEAR(factor(0, 0) * factor(0, 0), 0.3, 1e-15);
    EXPECT_EQ(difference_factor(0).cols(), 0);
}

using namespace test;

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
