#include <fmt/format.h>

#include <cmath>

#include "agent/recording/recorded_view.hpp"
#include "options/train_options.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "store/run_history.hpp"
#include "training/resume.hpp"
#include "training/resume_fixtures.hpp"
#include "trust/identity.hpp"

namespace sotto {
namespace {

using test::agents;
using test::config_of;
using test::expect_contains;
using test::Fate;
using test::Json;
using test::message_of;
using test::random_topography;
using test::read_json;
using test::resumed;
using test::rounds;
using test::run;
using test::run_until_killed;
using test::run_until_stopped;

namespace fs = std::filesystem;

/// A run of `rounds` rounds of which the first `sent` have left; resumed after `round` of them.
struct Interrupted {
    PlanConfig config;
    Topography topography;
    Resumption resumption;
    PlanConfig rest;  ///< of the phase to come

    [[nodiscard]] std::vector<PrivacyBudget> budgets_left() const {
        const int count = topography.graph.agents();
        return phase_budgets(build_budgets(config, count),
                             resumption,
                             rest,
                             topography,
                             Membership::everybody(count));
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
    const int count = run.topography.graph.agents();
    PrivacyRecord record;
    record.phases = run.resumption.past;
    record.phases.push_back(first_phase(planned.design.plan,
                                        build_exposures(run.rest, count, {}),
                                        plan_use(run.rest, run.topography.mixing),
                                        run.rest.rounds));
    record.budgets = build_budgets(run.config, count);
    return Ledger(std::move(record)).epsilon_after(run.config.rounds);
}

class ResumedPhase : public test::ResumableRun {};

TEST_F(ResumedPhase, CountsRoundsThatHadLeftAndStaysWithinTheBudget) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_EQ(rest.resumed->round, 30);
    EXPECT_EQ(rest.resumed->repeated, 7);
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);

    // By hand: two plans, each as long as its messages were sent.
    const Json json = ledger("run");
    const RunHistory history = read_history(path("run"));
    ASSERT_EQ(history.phases.size(), 2U);
    EXPECT_EQ(history.phases[0].rounds, 30 + rest.resumed->repeated);
    EXPECT_EQ(history.phases[1].use.steps.first_round, 30);
    EXPECT_EQ(history.phases[1].key_epoch, 1U);
    for (int u = 0; u < agents; ++u) {
        double squared = 0;
        for (const PrivacyPhase& phase : history.phases)
            squared += std::pow(2 * first.plan.clip_norm, 2) * static_cast<double>(phase.rounds) *
                       coalition_precision(phase.plan, 1)(u);
        const double mu = json.at("agents").at(static_cast<std::size_t>(u)).at("mu");
        EXPECT_NEAR(mu, std::sqrt(squared), 1e-9 * mu);
        EXPECT_LE(mu, gdp_mu(first.plan.epsilon, first.plan.delta) * (1 + 1e-9));
    }
    // Louder than it would have been.
    EXPECT_GT(history.phases[1].plan.scale, history.phases[0].plan.scale);
}

TEST_F(ResumedPhase, CorrelatedRoundsBeginAnewWithinTheBudget) {
    for (const char* mechanism : {"mafalda", "space-time"}) {
        TrainConfig first = config(mechanism, mechanism);
        first.plan.adjacency = Adjacency::record;
        first.plan.participation = {5};
        first.checkpoint_every = 10;
        run_until_killed(first, 24);
        const TrainResult rest = run(resumed(first, path(mechanism)));
        EXPECT_EQ(rest.resumed->round, 20);
        EXPECT_GT(rest.epsilon, 0.5 * first.plan.epsilon) << mechanism;
        EXPECT_LE(rest.epsilon, first.plan.epsilon * (1 + 1e-9)) << mechanism;
        const RunHistory history = read_history(path(mechanism));
        EXPECT_EQ(history.phases[1].plan.temporal.lower.rows(), 40) << mechanism;
    }
}

TEST_F(ResumedPhase, KeepsItsNoiseScheduleWithTheSameKeys) {
    TrainConfig first = config("run");
    first.plan.steps = {StepSchedule::Kind::linear, 0.05, {}, 0, rounds};
    first.plan.noise_schedule = "auto";
    const long sent = run_until_stopped(first, 25).rounds;
    ASSERT_LT(sent, rounds);
    // What these rounds have spent by themselves, which is more than their share.
    const RunHistory history = read_history(path("run"));
    const Eigen::VectorXd diagonal = history.phases[0].plan.temporal.lower;
    const double share = diagonal.head(sent).squaredNorm() / static_cast<double>(rounds);
    EXPECT_GT(share, 1.1 * static_cast<double>(sent) / static_cast<double>(rounds));
    const double mu = ledger("run").at("headline").at("mu");
    EXPECT_NEAR(mu, std::sqrt(share) * gdp_mu(first.plan.epsilon, first.plan.delta), 1e-6 * mu);
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_TRUE(rest.resumed->same_keys);
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
}

TEST_F(ResumedPhase, GoesOnWithTheRestOfANoiseSchedule) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    first.plan.steps = {StepSchedule::Kind::linear, 0.05, {}, 0, rounds};
    first.plan.noise_schedule = "auto";
    run_until_killed(first, 37);
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_EQ(rest.resumed->round, 30);
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
    const RunHistory history = read_history(path("run"));
    ASSERT_EQ(history.phases.size(), 2U);
    const Eigen::VectorXd before = history.phases[0].plan.temporal.lower;
    const Eigen::VectorXd after = history.phases[1].plan.temporal.lower;
    ASSERT_EQ(after.size(), rounds - 30);
    EXPECT_TRUE(after.isApprox(after(0) / before(30) * before.tail(rounds - 30), 1e-9));
    // By hand: what the rounds that had left, 37 of them, have spent, and what the others do.
    const Json json = ledger("run");
    for (int u = 0; u < agents; ++u) {
        const double squared =
            std::pow(2 * first.plan.clip_norm, 2) *
            (before.head(history.phases[0].rounds).squaredNorm() *
                 coalition_precision(history.phases[0].plan, 1)(u) +
             after.squaredNorm() * coalition_precision(history.phases[1].plan, 1)(u));
        const double mu = json.at("agents").at(static_cast<std::size_t>(u)).at("mu");
        EXPECT_NEAR(mu, std::sqrt(squared), 1e-9 * mu);
    }
}

