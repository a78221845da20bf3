#include "run/resumed_phase.hpp"

#include <cmath>

#include "run/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/composition.hpp"
#include "sotto/privacy/ledger.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

/// A run of `rounds` rounds of which the first `sent` have left; taken up after `round` of them.
struct Interrupted {
    PlanConfig config;
    Topography topography;
    Resumption resumption;
    PlanConfig rest;  ///< of the phase to come

    [[nodiscard]] std::vector<PrivacyBudget> budgets_left() const {
        const int agents = topography.graph.agents();
        return phase_budgets(build_budgets(config, agents),
                             resumption,
                             rest,
                             topography,
                             Membership::everybody(agents));
    }
};

Interrupted interrupted(const std::string& mechanism, long sent, long round) {
    Interrupted run{config_of(mechanism), random_topography(5), {}, {}};
    const test::Planned planned = test::plan(run.config, run.topography);
    PrivacyPhase phase = first_phase(planned.planned.design.plan,
                                     planned.exposures,
                                     plan_use(run.config, run.topography.mixing),
                                     sent);
    run.resumption.past.push_back(std::move(phase));
    run.resumption.first_round = run.resumption.round = round;
    run.rest = run.config;
    run.rest.rounds -= round;
    run.rest.steps.first_round = round;
    return run;
}

/// The largest epsilon once the rest has been sent under a plan for what is left.
double epsilon_in_the_end(const Interrupted& run, const PlannedNoise& planned) {
    const int agents = run.topography.graph.agents();
    PrivacyRecord record;
    record.phases = run.resumption.past;
    record.phases.push_back(first_phase(planned.design.plan,
                                        build_exposures(run.rest, agents, {}),
                                        plan_use(run.rest, run.topography.mixing),
                                        run.rest.rounds));
    record.budgets = build_budgets(run.config, agents);
    return Ledger(std::move(record)).epsilon_after(run.config.rounds);
}

RunHistory history_of(int agents) {
    RunHistory history;
    history.phases.emplace_back().members = Membership::everybody(agents);
    return history;
}

TEST(MembersWithout, KeepTheirNumbers) {
    const Membership members = members_without(history_of(5), {1, 3});
    EXPECT_EQ(members.all, 5);
    EXPECT_EQ(members.numbers, (std::vector<int>{0, 2, 4}));
    RunHistory later = history_of(5);
    later.phases.back().members = members;
    expect_contains(message_of<ConfigError>([&] { (void)members_without(later, {3}); }),
                    "agent 3 has already left");
    expect_contains(message_of<ConfigError>([&] { (void)members_without(later, {7}); }),
                    "agent 7 does not exist");
    expect_contains(message_of<ConfigError>([&] {
                        (void)members_without(later, {0, 2, 4});
                    }),
                    "nobody is left");
}

TEST(KeepMembers, TakesThoseWhoLeftOutOfTheGraph) {
    TrainConfig config;
    config.graph.topology.topology = Topology::ring;
    config.graph.topology.agents = 6;
    BuiltTopography built = build_topography(config.graph, 10);
    keep_members(built, config, {6, {0, 1, 2, 3, 4}});
    EXPECT_EQ(built.topography.graph.agents(), 5);
    EXPECT_EQ(built.topography.graph.edges().size(), 4u);
    EXPECT_EQ(built.description, "ring, without 5");
    built = build_topography(config.graph, 10);
    expect_contains(message_of<ConfigError>([&] {
                        keep_members(built, config, {6, {0, 1, 3, 5}});
                    }),
                    "is not connected");
}

TEST(PhaseBudgets, LeaveWhatWasNotSpent) {
    for (const std::string mechanism : {"ldp", "corn", "laplace"}) {
        const Interrupted run = interrupted(mechanism, 40, 30);
        const auto left = run.budgets_left();
        const auto whole = build_budgets(run.config, 5);
        PrivacyLosses spent(5);
        spent.add(run.resumption.past.front(), 40, 0);
        for (std::size_t u = 0; u < 5; ++u) {
            EXPECT_EQ(left[u].epsilon, 10);
            EXPECT_NEAR(left[u].limit.amount().value +
                            spent.worst_of(static_cast<int>(u), left[u].delta).amount().value,
                        whole[u].limit.amount().value,
                        1e-12)
                << mechanism;
        }
    }
}

