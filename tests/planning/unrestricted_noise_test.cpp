#include "planning/unrestricted_noise.hpp"

#include <gtest/gtest.h>

#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::plan;
using test::Planned;
using test::random_topography;

UnrestrictedNoise beside(const PlanConfig& config, const Topography& topography) {
    const Planned made = plan(config, topography);
    return unrestricted_noise(config, topography, made.planned.design.plan, made.planned.kappa);
}

TEST(UnrestrictedNoise, StandsBesideTheObjectiveOfThePlanItself) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"mafalda", "space-time", "anti-pgd"}) {
        const PlanConfig config = config_of(mechanism);
        const Planned made = plan(config, topography);
        const UnrestrictedNoise noise = beside(config, topography);
        EXPECT_NEAR(noise.plan, made.planned.design.objective, 1e-6 * noise.plan) << mechanism;
    }
    PlanConfig config = config_of("corn");
    config.utility = {Utility::Kind::trajectory, 0};
    config.rounds = 10;
    EXPECT_NEAR(beside(config, topography).plan,
                plan(config, topography).planned.design.objective,
                1e-6 * beside(config, topography).plan);
}

TEST(UnrestrictedNoise, IsNeverAboveWhatAPlanLeaves) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"ldp", "decor", "corn", "pairs", "mafalda", "space-time"}) {
        PlanConfig config = config_of(mechanism);
        config.rounds = 12;
        const UnrestrictedNoise noise = beside(config, topography);
        EXPECT_GE(noise.ratio(), 1) << mechanism;
        EXPECT_GE(noise.ratio_of_equal(), 1 - 1e-6) << mechanism;
        EXPECT_LE(noise.any.lower_bound, noise.equal.value) << mechanism;
        EXPECT_LE(noise.any.relative_gap(), 1e-6) << mechanism;
        expect_contains(text_of(noise), "any C");
    }
}

TEST(UnrestrictedNoise, OfAgentsWithBudgetsOfTheirOwnAndOneRoundIsThatOfThePlan) {
    const test::TemporaryFolder folder;
    PlanConfig config = config_of("corn");
    config.rounds = 1;
    config.utility = {Utility::Kind::one_step, 1};
    config.budgets_file = folder.write("budgets.txt", "1\n2\n4\n8\n");
    EXPECT_NEAR(beside(config, random_topography(4)).ratio(), 1, 1e-5);
}

TEST(UnrestrictedNoise, IsRefusedWhereLimitsAreOfAnotherKind) {
    const Topography topography = random_topography(5);
    for (const char* mechanism : {"none", "cdp", "laplace", "zip-dl"})
        expect_contains(
            message_of<ConfigError>([&] { (void)beside(config_of(mechanism), topography); }),
            "unrestricted-bound: on is not possible");
    PlanConfig config = config_of("ldp");
    config.rounds = 81;
    expect_contains(message_of<ConfigError>([&] { (void)beside(config, topography); }),
                    "rounds: 81 rounds of 5 agents");
}

}  // namespace
}  // namespace sotto