TEST_F(ResumedPhase, RefusesWhenNothingIsLeft) {
    TrainConfig first = config("run", "ldp");
    first.plan.rounds = 6;
    first.checkpoint_every = 1;
    for (int i = 0; i < 3; ++i)
        run_until_killed(i == 0 ? first : resumed(first, path("run")), i + 2);
    // Every lost round makes the rest louder, but never reveals more.
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
    // The history of a run that has spent all.
    TrainConfig spent = config("spent", "ldp");
    spent.checkpoint_every = 10;
    run_until_killed(spent, 15);
    fs::path mark;
    mark = path("spent") + "/sent/0";
    fs::remove(path("spent") + "/sent/0.now");
    std::string text = read_file(mark);
    text = text.substr(0, text.rfind("round ")) + "round " + std::to_string(rounds) + "\n";
    std::ofstream(mark) << text;
    expect_contains(message_of<PrivacyError>([&] { (void)run(resumed(spent, path("spent"))); }),
                    "nothing is left");
    // It can still end, with the models of its checkpoint, and counts what may have left.
    TrainConfig end = resumed(spent, path("spent"));
    end.resume->finish = true;
    Fate fate;
    const TrainResult ended = run(end, fate);
    EXPECT_EQ(fate.completed, 0);
    EXPECT_EQ(ended.rounds, 10);
    EXPECT_FALSE(ended.interrupted);
    EXPECT_EQ(ended.resumed->repeated, rounds - 10);
    EXPECT_NEAR(ended.epsilon, spent.plan.epsilon, 1e-6);
    EXPECT_EQ(ledger("spent").at("status"), "completed");
    EXPECT_EQ(ledger("spent").at("rounds").at("accounted"), rounds);
    for (int agent = 0; agent < agents; ++agent)
        EXPECT_EQ(
            read_npy(path("spent") + fmt::format("/agents/{}/model.npy", agent)),
            read_checkpoint(checkpoints_in(path("spent") + "/checkpoints/000000000010"), agent)
                .checkpoint.model);
    expect_contains(message_of<Error>([&] { (void)run(end); }), "is complete");
}

