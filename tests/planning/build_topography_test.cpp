#include "planning/build_topography.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "config/run_fixtures.hpp"
#include "core/files.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mixing_design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TEST(BuildTopography, MakesTheConfiguredGraphAndSaysHow) {
    GraphConfig config;
    config.topology.topology = Topology::ring;
    config.topology.agents = 6;
    config.mixing = "lazy-metropolis";
    const BuiltTopography ring = build_topography(config, 1);
    EXPECT_EQ(ring.topography.graph.edges().size(), 6u);
    EXPECT_DOUBLE_EQ(ring.topography.mixing.weight(0, 0), 2.0 / 3);
    EXPECT_EQ(ring.description, "ring");
    EXPECT_TRUE(ring.notes.empty());

    config.topology.topology = Topology::erdos_renyi;
    config.topology.edge_probability = 0.25;
    const BuiltTopography random = build_topography(config, 1);
    EXPECT_TRUE(random.topography.graph.connected());
    expect_contains(random.description, "0.25");

    const TemporaryFolder folder;
    config.file = folder.write("two.edges", "1 2\n2 3\n7 8\n");
    const BuiltTopography file = build_topography(config, 1);
    EXPECT_EQ(file.topography.graph.agents(), 3);
    expect_contains(file.description, "two.edges");
    ASSERT_EQ(file.notes.size(), 1u);
    expect_contains(file.notes.front(), "3 of 5 agents");
    config.file = folder.path("missing.edges");
    EXPECT_THROW((void)build_topography(config, 1), DataError);
}

TEST(BuildTopography, ChangesMixingAsScheduled) {
    GraphConfig config;
    config.topology.topology = Topology::exponential;
    config.topology.agents = 8;
    EXPECT_TRUE(build_topography(config, 30).topography.later_mixing.empty());
    config.mixing_schedule = "one-peer";
    const BuiltTopography peers = build_topography(config, 30);
    EXPECT_EQ(peers.topography.later_mixing.size(), 2u);  // ceil(log2 8) rounds
    EXPECT_EQ(peers.description, "exponential, mixing schedule one-peer of 3 rounds");

    config.topology.topology = Topology::ring;
    config.mixing_schedule = "random";
    const BuiltTopography random = build_topography(config, 4);
    EXPECT_EQ(random.topography.later_mixing.size(), 3u);
    // The graph is the union of all rings.
    EXPECT_GT(random.topography.graph.edges().size(), 8u);
    for (long round = 0; round < 4; ++round)
        for (int u = 0; u < 8; ++u) {
            int heard = 0;
            for (int v = 0; v < 8; ++v)
                heard += random.topography.schedule().at(round).weight(u, v) > 0 ? 1 : 0;
            EXPECT_EQ(heard, 3) << "itself and two neighbours";
        }
}

TEST(BuildTopography, RefusesSchedulesThatDoNotExist) {
    const TemporaryFolder folder;
    GraphConfig config;
    config.mixing_schedule = "randon";
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 3); }),
                    "did you mean 'random'?");
    config.mixing_schedule = "random";
    config.file = folder.write("ring.edges", "0 1\n1 2\n2 0\n");
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 3); }),
                    "not of a --graph FILE");
}

TEST(AgentsOf, CountsThoseOfTheGraphThatIsUsed) {
    const TemporaryFolder folder;
    GraphConfig config;
    config.topology.agents = 7;
    EXPECT_EQ(agents_of(config), 7);
    config.file = folder.write("two.edges", "1 2\n2 3\n7 8\n");
    EXPECT_EQ(agents_of(config), 3);
}

