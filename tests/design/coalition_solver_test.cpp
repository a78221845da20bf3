#include "sotto/design/coalition_solver.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/design/spatial_solver.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// R^(I) of a solution; agents outside I only.
MatrixXd unknown_to(const Coalition& coalition,
                    const CoalitionSolution& solution,
                    const std::vector<SeedGroup>& groups) {
    const MatrixXd covariance = covariance_unknown_to(
        coalition, solution.private_variance, solution.group_covariance, groups);
    const std::vector<int> outside = agents_outside(coalition, covariance.rows());
    return covariance(outside, outside);
}

MatrixXd whole(const CoalitionSolution& solution, const std::vector<SeedGroup>& groups) {
    return unknown_to({}, solution, groups);
}

TEST(SolveCoalitionCovariance, ReproducesTheGoldenPairDesigns) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/covariance.json");
    const auto golden = nlohmann::json::parse(file);
    int designs = 0;
    for (const auto& entry : golden["graphs"]) {
        if (!entry.contains("hbc")) continue;
        const Graph graph = Graph::from_edges(entry["n"], entry["edges"].get<std::vector<Edge>>());
        const VectorXd kappa = VectorXd::Ones(graph.agents());
        for (const auto& row : entry["hbc"]) {
            const MatrixXd utility = horizon_utility(graph, row["horizon"]);
            for (const bool common : {false, true})
                for (const bool edges : {false, true}) {
                    const std::string name = std::string(edges ? "edge_seeds" : "all_pair_seeds") +
                                             (common ? "_common" : "");
                    SCOPED_TRACE(fmt::format("{} q={} horizon={} {}",
                                             entry["name"].get<std::string>(),
                                             row["q"].get<int>(),
                                             row["horizon"].get<int>(),
                                             name));
                    CoalitionOptions options;
                    options.coalition_size = row["q"];
                    options.common_variance = common;
                    const CoalitionSolution found = solve_coalition_covariance(
                        utility,
                        kappa,
                        edges ? edge_groups(graph) : all_pairs(graph.agents()),
                        GroupNoise::difference,
                        options);
                    EXPECT_TRUE(relatively_near(found.value, row[name], 2e-5));
                    EXPECT_LE(found.relative_gap(), 2e-5);
                    EXPECT_LE(found.lower_bound, row[name].get<double>() * (1 + 1e-6));
                    ++designs;
                }
        }
    }
    EXPECT_EQ(designs, 48);
}

TEST(SolveCoalitionCovariance, ProtectsEveryAgentFromEveryCoalitionAndCostsWhatItSays) {
    for (const auto& [name, graph] : sample_graphs({5, 8})) {
        const MatrixXd utility = horizon_utility(graph, 20);
        const VectorXd kappa = random_kappa(graph.agents(), 3);
        for (const int q : {0, 1, 2})
            for (const auto shape : {GroupNoise::difference, GroupNoise::free}) {
                SCOPED_TRACE(fmt::format("{} q={} free={}", name, q, shape == GroupNoise::free));
                const auto groups =
                    shape == GroupNoise::free ? neighbourhoods(graph) : all_pairs(graph.agents());
                CoalitionOptions options;
                options.coalition_size = q;
                const CoalitionSolution found =
                    solve_coalition_covariance(utility, kappa, groups, shape, options);
                double tightest = 0;
                for_each_coalition(graph.agents(), q, [&](const std::vector<int>& coalition) {
                    const VectorXd precision = precision_of(unknown_to(coalition, found, groups));
                    Eigen::Index i = 0;
                    for (int u = 0; u < graph.agents(); ++u) {
                        if (std::find(coalition.begin(), coalition.end(), u) != coalition.end())
                            continue;
                        EXPECT_LE(precision(i), kappa(u) * (1 + 1e-9));
                        tightest = std::max(tightest, precision(i) / kappa(u));
                        ++i;
                    }
                });
                EXPECT_NEAR(tightest, 1, 1e-9);  // no noise is wasted
                EXPECT_TRUE(
                    relatively_near(cost(utility, whole(found, groups)), found.value, 1e-9));
                EXPECT_LE(found.lower_bound, found.value);
                EXPECT_LE(found.relative_gap(), found.capped ? 1e-2 : 2e-5);
            }
    }
}

