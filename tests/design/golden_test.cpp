// Figures computed by an independent program (tests/golden/covariance.json).

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/linear_algebra.hpp"
#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/spatial_solver.hpp"
#include "graph/spectrum.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {
namespace {

using namespace test;

/// Calls f(mixing matrix, golden result, design input) for every graph and horizon.
template <class Function>
void for_each_result(Function&& f) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/covariance.json");
    const auto golden = nlohmann::json::parse(file);
    ASSERT_EQ(golden["graphs"].size(), 6U);
    for (const auto& entry : golden["graphs"]) {
        const Graph graph = Graph::from_edges(entry["n"], entry["edges"].get<std::vector<Edge>>());
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        ASSERT_EQ(entry["results"].size(), 3U);
        for (const auto& result : entry["results"]) {
            SCOPED_TRACE(entry["name"].get<std::string>() + ", horizon " +
                         result["horizon"].dump());
            DesignInput input;
            input.graph = &graph;
            input.mixing = &mixing;
            input.utility = {Utility::Kind::horizon, result["horizon"]};
            input.kappa = Eigen::VectorXd::Ones(graph.agents());
            f(entry, result, input);
        }
    }
}

using Json = nlohmann::json;

TEST(GoldenTemporal, HasTheObjectiveOfAntiPgd) {
    std::ifstream graphs_file(SOTTO_SOURCE_DIR "/tests/golden/covariance.json"),
        file(SOTTO_SOURCE_DIR "/tests/golden/temporal.json");
    const Json graphs = Json::parse(graphs_file)["graphs"];
    const Json rows = Json::parse(file)["rows"];
    int compared = 0;
    for (const Json& row : rows)
        for (const Json& entry : graphs) {
            if (entry["name"] != row["graph"]) continue;
            const Graph graph =
                Graph::from_edges(entry["n"], entry["edges"].get<std::vector<Edge>>());
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
            DesignInput input;
            input.graph = &graph;
            input.mixing = &mixing;
            input.utility = {Utility::Kind::trajectory, 0};
            input.rounds = row["rounds"];
            input.participation = {row["separation"].get<long>()};
            input.kappa = Eigen::VectorXd::Ones(graph.agents());
            EXPECT_TRUE(
                relatively_near(design_of("anti-pgd", input).objective, row["anti_pgd"], 1e-9))
                << row["graph"];
            EXPECT_TRUE(
                relatively_near(design_of("ldp", input).objective, row["independent"], 1e-9));
            EXPECT_TRUE(
                relatively_near(design_of("corn", input).objective, row["space_only"], 1e-4));
            EXPECT_TRUE(
                relatively_near(design_of("mafalda", input).objective, row["time_only"], 1e-4));
            input.spatial = &find_mechanism("spatial-mechanism", "corn");
            EXPECT_TRUE(
                relatively_near(design_of("space-time", input).objective, row["product"], 1e-4));
            ++compared;
        }
    EXPECT_EQ(compared, 3);
}

TEST(GoldenCovariance, HasTheSecondEigenvalues) {
    for_each_result([](const Json& entry, const Json&, const DesignInput& input) {
        EXPECT_TRUE(
            relatively_near(second_eigenvalue_modulus(*input.mixing), entry["lambda2"], 1e-10));
    });
}

TEST(GoldenCovariance, HasTheObjectiveOfIndependentNoise) {
    for_each_result([](const Json&, const Json& result, const DesignInput& input) {
        const Design design = design_of("ldp", input);
        EXPECT_TRUE(relatively_near(design.objective, result["ldp"], 1e-9));
        EXPECT_EQ(design.lower_bound, design.objective);
    });
}

TEST(GoldenCovariance, HasTheObjectiveAndTheVariancesOfDecor) {
    for_each_result([](const Json&, const Json& result, const DesignInput& input) {
        const Eigen::MatrixXd utility = utility_matrix(*input.mixing, input.utility, 1);
        const LaplacianSolution found =
            solve_laplacian_covariance(utility, laplacian_of(*input.graph), input.kappa);
        EXPECT_TRUE(relatively_near(found.value, result["decor"], 1e-6));
        EXPECT_FALSE(found.capped);
        EXPECT_NEAR(found.private_variance, result["decor_sigma2"], 1e-4);
        EXPECT_NEAR(found.edge_variance, result["decor_sigma2_cor"], 1e-4);
        EXPECT_TRUE(relatively_near(design_of("decor", input).objective, result["decor"], 1e-6));
    });
}

TEST(GoldenCovariance, HasTheObjectiveOfDecorAgainstColludingAgents) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/covariance.json");
    const Json golden = Json::parse(file);
    int rows = 0;
    for (const auto& entry : golden["graphs"]) {
        if (!entry.contains("hbc")) continue;
        const Graph graph = Graph::from_edges(entry["n"], entry["edges"].get<std::vector<Edge>>());
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        for (const auto& row : entry["hbc"]) {
            DesignInput input;
            input.graph = &graph;
            input.mixing = &mixing;
            input.utility = {Utility::Kind::horizon, row["horizon"]};
            input.kappa = Eigen::VectorXd::Ones(graph.agents());
            input.coalition_size = row["q"];
            const Design design = design_of("decor", input);
            EXPECT_TRUE(relatively_near(design.objective, row["decor_uniform"], 1e-6));
            EXPECT_LE(design.relative_gap(), 1e-6);
            // Noise of edges that need not cancel is a larger set than what golden is the best of.
            input.seed_groups = make_seed_groups("edges", graph);
            const Design own = design_of("decor", input);
            EXPECT_LE(own.objective, row["edge_seeds_common"].get<double>() * (1 + 1e-4));
            EXPECT_LE(own.lower_bound, row["edge_seeds_common"].get<double>());
            ++rows;
        }
    }
    EXPECT_EQ(rows, 12);
}