TEST(BuildTopography, MakesDirectedGraphsAndSaysSo) {
    GraphConfig config;
    config.topology.topology = Topology::ring;
    config.topology.agents = 6;
    config.topology.directed = true;
    config.mixing = "push-sum";
    const BuiltTopography ring = build_topography(config, 1);
    EXPECT_EQ(ring.topography.graph.messages(), 6U);
    EXPECT_TRUE(ring.topography.mixing.push_sum());
    EXPECT_EQ(ring.description, "directed ring");

    const TemporaryFolder folder;
    config.file = folder.write("strong.edges", "1 2\n2 3\n3 1\n3 4\n");
    const BuiltTopography file = build_topography(config, 1);
    EXPECT_EQ(file.topography.graph.agents(), 3);
    expect_contains(file.description, "directed, file");
    ASSERT_EQ(file.notes.size(), 1U);
    expect_contains(file.notes.front(), "2 strong components; using the largest, 3 of 4 agents");
    config.mixing = "metropolis";
    expect_contains(message_of<ConfigError>([&] { (void)build_topography(config, 1); }),
                    "allowed with --directed");
}

GraphConfig optimised_config(int agents = 8) {
    GraphConfig config;
    config.topology.agents = agents;
    config.topology.edge_probability = 0.4;
    config.mixing = "optimised";
    return config;
}

PlanConfig plan_config_of(const std::string& mechanism) {
    PlanConfig plan;
    plan.mechanism = mechanism;
    plan.utility = {Utility::Kind::horizon, 10};
    plan.rounds = 50;
    return plan;
}

