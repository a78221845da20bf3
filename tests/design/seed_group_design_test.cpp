#include "design/seed_group_design.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