TEST(GoldenCovariance, HasTheObjectiveOfTheOptimalCovarianceBetweenItsBounds) {
    for_each_result([](const Json&, const Json& result, const DesignInput& input) {
        const Eigen::MatrixXd utility = utility_matrix(*input.mixing, input.utility, 1);
        const SpatialSolution found = solve_spatial_covariance(utility, input.kappa);
        EXPECT_EQ(found.status, SpatialStatus::optimal);
        EXPECT_TRUE(relatively_near(found.value, result["corn_dual"], 1e-6));
        EXPECT_TRUE(relatively_near(found.lower_bound, result["corn_dual"], 1e-6));
        // The independent program certified that no feasible R is below its dual figure, and
        // reached its primal one.
        EXPECT_GE(found.value, result["corn_dual"].get<double>() * (1 - 1e-12));
        EXPECT_LE(found.lower_bound, result["corn_primal"].get<double>() * (1 + 1e-12));
        EXPECT_TRUE(relatively_near(
            found.covariance.diagonal().maxCoeff(), result["corn_max_variance"], 1e-3));
        if (input.graph->agents() > 20) return;  // once is enough where it takes long
        EXPECT_TRUE(relatively_near(design_of("corn", input).objective, result["corn_dual"], 1e-6));
    });
}

TEST(GoldenDirected, HasTheObjectivesOfBothKindsOfMixing) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/directed.json");
    const Json golden = Json::parse(file);
    int rows = 0;
    for (const auto& entry : golden["graphs"]) {
        const Graph graph = Graph::from_arcs(entry["n"], entry["edges"].get<std::vector<Arc>>());
        for (const auto& row : entry["results"]) {
            const std::string rule = row["mixing"];
            SCOPED_TRACE(entry["name"].get<std::string>() + ", " + rule + ", horizon " +
                         row["horizon"].dump());
            const MixingMatrix mixing = make_mixing(graph, rule);
            const Eigen::VectorXd perron = graph.agents() * perron_vector(mixing);
            const auto& range = entry[mixing.push_sum() ? "perron_right_n_pi" : "perron_left_n_pi"];
            EXPECT_NEAR(perron.minCoeff(), range[0], 1e-9);
            EXPECT_NEAR(perron.maxCoeff(), range[1], 1e-9);
            DesignInput input;
            input.graph = &graph;
            input.mixing = &mixing;
            input.utility = {Utility::Kind::horizon, row["horizon"]};
            input.kappa = Eigen::VectorXd::Ones(graph.agents());
            input.variance_cap = 1e9;
            EXPECT_TRUE(relatively_near(design_of("ldp", input).objective, row["ldp"], 1e-9));
            EXPECT_TRUE(relatively_near(design_of("corn", input).objective, row["corn"], 1e-6));
            ++rows;
        }
    }
    EXPECT_EQ(rows, 24);
}

TEST(GoldenCorrections, HaveTheirLazinessAndObjectives) {
    std::ifstream graphs_file(SOTTO_SOURCE_DIR "/tests/golden/covariance.json"),
        file(SOTTO_SOURCE_DIR "/tests/golden/corrections.json");
    const Json graphs = Json::parse(graphs_file)["graphs"];
    const Json golden = Json::parse(file)["rows"];
    int rows = 0;
    for (const Json& row : golden)
        for (const Json& entry : graphs) {
            if (entry["name"] != row["graph"]) continue;
            const std::string name = row["correction"];
            SCOPED_TRACE(row["graph"].get<std::string>() + ", " + name);
            const Graph graph =
                Graph::from_edges(entry["n"], entry["edges"].get<std::vector<Edge>>());
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
            DesignInput input;
            input.graph = &graph;
            input.mixing = &mixing;
            input.utility = {Utility::Kind::horizon, row["horizon"]};
            input.kappa = Eigen::VectorXd::Ones(graph.agents());
            input.smoothing.correction = parse_correction("correction", name);
            if (input.smoothing.correction == Correction::exact_diffusion)
                input.gossip = input.gossip.with_laziness(laziness_for(mixing, 1));
            EXPECT_NEAR(input.gossip.laziness(), row["laziness"].get<double>(), 1e-9);
            EXPECT_TRUE(relatively_near(design_of("ldp", input).objective, row["ldp"], 1e-8));
            const Eigen::MatrixXd utility = design_utility(input);
            EXPECT_TRUE(relatively_near(
                symmetric_eigenvalues(utility)(0), row["smallest_eigenvalue_of_M"], 1e-5));
            ++rows;
            if (!row.contains("corn")) continue;
            const Design corn = design_of("corn", input);
            EXPECT_FALSE(corn.capped);
            EXPECT_TRUE(relatively_near(corn.objective, row["corn"], 1e-6));
            EXPECT_TRUE(relatively_near(corn.lower_bound, row["corn"], 1e-6));
        }
    EXPECT_EQ(rows, 15);
}

}  // namespace
}  // namespace sotto