std::vector<int> numbers_to(int agents) {
    std::vector<int> numbers(static_cast<std::size_t>(agents));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

TEST(ConfiguredMixing, OptimisesForTheMechanism) {
    const GraphConfig config = optimised_config();
    const PlanConfig pairs = plan_config_of("pairs");
    const BuiltTopography built = build_topography(config, pairs);
    ASSERT_FALSE(built.notes.empty());
    EXPECT_EQ(built.notes.back(),
              "mixing weights are optimised for mechanism pairs, utility horizon:10");
    MixingDesignInput input;
    input.graph = &built.topography.graph;
    input.mechanism = &find_mechanism("mechanism", "pairs");
    input.utility = pairs.utility;
    input.rounds = 50;
    input.coalition_size = 1;
    input.seed_groups = configured_seed_groups(pairs, built.topography.graph);
    EXPECT_EQ(built.topography.mixing.hash(), design_mixing(input).mixing.hash());

    PlanConfig louder = pairs;
    louder.epsilon = 0.5;
    louder.clip_norm = 3;
    EXPECT_EQ(build_topography(config, louder).topography.mixing_hash(),
              built.topography.mixing_hash());
    EXPECT_NE(build_topography(config, plan_config_of("ldp")).topography.mixing_hash(),
              built.topography.mixing_hash());
}

TEST(ConfiguredMixing, IsForIndependentNoiseWhereNoneIsPlanned) {
    const GraphConfig config = optimised_config();
    PlanConfig ldp = plan_config_of("ldp");
    ldp.utility = PlanConfig{}.utility;
    const BuiltTopography built = build_topography(config, 1);
    EXPECT_EQ(built.topography.mixing_hash(),
              build_topography(config, ldp).topography.mixing_hash());
    expect_contains(built.notes.back(), "independent noise, utility horizon:200");
    EXPECT_EQ(build_topography(config, plan_config_of("none")).topography.mixing.agents(), 8);
}

TEST(ConfiguredMixing, RefusesWhatWeightsCannotBeMadeFor) {
    GraphConfig config = optimised_config();
    for (const char* mechanism : {"mafalda", "space-time", "zip-dl", "homomorphic"})
        expect_contains(message_of<ConfigError>(
                            [&] { (void)build_topography(config, plan_config_of(mechanism)); }),
                        mechanism);
    const BuiltTopography mean = build_topography(config, plan_config_of("cdp"));
    expect_contains(mean.notes.back(), "cdp averages exactly");
    config.mixing_schedule = "one-peer";
    expect_contains(
        message_of<ConfigError>([&] { (void)build_topography(config, plan_config_of("corn")); }),
        "not possible with --mixing optimised");
    config.mixing_schedule = "fixed";
    config.mixing = "optimized";
    expect_contains(
        message_of<ConfigError>([&] { (void)build_topography(config, plan_config_of("corn")); }),
        "did you mean 'optimised'?");
}

TEST(ConfiguredMixing, IsForTheNoiseOfAGivenPlan) {
    const GraphConfig config = optimised_config();
    PlanConfig plan = plan_config_of("corn");
    const BuiltTopography built = build_topography(config, plan);
    const PlannedNoise planned = plan_noise(plan, built.topography, count_rounds(plan, 8, {}));
    const TemporaryFolder folder;
    plan.plan_file = folder.write("plan.json", to_json(planned.design.plan));
    const BuiltTopography given = build_topography(config, plan);
    expect_contains(given.notes.back(), "the noise of ");
    // W is best for this R, as R is for that W.
    EXPECT_LT(
        (given.topography.mixing.dense() - built.topography.mixing.dense()).cwiseAbs().maxCoeff(),
        0.05);
}

TEST(ConfiguredMixing, IsForThoseWhoAreThere) {
    const GraphConfig config = optimised_config();
    const PlanConfig plan = plan_config_of("pairs");
    const Graph graph = build_topography(config, 1).topography.graph;
    std::vector<int> kept = numbers_to(8);
    kept.erase(kept.begin() + 3);
    const MixingMatrix mixing = configured_mixing(config, &plan, graph, kept);
    EXPECT_EQ(mixing.agents(), 7);
    EXPECT_EQ(mixing.hash(), configured_mixing(config, &plan, graph, kept).hash());
    // Parts that are apart have weights of their own.
    const Graph path = Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
    const MixingMatrix parts = configured_mixing(config, &plan, path, std::vector{0, 1, 3, 4});
    EXPECT_EQ(parts.weight(1, 2), 0);
    EXPECT_NEAR(parts.weight(0, 1), 0.5, 0.05);
    EXPECT_NEAR(parts.weight(2, 3), 0.5, 0.05);
}

GraphReport report_of(Topology topology, int agents, const std::string& mixing) {
    GraphConfig config;
    config.topology.topology = topology;
    config.topology.agents = agents;
    config.mixing = mixing;
    return describe_graph(build_topography(config, 1), mixing);
}

TEST(GraphReport, KnowsTheSpectrumOfARing) {
    // Metropolis weights of a ring are 1/3: eigenvalues 1/3 + 2/3 cos(2 pi k / n).
    const GraphReport report = report_of(Topology::ring, 9, "metropolis");
    EXPECT_EQ(report.agents, 9);
    EXPECT_EQ(report.edges, 9U);
    EXPECT_EQ(report.degree_min, 2);
    EXPECT_EQ(report.degree_max, 2);
    EXPECT_TRUE(report.connected);
    EXPECT_TRUE(report.doubly_stochastic);
    EXPECT_NEAR(report.lambda2, 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi / 9), 1e-12);
}

TEST(GraphReport, CountsDegreesAndSaysWhatRowsSumTo) {
    const GraphReport star = report_of(Topology::star, 6, "row-stochastic");
    EXPECT_EQ(star.degree_min, 1);
    EXPECT_EQ(star.degree_max, 5);
    EXPECT_FALSE(star.doubly_stochastic);
    EXPECT_NE(graph_report_text(star).find("row-stochastic (row-stochastic)"), std::string::npos);
}

TEST(GraphReport, SaysTheSameInJsonAndForPeople) {
    GraphReport report = report_of(Topology::path, 4, "metropolis");
    report.notes = {"a note"};
    const auto json = nlohmann::json::parse(graph_report_json(report));
    EXPECT_EQ(json.at("edges"), 3);
    EXPECT_EQ(json.at("notes")[0], "a note");
    EXPECT_EQ(json.at("graph_hash"), report.graph_hash);
    EXPECT_DOUBLE_EQ(json.at("spectral_gap").get<double>() + json.at("lambda2").get<double>(), 1);
    const std::string text = graph_report_text(report);
    for (const char* part : {"note     a note", "agents   4, 3 edges, connected, degree 1 to 2"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
}  // namespace sotto
