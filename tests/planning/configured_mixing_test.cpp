#include "planning/configured_mixing.hpp"

#include <numeric>

#include "config/run_fixtures.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/design/mixing_design.hpp"
#include "sotto/plan/plan_json.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

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
    const auto exposures = build_exposures(plan, 8, {});
    const PlannedNoise planned =
        plan_noise(plan, built.topography, exposures, build_budgets(plan, 8));
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

}  // namespace
}  // namespace sotto