TEST(SolveCoalitionCovariance, WithOneGroupAndNoColludersIsTheOptimalCovariance) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10);
    const MatrixXd utility = horizon_utility(graph, 10);
    const VectorXd kappa = random_kappa(10, 1);
    CoalitionOptions options;
    options.coalition_size = 0;
    options.relative_gap = 1e-6;
    const CoalitionSolution found =
        solve_coalition_covariance(utility,
                                   kappa,
                                   std::vector<SeedGroup>{{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}},
                                   GroupNoise::free,
                                   options);
    EXPECT_TRUE(relatively_near(found.value, solve_spatial_covariance(utility, kappa).value, 2e-6));
}

TEST(SolveCoalitionCovariance, IsIndependentNoiseWithoutGroupsOrWithOneHonestAgent) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7);
    const MatrixXd utility = horizon_utility(graph, 10);
    const VectorXd kappa = random_kappa(7, 2);
    const double independent = utility.diagonal().cwiseQuotient(kappa).sum();
    CoalitionOptions options;
    options.relative_gap = 1e-6;
    const auto none =
        solve_coalition_covariance(utility, kappa, {}, GroupNoise::difference, options);
    EXPECT_TRUE(relatively_near(none.value, independent, 1e-6));
    options.coalition_size = 6;
    const auto alone =
        solve_coalition_covariance(utility, kappa, all_pairs(7), GroupNoise::difference, options);
    EXPECT_TRUE(relatively_near(alone.value, independent, 2e-6));
    EXPECT_TRUE(relatively_near(alone.lower_bound, independent, 2e-6));
}

TEST(SolveCoalitionCovariance, MeetsAnyVarianceCap) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 2);
    const MatrixXd utility = horizon_utility(graph, 10);
    for (const bool common : {false, true})
        for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free}) {
            double before = infinity;
            for (const double cap : {1.001, 1.05, 1.25, 1.35, 1.5, 2.0}) {
                SCOPED_TRACE(fmt::format("cap {}, common {}", cap, common));
                CoalitionOptions options;
                options.variance_cap = cap;
                options.common_variance = common;
                const auto found = solve_coalition_covariance(
                    utility, VectorXd::Ones(8), all_pairs(8), shape, options);
                EXPECT_LE(found.relative_gap(), 1e-4);
                EXPECT_LT(found.value, before);  // more room, less of it
                before = found.value;
                VectorXd variance = found.private_variance;
                const auto pairs = all_pairs(8);
                for (std::size_t k = 0; k < pairs.size(); ++k)
                    variance(pairs[k].members) += found.group_covariance[k].diagonal();
                EXPECT_LE(variance.maxCoeff(), cap * (1 + 1e-4));
            }
        }
    CoalitionOptions options;
    options.variance_cap = 1.5;
    options.common_variance = true;
    VectorXd kappa = VectorXd::Ones(8);
    kappa(3) = 2;  // agent 3 is allowed 0.75, the others need 1
    EXPECT_THROW((void)solve_coalition_covariance(
                     utility, kappa, all_pairs(8), GroupNoise::difference, options),
                 ConfigError);
}

TEST(SolveCoalitionCovariance, CannotSavePrivateNoiseInDisjointGroups) {
    const Graph graph = make_graph(Topology::ring, 6);
    const std::vector<SeedGroup> groups{{{0, 1, 2}}, {{3, 4, 5}}};
    const auto found = solve_coalition_covariance(
        horizon_utility(graph, 10), VectorXd::Ones(6), groups, GroupNoise::free);
    EXPECT_GE(found.private_variance.minCoeff(), 1 - 1e-9);
}

