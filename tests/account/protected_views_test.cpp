#include "account/protected_views.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "account/account_subject.hpp"
#include "config/run_fixtures.hpp"
#include "net/memory_network.hpp"
#include "planning/budgets.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(ParseProtectedViews, KnowsThreeKindsOfObservers) {
    EXPECT_FALSE(parse_protected_views("protect-against", "eavesdropper").partial());
    const ProtectedViews two = parse_protected_views("protect-against", "node:2");
    EXPECT_EQ(two, (ProtectedViews{View::Kind::neighbours, 2}));
    EXPECT_TRUE(two.partial());
    EXPECT_EQ(parse_protected_views("protect-against", "secure-sum:1"),
              (ProtectedViews{View::Kind::secure_sum, 1}));
    for (const char* wrong :
         {"", "node", "node:", "node:0", "node:-1", "node:1.5", "secure-sum:x", "coalition:1"})
        expect_contains(
            message_of<ConfigError>([&] { (void)parse_protected_views("protect-against", wrong); }),
            "protect-against");
}

TEST(ParseProtectedViews, NamesTheViewThatShowsTheirFigures) {
    EXPECT_EQ(view_of({}), "");
    EXPECT_EQ(view_of({View::Kind::neighbours, 1}), "all-nodes");
    EXPECT_EQ(view_of({View::Kind::secure_sum, 1}), "all-secure-sums");
    EXPECT_EQ(view_of({View::Kind::neighbours, 2}), "");
}

TrainConfig averaging_config(const std::string& mechanism) {
    TrainConfig config = test::quadratic_config(7, mechanism, 10);
    config.task.task = "averaging";
    config.l2 = 1;
    config.plan.steps = {.kind = StepSchedule::Kind::inverse, .step_size = 1, .pieces = {}};
    config.plan.epsilon = 2;
    return config;
}

/// Averaging by a ring of seven agents in ten rounds.
struct Averaging {
    explicit Averaging(const std::string& mechanism)
        : config(averaging_config(mechanism)),
          topography(build_topography(config.graph, config.plan).topography) {
        const SettledPlan settled = static_cast<const PlanConfig&>(config.plan);
        const CountedRounds rounds = count_rounds(settled, 7, {});
        const NoisePlan plan = plan_noise(settled, topography, rounds).design.plan;
        counted = count_plan(plan, settled, topography, rounds);
        phase = first_phase(
            plan, counted.exposures, plan_use(config.plan, topography.mixing), config.plan.rounds);
    }
    [[nodiscard]] WorstProtectedView worst(const ProtectedViews& views,
                                           const std::vector<int>& targets) const {
        return worst_protected_view(views, config, topography, phase, counted.budgets, targets);
    }

    TrainConfig config;
    Topography topography;
    CountedPlan counted;
    PrivacyPhase phase;
};

const std::vector<int> everybody{0, 1, 2, 3, 4, 5, 6};

TEST(WorstProtectedView, IsTheLargestOfAllByTrying) {
    for (const char* mechanism : {"ldp", "pairs"}) {
        const Averaging averaging(mechanism);
        const std::vector<PrivacyPhase> phases{averaging.phase};
        const auto plans = plans_by_number(phases);
        const SentRounds run =
            sent_rounds(averaging.config, averaging.topography, phases, plans, 10);
        for (const View::Kind kind : {View::Kind::neighbours, View::Kind::secure_sum}) {
            double largest = 0;
            for (int observer = 0; observer < 7; ++observer)
                for (int target = 0; target < 7; ++target) {
                    if (target == observer) continue;
                    const auto squared =
                        view_sensitivity(run.process, {kind, {observer}}, {{target}}, {}, {});
                    const double mu = averaging.counted.budgets[0].limit.mu().value();
                    const double delta = averaging.counted.exposures[0].sensitivity;
                    largest =
                        std::max(largest, delta * delta * squared.front().certified() / (mu * mu));
                }
            const WorstProtectedView worst = averaging.worst({kind, 1}, everybody);
            EXPECT_NEAR(worst.share, largest, 2e-3 * largest) << mechanism;
            EXPECT_EQ(worst.observers.size(), 1U);
            EXPECT_LT(worst.share, kind == View::Kind::neighbours ? 1.0001 : 0.6) << mechanism;
        }
    }
}

TEST(WorstProtectedView, OfMoreObserversOrTargetsIsNoSmaller) {
    const Averaging averaging("ldp");
    const double one = averaging.worst({View::Kind::secure_sum, 1}, everybody).share;
    EXPECT_GT(averaging.worst({View::Kind::secure_sum, 2}, everybody).share, 1.05 * one);
    const WorstProtectedView of_two = averaging.worst({View::Kind::secure_sum, 1}, {2, 5});
    EXPECT_LE(of_two.share, one);
    EXPECT_TRUE(of_two.target == 2 || of_two.target == 5);
    EXPECT_EQ(averaging.worst({View::Kind::secure_sum, 1}, {}).share, 0);
}

TEST(WorstProtectedView, RefusesWhatItCannotExamine) {
    const Averaging averaging("ldp");
    const auto refused = [&](const ProtectedViews& views) {
        return message_of<ConfigError>([&] { (void)averaging.worst(views, everybody); });
    };
    expect_contains(refused({View::Kind::neighbours, 7}), "leaves nobody to protect");
    Averaging momentum("ldp");
    momentum.config.plan.momentum = 0.5;
    expect_contains(message_of<ConfigError>([&] {
                        (void)momentum.worst({View::Kind::neighbours, 1}, everybody);
                    }),
                    "momentum");
    Averaging without("none");
    without.counted.budgets.assign(7, make_budget(2, 1e-5, Calibration::exact));
    EXPECT_THROW((void)without.worst({View::Kind::neighbours, 1}, everybody), PrivacyError);
}

}  // namespace
}  // namespace sotto