TEST_F(ResumedPhase, MayBeTheLastWithoutAnotherRound) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    TrainConfig end = resumed(first, path("run"));
    end.resume->finish = true;
    Fate fate;
    const TrainResult ended = run(end, fate);
    expect_contains(fate.report, "after 30 rounds, where it ends, by --finish");
    expect_contains(
        fate.report,
        "messages of 7 more rounds may have been sent before the failure: epsilon counts them\n");
    EXPECT_EQ(ended.rounds, 30);
    EXPECT_LT(ended.epsilon, first.plan.epsilon);
    EXPECT_EQ(ledger("run").at("phases").size(), 1U);
    EXPECT_EQ(ledger("run").at("rounds").at("accounted"), 37);
    // What 37 of the rounds reveal.
    TrainConfig whole = config("whole");
    (void)run_until_stopped(whole, 37);
    EXPECT_LE(ledger("run").at("headline").at("epsilon").get<double>(),
              ledger("whole").at("headline").at("epsilon").get<double>());
}

TEST_F(ResumedPhase, RefusesAHistoryThatCountsLessThanTheAgentsKnow) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const auto tamper = [&](const char* key, double factor) {
        const fs::path file = fs::path(folder.path("run/history.json"));
        Json json = read_json(file);
        for (auto& value : json.at("phases").at(0).at(key)) value = value.get<double>() * factor;
        std::ofstream(file) << json.dump();
    };
    tamper("sensitivity", 0.5);
    expect_contains(message_of<PrivacyError>([&] { (void)run(resumed(first, path("run"))); }),
                    "agent 0: rank 0's history says sensitivity 0.1 of phase 0, the agent's own "
                    "record 0.2");
}