TEST(SolveCoalitionCovariance, FreeBlocksAreNeverWorseThanDifferencesOfTheSamePairs) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Graph graph = make_graph(Topology::erdos_renyi, 8, seed);
        const MatrixXd utility = horizon_utility(graph, 10);
        const VectorXd kappa = VectorXd::Ones(8);
        const auto pairs =
            solve_coalition_covariance(utility, kappa, all_pairs(8), GroupNoise::difference);
        const auto free =
            solve_coalition_covariance(utility, kappa, all_pairs(8), GroupNoise::free);
        EXPECT_LE(free.value, pairs.value * (1 + 2e-5));
    }
}

TEST(SolveCoalitionCovariance, MeetsTheGapAskedForWithManyPairsAndDropsThoseThatHardlyHelp) {
    const Graph graph = make_graph(Topology::erdos_renyi, 40, 3, 0.1);
    const auto groups = all_pairs(40);
    const MatrixXd utility = horizon_utility(graph, 50);
    for (const double gap : {0.05, 0.01}) {
        CoalitionOptions options;
        options.relative_gap = gap;
        const auto found = solve_coalition_covariance(
            utility, VectorXd::Ones(40), groups, GroupNoise::difference, options);
        EXPECT_LE(found.relative_gap(), gap);
        EXPECT_TRUE(relatively_near(cost(utility, whole(found, groups)), found.value, 1e-9));
        EXPECT_GT(std::ranges::count_if(found.group_covariance,
                                        [](const MatrixXd& block) { return block.isZero(0); }),
                  20);
        double tightest = 0;
        for_each_coalition(40, 1, [&](const std::vector<int>& coalition) {
            tightest =
                std::max(tightest, precision_of(unknown_to(coalition, found, groups)).maxCoeff());
        });
        EXPECT_LE(tightest, 1 + 1e-9);
    }
}

TEST(SolveCoalitionCovariance, AddsCoalitionsOnlyWhereThereAreMany) {
    const Graph graph = make_graph(Topology::erdos_renyi, 14);
    CoalitionOptions options;
    options.coalition_size = 3;  // 364 coalitions
    const auto groups = edge_groups(graph);
    const auto found = solve_coalition_covariance(
        horizon_utility(graph, 10), VectorXd::Ones(14), groups, GroupNoise::difference, options);
    EXPECT_LT(found.coalitions, 364);
    EXPECT_LE(found.relative_gap(), 2e-5);
    for_each_coalition(14, 3, [&](const std::vector<int>& coalition) {
        EXPECT_LE(precision_of(unknown_to(coalition, found, groups)).maxCoeff(), 1 + 1e-9);
    });
}

TEST(SolveCoalitionCovariance, RefusesWhatItCannotSolveAndSaysWhy) {
    const MatrixXd utility = MatrixXd::Identity(4, 4);
    const VectorXd kappa = VectorXd::Ones(4);
    const auto message = [&](std::vector<SeedGroup> groups, GroupNoise shape, int q) {
        CoalitionOptions options;
        options.coalition_size = q;
        return message_of<ConfigError>(
            [&] { (void)solve_coalition_covariance(utility, kappa, groups, shape, options); });
    };
    EXPECT_TRUE(contains(message({}, GroupNoise::free, 4), "coalition-size: 4"));
    EXPECT_TRUE(contains(message({}, GroupNoise::free, -1), "coalition-size: -1"));
    EXPECT_TRUE(contains(message({{{1}}}, GroupNoise::free, 1), "at least two"));
    EXPECT_TRUE(contains(message({{{0, 1, 2}}}, GroupNoise::difference, 1), "exactly two"));
    EXPECT_TRUE(contains(message({{{2, 1}}}, GroupNoise::free, 1), "ascending"));
    EXPECT_TRUE(contains(message({{{2, 7}}}, GroupNoise::free, 1), "0 to 3"));
}

}  // namespace
}  // namespace sotto
