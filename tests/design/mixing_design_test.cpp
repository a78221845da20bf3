#include "sotto/design/mixing_design.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "graph/spectrum.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

MixingDesignInput mixing_input_for(const Graph& graph, const std::string& mechanism, long horizon) {
    MixingDesignInput input;
    input.graph = &graph;
    input.mechanism = &find_mechanism("mechanism", mechanism);
    input.utility = {Utility::Kind::horizon, horizon};
    input.rounds = 1000;
    input.coalition_size = input.mechanism->default_coalition_size;
    if (input.mechanism->seed_groups())
        input.seed_groups = make_seed_groups(default_seed_groups(graph.agents()), graph);
    return input;
}

double objective_with(const MixingMatrix& mixing, const MixingDesignInput& mixing_input) {
    DesignInput input;
    input.graph = mixing_input.graph;
    input.mixing = &mixing;
    input.utility = mixing_input.utility;
    input.rounds = mixing_input.rounds;
    input.gossip = gossip_polynomial(mixing, mixing_input.gossip_rule, mixing_input.gossip_steps);
    input.kappa = Eigen::VectorXd::Ones(mixing.agents());
    input.coalition_size = mixing_input.coalition_size;
    input.seed_groups = mixing_input.seed_groups;
    return mixing_input.mechanism->design(input).objective;
}

void expect_mixing(const MixingDesign& design, const Graph& graph) {
    const Eigen::MatrixXd dense = design.mixing.dense();
    EXPECT_EQ(dense, dense.transpose());
    for (int u = 0; u < graph.agents(); ++u) EXPECT_NEAR(dense.row(u).sum(), 1, 1e-12);
    EXPECT_LT(design.second_modulus, 1);
    EXPECT_NEAR(second_eigenvalue_modulus(design.mixing), design.second_modulus, 1e-9);
    EXPECT_LE(design.objective, design.metropolis);
}

// Figures computed by an independent program (tests/golden/mixing.json).
TEST(GoldenMixing, IsMatchedOrBeaten) {
    std::ifstream graphs_file(SOTTO_SOURCE_DIR "/tests/golden/covariance.json"),
        file(SOTTO_SOURCE_DIR "/tests/golden/mixing.json");
    const auto graphs = nlohmann::json::parse(graphs_file)["graphs"];
    const auto golden = nlohmann::json::parse(file);
    int compared = 0;
    for (const auto& row : golden["rows"])
        for (const auto& entry : graphs) {
            if (entry["name"] != row["graph"]) continue;
            const std::string mechanism = row["mechanism"];
            SCOPED_TRACE(row.dump());
            const Graph graph =
                Graph::from_edges(entry["n"], entry["edges"].get<std::vector<Edge>>());
            const MixingDesignInput input = mixing_input_for(graph, mechanism, row["horizon"]);
            const MixingDesign design = design_mixing(input);
            EXPECT_LE(design.objective, row["optimised"].get<double>() * (1 + 1e-3));
            EXPECT_TRUE(relatively_near(design.metropolis, row["metropolis"], 1e-6));
            EXPECT_TRUE(
                relatively_near(objective_with(design.mixing, input), design.objective, 1e-9));
            expect_mixing(design, graph);
            ++compared;
        }
    EXPECT_EQ(compared, std::ssize(golden["rows"]));
}

TEST(DesignMixing, ImprovesEveryMechanismItIsFor) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10, 1, 0.4);
    int designed = 0;
    for (const auto& mechanism : mechanisms().records()) {
        SCOPED_TRACE(mechanism.name);
        const MixingDesignInput input = mixing_input_for(graph, mechanism.name, 10);
        if (!shapes_mixing(mechanism)) {
            EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_mixing(input); }),
                                 "mechanism " + mechanism.name));
            continue;
        }
        const MixingDesign design = design_mixing(input);
        expect_mixing(design, graph);
        EXPECT_LT(design.objective, 0.97 * design.metropolis);
        EXPECT_LT(
            objective_with(design.mixing, input),
            0.97 * objective_with(MixingMatrix::from_rule(graph, MixingRule::metropolis), input));
        ++designed;
    }
    EXPECT_EQ(designed, 7);
}

TEST(DesignMixing, CountsTheStepsOfARound) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10, 2, 0.3);
    for (const GossipRule rule : {GossipRule::plain, GossipRule::chebyshev}) {
        MixingDesignInput input = mixing_input_for(graph, "corn", 10);
        const MixingMatrix of_one_step = design_mixing(input).mixing;
        input.gossip_steps = 4;
        input.gossip_rule = rule;
        const MixingDesign design = design_mixing(input);
        expect_mixing(design, graph);
        EXPECT_LT(design.objective, objective_with(of_one_step, input));
    }
}

TEST(DesignMixing, TakesNoiseThatIsGiven) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10, 1, 0.4);
    MixingDesignInput input = mixing_input_for(graph, "corn", 10);
    const MixingMatrix metropolis = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput noise;
    noise.graph = &graph;
    noise.mixing = &metropolis;
    noise.utility = input.utility;
    noise.kappa = Eigen::VectorXd::Ones(10);
    input.covariance = spatial_covariance(design_of("corn", noise).plan);
    const MixingDesign design = design_mixing(input);
    EXPECT_LT(design.objective, 0.95 * design.metropolis);
    EXPECT_TRUE(relatively_near(
        design.objective,
        cost(utility_matrix(design.mixing, input.utility, input.rounds), *input.covariance),
        1e-9));
}

TEST(DesignMixing, GivesTheSameBitsAgain) {
    const Graph graph = make_graph(Topology::erdos_renyi, 12, 1, 0.3);
    for (const char* mechanism : {"corn", "pairs"}) {
        const MixingDesignInput input = mixing_input_for(graph, mechanism, 20);
        EXPECT_EQ(design_mixing(input).mixing.hash(), design_mixing(input).mixing.hash());
    }
}

TEST(DesignMixing, LeavesDearDesignsAtPricedNoise) {
    const Graph graph = make_graph(Topology::erdos_renyi, 40, 1, 0.2);
    const MixingDesign design = design_mixing(mixing_input_for(graph, "pairs", 20));
    EXPECT_EQ(design.judge, "priced noise");
    expect_mixing(design, graph);
}

TEST(DesignMixing, KnowsGraphsWithNothingToChoose) {
    const Graph alone = Graph::from_edges(1, {});
    EXPECT_EQ(design_mixing(mixing_input_for(alone, "ldp", 5)).mixing.weight(0, 0), 1);
    const Graph two = Graph::from_edges(2, {{0, 1}});
    EXPECT_NEAR(design_mixing(mixing_input_for(two, "ldp", 5)).mixing.weight(0, 1), 0.5, 1e-3);
    const Graph complete = make_graph(Topology::complete, 6);
    const MixingDesign design = design_mixing(mixing_input_for(complete, "ldp", 5));
    EXPECT_NEAR(design.objective, 5, 1e-4);
}

}  // namespace
}  // namespace sotto