TEST_F(ResumedPhase, InjectsInEveryPhaseWhatItsPlanSays) {
    TrainConfig first = config("run");
    first.noise_seed.reset();
    first.plan.rounds = 400;
    first.checkpoint_every = 200;
    first.record_views = Membership::everybody(agents).numbers;
    run_until_killed(first, 260);
    (void)run(resumed(first, path("run")));
    const RunHistory history = read_history(path("run"));
    ASSERT_EQ(history.phases.size(), 2U);
    const Eigen::MatrixXd covariance = spatial_covariance(history.phases[1].plan);
    EXPECT_GT(covariance(0, 0), 1.05 * spatial_covariance(history.phases[0].plan)(0, 0));
    std::vector<RecordedView> views;
    for (int u = 0; u < agents; ++u)
        views.push_back(
            read_recorded_view(fs::path(path("run")) / "views-1" / std::to_string(u) / "view.bin"));
    ASSERT_EQ(views[0].records.size(), 200U);
    EXPECT_EQ(views[0].records.front().round, 200);
    Eigen::MatrixXd products = Eigen::MatrixXd::Zero(agents, agents);
    double count = 0;
    for (std::size_t r = 0; r < views[0].records.size(); ++r) {
        Eigen::MatrixXd noise(views[0].records[r].noise.rows(), agents);
        for (int u = 0; u < agents; ++u)
            noise.col(u) = views[static_cast<std::size_t>(u)].records[r].noise.col(0);
        products += noise.transpose() * noise;
        count += static_cast<double>(noise.rows());
    }
    for (int u = 0; u < agents; ++u)
        for (int v = 0; v < agents; ++v) {
            // Var of a product of two normals: R_uu R_vv + R_uv^2; five standard errors.
            const double error = 5 * std::sqrt((covariance(u, u) * covariance(v, v) +
                                                covariance(u, v) * covariance(u, v)) /
                                               count);
            EXPECT_NEAR(products(u, v) / count, covariance(u, v), error) << u << " " << v;
        }
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
            run.rest, run.topography, {build_exposures(run.rest, 5, {}), run.budgets_left()}, true);
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
        const CountedRounds left{build_exposures(run.rest, 5, {}), run.budgets_left()};
        const PlannedNoise planned = plan_phase(run.rest, run.topography, left, true);
        EXPECT_GT(planned.design.plan.scale, run.resumption.past.front().plan.scale);
        EXPECT_NEAR(epsilon_in_the_end(run, planned), 10, 1e-6) << mechanism;
        // At the start of a run the plan is taken as it is.
        EXPECT_EQ(plan_phase(run.rest, run.topography, left, false).design.plan.scale,
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

TEST(GoingOnAs, KeepsThePhaseAsItWasAndRefusesOptionsThatCountOtherwise) {
    const Interrupted run = interrupted("ldp", 12, 10);
    PrivacyPhase before = run.resumption.past.front();
    before.sessions.resize(1);
    PrivacyPhase now = before;
    now.sessions.front().fill(1);
    now.rounds = 100;
    const PrivacyPhase both = going_on_as(before, now, run.config);
    EXPECT_EQ(both.sessions.size(), 2U);
    EXPECT_EQ(both.rounds, 100);
    now.use.own_weights *= 1 + 1e-12;
    EXPECT_EQ(going_on_as(before, now, run.config).use.own_weights, before.use.own_weights);
    now.use.steps.step_size *= 2;
    expect_contains(message_of<PrivacyError>([&] { (void)going_on_as(before, now, run.config); }),
                    "agent 0: the phase that goes on was counted with step_size");
}

TEST_F(ResumedPhase, OfRandomAllocationBeginsAnEpochAndCountsTheOneThatWasCut) {
    TrainConfig first = config("ldp", "ldp");
    first.plan.adjacency = Adjacency::record_add_remove;
    first.plan.participation = {.rounds_an_epoch = 8};
    first.plan.epsilon = 3;
    first.checkpoint_every = 10;
    run_until_killed(first, 33);
    const TrainResult rest = run(resumed(first, path("ldp")));
    EXPECT_EQ(rest.resumed->round, 30);
    EXPECT_LE(rest.epsilon, 3);
    EXPECT_GT(rest.epsilon, 2.9);
    // By hand: rounds 0 to 32 are five epochs, and 30 to 59 four, from round 30 on.
    const RunHistory history = read_history(path("ldp"));
    ASSERT_EQ(history.phases.size(), 2U);
    EXPECT_EQ(history.phases[1].use.steps.first_round, 30);
    double worst = 0;
    for (std::size_t u = 0; u < agents; ++u) {
        std::vector<SampledRounds> epochs;
        for (std::size_t phase = 0; phase < 2; ++phase) {
            const PrivacyPhase& own = history.phases[phase];
            const double precision = coalition_precision(own.plan, 0)(static_cast<Eigen::Index>(u));
            epochs.push_back(allocated_rounds(
                1 / (own.sensitivity[u] * std::sqrt(precision)), 8, phase == 0 ? 5 : 4));
        }
        worst = std::max(worst, PrivacyLoss::sampled(epochs).epsilon(1e-5).upper);
    }
    EXPECT_NEAR(worst, rest.epsilon, 2e-3 * worst);
}

TEST_F(ResumedPhase, SampledPartsStayWithinTheBudgetInEveryPattern) {
    for (const char* mechanism : {"ldp", "mafalda"}) {
        TrainConfig first = config(mechanism, mechanism);
        first.plan.adjacency = Adjacency::record_add_remove;
        first.plan.participation = {.cycle = 4, .poisson = true};
        first.plan.batch_size = 6;
        first.plan.epsilon = 3;
        first.checkpoint_every = 10;
        run_until_killed(first, 33);
        const TrainResult rest = run(resumed(first, path(mechanism)));
        EXPECT_EQ(rest.resumed->round, 30);
        EXPECT_EQ(rest.resumed->repeated, 3);
        EXPECT_LE(rest.epsilon, 3) << mechanism;
        EXPECT_GT(rest.epsilon, 2.9) << mechanism;
        // By hand: rounds 0 to 32, then 30 to 59, each with the noise of its phase, in the part of
        // a record.
        const RunHistory history = read_history(path(mechanism));
        ASSERT_EQ(history.phases.size(), 2U);
        EXPECT_GT(history.phases[1].plan.scale, history.phases[0].plan.scale);
        double worst = 0;
        for (std::size_t u = 0; u < agents; ++u)
            for (long part = 0; part < 4; ++part) {
                std::vector<SampledRounds> rounds_of_part;
                for (const PrivacyPhase& phase : history.phases) {
                    const long begin = phase.use.steps.first_round;
                    long count = 0;
                    for (long t = begin; t < begin + phase.rounds; ++t) count += t % 4 == part;
                    const double precision =
                        coalition_precision(phase.plan, 0)(static_cast<Eigen::Index>(u));
                    rounds_of_part.push_back({1 / (phase.sensitivity[u] * std::sqrt(precision)),
                                              phase.sampling_probability[u],
                                              count});
                }
                worst = std::max(worst, PrivacyLoss::sampled(rounds_of_part).epsilon(1e-5).upper);
            }
        EXPECT_NEAR(worst, rest.epsilon, 2e-3 * worst) << mechanism;
        EXPECT_LE(worst, 3 * (1 + 1e-6)) << mechanism;
    }
}

}  // namespace
}  // namespace sotto
