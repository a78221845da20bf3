#include "design/coalition_solver.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "design/group_layout_fixtures.hpp"
#include "design/spatial_solver.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

using namespace test;

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
                        EXPECT_LE(precision(i), kappa(u));  // not even by rounding
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

/// Groups with noise, of the agent with most of them.
int most_groups(const CoalitionSolution& solution, const std::vector<SeedGroup>& groups) {
    std::vector<int> count(static_cast<std::size_t>(solution.private_variance.size()));
    for (std::size_t k = 0; k < groups.size(); ++k)
        if (solution.group_covariance[k].trace() > 0)
            for (const int u : groups[k].members) ++count[static_cast<std::size_t>(u)];
    return std::ranges::max(count);
}

TEST(SolveCoalitionCovariance, TakesFewerGroupsForAsMuchExtraNoiseAsItMayLeave) {
    for (const auto& [name, graph] : sample_graphs({6})) {
        const MatrixXd utility = horizon_utility(graph, 50);
        const VectorXd kappa = (0.3 * random_kappa(graph.agents(), 3).array().log()).exp();
        const auto groups = all_pairs(graph.agents());
        for (const int q : {1, 2})
            for (const auto shape : {GroupNoise::difference, GroupNoise::free}) {
                SCOPED_TRACE(fmt::format("{} q={} free={}", name, q, shape == GroupNoise::free));
                CoalitionOptions options;
                options.coalition_size = q;
                const CoalitionSolution all =
                    solve_coalition_covariance(utility, kappa, groups, shape, options);
                options.extra_noise = 0.02;
                const CoalitionSolution fewer =
                    solve_coalition_covariance(utility, kappa, groups, shape, options);
                EXPECT_EQ(fewer.lower_bound, all.lower_bound);
                EXPECT_LE(fewer.value, 1.02 * all.value);
                EXPECT_LE(fewer.relative_gap(), 0.02 + all.relative_gap());
                EXPECT_LE(most_groups(fewer, groups), most_groups(all, groups));
                EXPECT_TRUE(
                    relatively_near(cost(utility, whole(fewer, groups)), fewer.value, 1e-9));
                double tightest = 0;
                for_each_coalition(graph.agents(), q, [&](const Coalition& coalition) {
                    const VectorXd precision = precision_of(unknown_to(coalition, fewer, groups));
                    const std::vector<int> outside = agents_outside(coalition, graph.agents());
                    tightest =
                        std::max(tightest, precision.cwiseQuotient(kappa(outside)).maxCoeff());
                });
                EXPECT_LE(tightest, 1 + 1e-9);
                const CoalitionSolution again =
                    solve_coalition_covariance(utility, kappa, groups, shape, options);
                EXPECT_TRUE(again.private_variance == fewer.private_variance);
                EXPECT_TRUE(again.group_covariance == fewer.group_covariance);
            }
    }
}

// docs/decisions/seed-groups.md
TEST(SolveCoalitionCovariance, TakesTheGroupsThatTheDocumentationCounts) {
    const auto most_at = [](const Graph& graph, double extra_noise) {
        CoalitionOptions options;
        options.extra_noise = extra_noise;
        const auto groups = all_pairs(graph.agents());
        const CoalitionSolution found = solve_coalition_covariance(horizon_utility(graph, 200),
                                                                   VectorXd::Ones(graph.agents()),
                                                                   groups,
                                                                   GroupNoise::difference,
                                                                   options);
        return most_groups(found, groups);
    };
    const Graph ring = make_graph(Topology::ring, 16);
    EXPECT_EQ(most_at(ring, 0.02), 4);
    EXPECT_GT(most_at(ring, 0), 4);
    EXPECT_LE(most_at(make_graph(Topology::erdos_renyi, 16, 0, 0.5), 0.02), 6);
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

using namespace test;

std::vector<MatrixXd> blocks_of(const CoalitionProblem& problem, const VectorXd& phi) {
    std::vector<MatrixXd> blocks;
    for (std::size_t k = 0; k < problem.groups().size(); ++k)
        blocks.push_back(problem.group_matrix(phi, k));
    return blocks;
}

/// s2_u of every agent.
VectorXd private_variance(const CoalitionProblem& problem, const VectorXd& phi) {
    VectorXd variance(problem.agents());
    for (const CoalitionTerm& term : problem.terms())
        if (term.group < 0) variance(term.u) = phi(term.unknown);
    return variance;
}

MatrixXd covariance_of(const CoalitionProblem& problem,
                       const VectorXd& phi,
                       const Coalition& coalition) {
    return covariance_unknown_to(
        coalition, private_variance(problem, phi), blocks_of(problem, phi), problem.groups());
}

TEST(CoalitionProblem, CostsWhatTheUtilityOfItsCovarianceSays) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        VectorXd phi = problem.start();
        phi += random_direction(problem, phi);
        const MatrixXd covariance = covariance_of(problem, phi, {});
        EXPECT_TRUE(
            relatively_near(problem.cost().dot(phi), cost(problem.utility(), covariance), 1e-12));
        EXPECT_TRUE(problem.variances(phi).isApprox(covariance.diagonal(), 1e-12));
    });
}