TEST(PhaseBudgets, AreEmptyWhereEverythingWasSent) {
    const Interrupted run = interrupted("ldp", 100, 60);
    expect_contains(message_of<PrivacyError>([&] { (void)run.budgets_left(); }),
                    "nothing is left for 40 more");
}

TEST(PlanPhase, KeepsTheRunWithinItsBudget) {
    for (const std::string mechanism : {"ldp", "corn", "mafalda", "laplace"}) {
        const Interrupted run = interrupted(mechanism, 12, 10);
        const PlannedNoise planned = plan_phase(
            run.rest, run.topography, build_exposures(run.rest, 5, {}), run.budgets_left(), true);
        EXPECT_LE(epsilon_in_the_end(run, planned), 10 * (1 + 1e-9)) << mechanism;
        // Of correlated rounds every pattern counts as the worst, and something may stay unspent.
        if (mechanism != "mafalda") {
            EXPECT_GE(epsilon_in_the_end(run, planned), 9.99) << mechanism;
        }
    }
}

TEST(PlanPhase, MakesAPlanOfAFileLouder) {
    const test::TemporaryFolder folder;
    for (const std::string mechanism : {"ldp", "laplace"}) {
        Interrupted run = interrupted(mechanism, 12, 10);
        run.rest.plan_file = folder.write("plan.json", to_json(run.resumption.past.front().plan));
        const auto exposures = build_exposures(run.rest, 5, {});
        const auto left = run.budgets_left();
        const PlannedNoise planned = plan_phase(run.rest, run.topography, exposures, left, true);
        EXPECT_GT(planned.design.plan.scale, run.resumption.past.front().plan.scale);
        EXPECT_NEAR(epsilon_in_the_end(run, planned), 10, 1e-6) << mechanism;
        // At the start of a run the plan is taken as it is.
        EXPECT_EQ(plan_phase(run.rest, run.topography, exposures, left, false).design.plan.scale,
                  run.resumption.past.front().plan.scale);
    }
}

TEST(KeptPlan, IsThatOfThePhase) {
    const Interrupted run = interrupted("ldp", 12, 10);
    const PlannedNoise kept = kept_plan(run.resumption.past.front(), run.config);
    EXPECT_EQ(kept.design.plan.hash(), run.resumption.past.front().plan.hash());
    EXPECT_TRUE(kept.kept);
    EXPECT_FALSE(kept.solved);
    EXPECT_TRUE(std::isnan(kept.design.objective));
}

TEST(RequireCounted, RefusesAHistoryThatCountsLessThanAnAgentKnows) {
    for (const std::string mechanism : {"ldp", "laplace"}) {
        Interrupted run = interrupted(mechanism, 40, 30);
        run.resumption.checkpoint_phase = 0;
        PrivacyLosses counted(5);
        counted.add(run.resumption.past.front(), 30, 0);
        Checkpoint& own = run.resumption.local.emplace_back();
        own.agent = 2;
        own.spent = counted.amounts_of(2);
        run.resumption.past.front().use.steps.first_round = 0;
        EXPECT_NO_THROW(require_counted(run.resumption, 0));
        own.spent *= 1.01;
        expect_contains(message_of<PrivacyError>([&] { require_counted(run.resumption, 0); }),
                        "agent 2: the run's history counts");
    }
}

TEST(ResumptionText, SaysHowTheRunGoesOn) {
    Resumption resumption;
    resumption.notes = {"the newest checkpoint is damaged"};
    const std::string text = resumption_text({30, 10, 1, false, {1, 4}}, resumption);
    expect_contains(text, "resumed    after 30 rounds, with new keys (epoch 1)");
    expect_contains(text, "10 rounds before the failure may have left");
    expect_contains(text, "without agents 1, 4\n");
    expect_contains(text, "the newest checkpoint is damaged\n");
    expect_contains(resumption_text({30, 0, 0, true, {}}, {}), "with the same keys");
}

}  // namespace
}  // namespace sotto
