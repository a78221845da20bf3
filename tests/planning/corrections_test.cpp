#include "planning/corrections.hpp"

#include <gtest/gtest.h>

#include "core/files.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/planning_fixtures.hpp"
#include "planning/settle.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;

/// A ring; with a schedule random graphs, or the exponential one.
Topography ring_of(int agents, const std::string& mixing, const std::string& schedule = "fixed") {
    GraphConfig config;
    config.topology.topology = schedule == "fixed"      ? Topology::ring
                               : schedule == "one-peer" ? Topology::exponential
                                                        : Topology::erdos_renyi;
    config.topology.agents = agents;
    config.mixing = mixing;
    config.mixing_schedule = schedule;
    config.topology.directed = mixing == "row-stochastic" || mixing == "push-sum";
    return build_topography(config, 4).topography;
}

TEST(Correction, IsChosenByWhatMixingAllows) {
    const PlanConfig config = config_of("pairs");
    const Topography fixed = ring_of(6, "metropolis");
    EXPECT_EQ(chosen_correction(config, fixed, false, false), Correction::exact_diffusion);
    for (const char* schedule : {"random", "one-peer"})
        EXPECT_EQ(chosen_correction(config, ring_of(6, "metropolis", schedule), false, false),
                  Correction::tracking)
            << schedule;
    for (const char* mixing : {"row-stochastic", "push-sum"})
        EXPECT_EQ(chosen_correction(config, ring_of(6, mixing), false, false), Correction::none)
            << mixing;
    EXPECT_EQ(chosen_correction(config, fixed, true, false), Correction::none);
    EXPECT_EQ(chosen_correction(config, fixed, false, true), Correction::none);
    PlanConfig from_file = config;
    from_file.plan_file = "plan.json";
    EXPECT_EQ(chosen_correction(from_file, fixed, false, false), Correction::none);
}

TEST(Correction, IsThereForGaussianNoiseOnGradientsOfRoundsAlone) {
    const Topography fixed = ring_of(6, "metropolis");
    for (const Mechanism& mechanism : mechanisms().records()) {
        const bool possible = mechanism.aggregation == Aggregation::gossip &&
                              mechanism.entry == NoiseEntry::gradient &&
                              !mechanism.correlates_rounds;
        PlanConfig config;
        config.mechanism = mechanism.name;
        EXPECT_EQ(chosen_correction(config, fixed, false, false) != Correction::none, possible)
            << mechanism.name;
        for (const Correction correction : {Correction::exact_diffusion, Correction::tracking}) {
            config.correction = correction;
            if (possible)
                require_possible_correction(config, fixed);
            else
                expect_contains(
                    message_of<ConfigError>([&] { require_possible_correction(config, fixed); }),
                    "correction: " + name_of(correction) + " is not possible with mechanism " +
                        mechanism.name);
        }
    }
}

TEST(Correction, IsRefusedWithTheReason) {
    PlanConfig config = config_of("pairs");
    config.correction = Correction::exact_diffusion;
    const auto refusal = [&](const Topography& topography) {
        return message_of<ConfigError>([&] { require_possible_correction(config, topography); });
    };
    for (const char* schedule : {"random", "one-peer"})
        expect_contains(refusal(ring_of(6, "metropolis", schedule)),
                        "correction: exact-diffusion is not possible with a --mixing-schedule, "
                        "with which it may diverge (allowed: none, tracking)");
    expect_contains(refusal(ring_of(6, "row-stochastic")), "with directed graphs and");
    config.correction = Correction::tracking;
    for (const char* schedule : {"random", "one-peer"})
        require_possible_correction(config, ring_of(6, "metropolis", schedule));
    expect_contains(refusal(ring_of(6, "push-sum")), "with directed graphs and");
    expect_contains(message_of<ConfigError>([&] { require_correction_beside_sums(config, true); }),
                    "correction: tracking is not possible with --secure-sum on");
    expect_contains(
        message_of<ConfigError>([&] { require_correction_beside_mixing(config, true); }),
        "with --mixing optimised");
    require_correction_beside_sums(config, false);
    require_correction_beside_mixing(config, false);
    NoisePlan plan;
    plan.mechanism = "own";
    require_possible_correction(config, plan);
    plan.temporal.kind = TemporalFactor::Kind::dense;
    expect_contains(message_of<ConfigError>([&] { require_possible_correction(config, plan); }),
                    "with mechanism own, which is planned for rounds without it");
}

TEST(Correction, IsSaidInTheLedger) {
    PlanConfig config;
    EXPECT_TRUE(correction_statements(config).empty());
    config.correction = Correction::tracking;
    ASSERT_EQ(correction_statements(config).size(), 1U);
    expect_contains(correction_statements(config).front(), "the correction tracking");
}

TEST(Correction, IsSettledWithAllElse) {
    const Topography fixed = ring_of(6, "metropolis");
    AskedPlan asked(config_of("pairs"));
    EXPECT_EQ(settle(asked, {.topography = fixed}).plan.correction, Correction::none);
    asked.open.correction = true;
    EXPECT_EQ(settle(asked, {.topography = fixed}).plan.correction, Correction::exact_diffusion);
    EXPECT_EQ(settle(asked, {.topography = fixed, .secure_sum = true}).plan.correction,
              Correction::none);
    asked.open.correction = false;
    asked.correction = Correction::tracking;
    EXPECT_THROW((void)settle(asked, {.topography = fixed, .secure_sum = true}), ConfigError);
}

TEST(Correction, NeedsLazinessOnlyWithExactDiffusion) {
    const Topography ring = ring_of(16, "metropolis");
    PlanConfig config = config_of("pairs");
    EXPECT_EQ(configured_gossip(config, ring.mixing).laziness(), 0);
    config.correction = Correction::tracking;
    EXPECT_EQ(configured_gossip(config, ring.mixing).laziness(), 0);
    config.correction = Correction::exact_diffusion;
    EXPECT_NEAR(configured_gossip(config, ring.mixing).laziness(), 0.265, 1e-9);
    EXPECT_EQ(configured_smoothing(config, ring).correction, Correction::exact_diffusion);
    EXPECT_EQ(exchanges_of(config), 1);
    config.correction = Correction::tracking;
    config.gossip_steps = 3;
    EXPECT_EQ(exchanges_of(config), 6);
}

}  // namespace
}  // namespace sotto