TEST(CoalitionProblem, KnowsWhatACoalitionDoesNotKnow) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd phi = problem.start();
        for (const Coalition& coalition : {Coalition{}, Coalition{2}, Coalition{0, 5}}) {
            const std::vector<int> outside = agents_outside(coalition, problem.agents());
            const MatrixXd expected =
                covariance_of(problem, phi, coalition)(outside, outside).inverse();
            const auto found = problem.unknown_precision(phi, coalition);
            ASSERT_TRUE(found.has_value());
            EXPECT_TRUE((*found)(outside, outside).isApprox(expected, 1e-10));
            for (const int member : coalition) EXPECT_EQ(found->row(member).squaredNorm(), 0);
            const VectorXd kappa = problem.kappa()(outside);
            EXPECT_TRUE(relatively_near(problem.excess(phi, coalition),
                                        expected.diagonal().cwiseQuotient(kappa).maxCoeff(),
                                        1e-10));
        }
        EXPECT_FALSE(problem.unknown_precision(VectorXd::Zero(phi.size()), {}).has_value());
        EXPECT_EQ(problem.excess(VectorXd::Zero(phi.size()), {}),
                  std::numeric_limits<double>::infinity());
    });
}

TEST(CoalitionProblem, StartsStrictlyInside) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd phi = problem.start();
        EXPECT_GT(phi.head(problem.nonnegative()).minCoeff(), 0);
        EXPECT_TRUE(problem.blocks_positive(phi));
        EXPECT_GT((problem.cap() - problem.variances(phi)).minCoeff(), 0);
        for (const Coalition& coalition : problem.coalitions())
            EXPECT_LT(problem.excess(phi, coalition), 1);
    });
}

TEST(CoalitionProblem, HasAFreeBlockThatMayBeAnySymmetricMatrix) {
    const CoalitionProblem problem = small_problem(GroupNoise::free);
    SeededRandom random(3, "phi");
    for (std::size_t k = 0; k < problem.groups().size(); ++k) {
        const auto size = problem.groups()[k].members.size();
        EXPECT_EQ(problem.terms_of(k).size(), size * (size + 1) / 2);
    }
    VectorXd phi = problem.start();
    EXPECT_TRUE(problem.blocks_positive(phi));
    phi(problem.terms_of(0).front().unknown) = -10;
    EXPECT_FALSE(problem.blocks_positive(phi));
    // Of a group's members, ascending; a term along e_u - e_v has -1 beside the diagonal.
    const CoalitionProblem pairs = small_problem(GroupNoise::difference);
    VectorXd one = VectorXd::Zero(pairs.unknowns());
    one(pairs.terms_of(2).front().unknown) = 3;
    EXPECT_EQ(pairs.group_matrix(one, 2), (MatrixXd(2, 2) << 3, -3, -3, 3).finished());
    EXPECT_EQ(pairs.group_matrix(one, 1), MatrixXd::Zero(2, 2));
}

TEST(Along, IsTheProductWithTheVectorsOfBothTerms) {
    const MatrixXd a = MatrixXd::Random(4, 4);
    const CoalitionTerm own{2, -1, -1, 0}, pair{1, 3, 0, 1};
    const VectorXd e_own = VectorXd::Unit(4, 2);
    const VectorXd e_pair = VectorXd::Unit(4, 1) - VectorXd::Unit(4, 3);
    EXPECT_NEAR(along(a, own, own), e_own.dot(a * e_own), 1e-15);
    EXPECT_NEAR(along(a, own, pair), e_own.dot(a * e_pair), 1e-15);
    EXPECT_NEAR(along(a, pair, own), e_pair.dot(a * e_own), 1e-15);
    EXPECT_NEAR(along(a, pair, pair), e_pair.dot(a * e_pair), 1e-15);
}

TEST(Meets, WhereAMemberOfTheCoalitionHoldsTheSeed) {
    const SeedGroup group{{1, 4, 5}};
    EXPECT_TRUE(meets(group, {0, 4}));
    EXPECT_FALSE(meets(group, {0, 2, 3}));
    EXPECT_FALSE(meets(group, {}));
}

using namespace test;

TEST(GroupLayout, IsTheSumOfItsPartsAndTheirCostsAreTheDerivativeOfTheTrace) {
    const Graph graph = make_graph(Topology::erdos_renyi, 9, 3);
    for (const bool common : {false, true})
        for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free}) {
            const GroupLayout layout(
                9,
                shape == GroupNoise::free ? neighbourhoods(graph) : edge_groups(graph),
                shape,
                common);
            const VectorXd values = any_values(layout);
            const MatrixXd covariance = covariance_unknown_to({},
                                                              private_variance_of(layout, values),
                                                              layout_blocks(layout, values),
                                                              layout.groups());
            EXPECT_LT((layout.covariance(values) - covariance).norm(), 1e-12);
            EXPECT_LT((layout.diagonal(values) - covariance.diagonal()).norm(), 1e-12);
            const MatrixXd utility = horizon_utility(graph, 10);
            EXPECT_NEAR(layout.along(utility).dot(values), cost(utility, covariance), 1e-9);
            const VectorXd price = VectorXd::LinSpaced(9, 1, 2);
            EXPECT_NEAR(
                layout.along_diagonal(price).dot(values), price.dot(covariance.diagonal()), 1e-9);
        }
}

}  // namespace
}  // namespace sotto
