#include "account/account_subject.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "config/run_fixtures.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/privacy/accountant.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::make_graph;
using test::message_of;
using test::metropolis;
using test::unit_plan;

SubjectConfig subject_config(const std::string& mechanism) {
    SubjectConfig config;
    config.graph.topology.topology = Topology::ring;
    config.graph.topology.agents = 5;
    config.plan.mechanism = mechanism;
    config.plan.rounds = 30;
    return config;
}

std::unique_ptr<AccountSubject> build(const SubjectConfig& config) {
    const auto network = make_memory_network(1, 1);
    return build_account_subject(config, *network);
}

TEST(AccountSubject, HasAPlanThatMeetsItsBudget) {
    for (const std::string mechanism : {"ldp", "pairs", "laplace", "zip-dl"}) {
        const auto subject = build(subject_config(mechanism));
        EXPECT_EQ(subject->plan.mechanism, mechanism);
        EXPECT_EQ(subject->delta, mechanism == "laplace" ? 0 : 1e-5);
        EXPECT_EQ(subject->process.graph, &subject->built.topography.graph);
        EXPECT_EQ(subject->process.plan, &subject->plan);
        EXPECT_EQ(subject->process.rounds(), 30);
        const auto reached = coalition_guarantees(
            subject->plan, subject->plan.coalition_size, subject->exposures, subject->delta);
        EXPECT_NEAR(largest(reached).epsilon, 10, 1e-4) << mechanism;
    }
}

TEST(AccountSubject, TakesASensitivityInsteadOfTheAdjacencys) {
    SubjectConfig config = subject_config("ldp");
    EXPECT_EQ(build(config)->exposures.front().sensitivity, 2 * config.plan.clip_norm);
    config.plan.noise_std = 2;
    EXPECT_EQ(build(config)->exposures.front().sensitivity, 1);
    config.sensitivity = 0.25;
    const auto subject = build(config);
    EXPECT_EQ(subject->exposures.front().sensitivity, 0.25);
    EXPECT_NEAR(observed_precision(subject->plan, {})(0), 0.25, 1e-12);
    config.sensitivity = 0;
    expect_contains(message_of<ConfigError>([&] { (void)build(config); }), "--sensitivity");
}

TEST(AccountSubject, ChoosesAsPlansOfSmallModelsDo) {
    SubjectConfig config = subject_config("mafalda");
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation = {.cycle = 4, .poisson = true};
    config.plan.sampling_probability = 0.01;
    const auto subject = build(config);
    EXPECT_EQ(subject->plan.temporal.kind, TemporalFactor::Kind::banded);
    EXPECT_EQ(subject->plan.temporal.lower.cols(), 4);
    config.plan.participation = {4};
    EXPECT_EQ(build(config)->plan.temporal.kind, TemporalFactor::Kind::dense);
}

TEST(AccountSubject, SplitsTheRunWhereAgentsLeave) {
    SubjectConfig config = subject_config("ldp");
    config.departures = "10:4";
    const auto subject = build(config);
    ASSERT_EQ(subject->process.phases.size(), 2U);
    EXPECT_EQ(subject->process.phases[0].rounds, 10);
    EXPECT_EQ(subject->process.phases[1].rounds, 20);
    EXPECT_EQ(subject->process.rounds(), 30);
    config.plan.mechanism = "laplace";
    expect_contains(message_of<ConfigError>([&] { (void)build(config); }),
                    "--departures: not possible with mechanism laplace");
}

PrivacyPhase phase_of(Membership members, long first, long rounds) {
    PrivacyPhase phase;
    phase.plan = unit_plan(members.size());
    for (int place = 0; place < members.size(); ++place) {
        phase.sensitivity.push_back(members.number(place) + 0.5);
        phase.sampling_probability.push_back(1);
    }
    phase.members = std::move(members);
    phase.use.steps.first_round = first;
    phase.rounds = rounds;
    return phase;
}

/// A run of five agents on a complete graph: rounds 0 to 7, then from round 5 on without agent 2.
class SentRun : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::complete, 5);
    Topography topography{graph, metropolis(graph)};
    std::vector<PrivacyPhase> phases{phase_of(Membership::everybody(5), 0, 8),
                                     phase_of({5, {0, 1, 3, 4}}, 5, 20)};
    std::vector<NoisePlan> plans = plans_by_number(phases);
    TrainConfig config = test::quadratic_config(5, "ldp", 25);

    SentRounds sent(long rounds) const {
        return sent_rounds(config, topography, phases, plans, rounds);
    }
};

TEST_F(SentRun, CountsEveryMessageOfEveryPhase) {
    const SentRounds run = sent(12);
    EXPECT_EQ(run.completed, 12);
    EXPECT_EQ(run.rounds, (std::vector<long>{8, 7}));
    ASSERT_EQ(run.process.phases.size(), 2U);
    EXPECT_EQ(run.process.phases[1].repeated, 3) << "rounds 5, 6 and 7 are done again";
    EXPECT_EQ(run.process.phases[1].departed, std::vector<int>{2});
    EXPECT_EQ(run.process.phases[1].mixing.at(0).weight(2, 2), 1);
    EXPECT_EQ(run.process.plan, plans.data());
    EXPECT_EQ(run.process.phases[1].plan, &plans[1]);
    const auto training = run.process.training_rounds();
    EXPECT_EQ(training[7], 7);
    EXPECT_EQ(training[8], 5);
    EXPECT_EQ(training.back(), 11);
}

TEST_F(SentRun, LeavesOutPhasesThatHaveSentNothing) {
    EXPECT_EQ(rounds_sent(phases, 0, 5), 8) << "a phase that is over has sent all of its rounds";
    EXPECT_EQ(rounds_sent(phases, 1, 5), 0);
    EXPECT_EQ(sent(5).phases.size(), 1U);
    phases.pop_back();
    EXPECT_EQ(rounds_sent(phases, 0, 3), 3) << "under way";
    EXPECT_TRUE(sent(0).phases.empty());
}

TEST_F(SentRun, KnowsWhoWasThereAndHowSensitive) {
    const SentRounds run = sent(12);
    EXPECT_EQ(run.of(2), &phases[0]);
    EXPECT_EQ(run.exposure(2).sensitivity, 2.5);
    phases.erase(phases.begin());
    phases.front().use.steps.first_round = 0;
    plans = plans_by_number(phases);
    const SentRounds later = sent(12);
    EXPECT_EQ(later.of(2), nullptr);
    EXPECT_EQ(later.exposure(3).sensitivity, 3.5) << "by number, not by place";
}

TEST_F(SentRun, TakesStepSizesByTrainingRounds) {
    EXPECT_TRUE(sent(12).process.step_sizes.empty()) << "equal steps";
    config.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
    const auto steps = sent(12).process.step_sizes;
    ASSERT_EQ(steps.size(), 15U);
    EXPECT_EQ(steps[5], config.plan.steps.at(5));
    EXPECT_EQ(steps[8], steps[5]) << "round 5 again";
    EXPECT_EQ(steps[14], config.plan.steps.at(11));
}

TEST_F(SentRun, CountsSampledRoundsOfTheLongestPattern) {
    for (PrivacyPhase& phase : phases) {
        phase.use.participation = {.cycle = 4, .poisson = true};
        phase.sampling_probability.assign(phase.sensitivity.size(), 0.5);
    }
    // Rounds 0 to 7, then 5 to 11: in pattern 1 there are 1, 5, 5, 9.
    const Exposure exposure = sent(12).exposure(0);
    EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 4);
    EXPECT_EQ(exposure.sampling_probability, 0.5);
}

const Graph& ring() {
    static const Graph graph = [] {
        TopologySpec spec;
        spec.topology = Topology::ring;
        spec.agents = 7;
        return make_topology(spec).graph;
    }();
    return graph;
}

Phase phase_of(MixingSchedule mixing, std::vector<int> departed = {}) {
    return {.rounds = 5, .mixing = std::move(mixing), .departed = std::move(departed)};
}

MessageProcess process_of(std::vector<Phase> phases) {
    MessageProcess process;
    process.graph = &ring();
    process.phases = std::move(phases);
    return process;
}

TEST(SetExchanges, TakesWhatTheConfigurationSays) {
    PlanConfig plan;
    plan.gossip_steps = 3;
    plan.momentum = 0.5;
    plan.final_gossip = 4;
    MessageProcess process =
        process_of({phase_of(MixingSchedule({make_mixing(ring(), "metropolis")}))});
    set_exchanges(process, plan);
    EXPECT_EQ(process.gossip.steps(), 3);
    EXPECT_TRUE(process.gossip.plain());
    EXPECT_EQ(process.momentum, 0.5);
    EXPECT_EQ(process.correction, Correction::none);
    plan.correction = Correction::tracking;
    set_exchanges(process, plan);
    EXPECT_EQ(process.correction, Correction::tracking);
    EXPECT_EQ(process.exchanges(), 6);
    EXPECT_EQ(process.final_gossip, 4);
    set_exchanges(process, PlanConfig{});
    EXPECT_EQ(process.gossip.steps(), 1);
    EXPECT_EQ(process.momentum, 0);
    EXPECT_EQ(process.final_gossip, 0);
}

TEST(SetExchanges, WeighsExchangesByTheMixingOfThoseWhoAreThere) {
    PlanConfig plan;
    plan.gossip_steps = 4;
    plan.gossip = GossipRule::chebyshev;
    const std::vector<int> left{0, 1, 2, 3, 4, 6};
    const Graph between = ring().induced_subgraph(left);
    const MixingMatrix fewer = make_mixing(between, "metropolis");
    Membership members = Membership::everybody(7);
    members.numbers = left;
    MessageProcess process =
        process_of({phase_of(MixingSchedule({make_mixing(ring(), "metropolis")})),
                    phase_of(MixingSchedule({mixing_of_all(ring(), fewer, members)}), {5})});
    set_exchanges(process, plan);
    const GossipPolynomial of_all = configured_gossip(plan, make_mixing(ring(), "metropolis"));
    const GossipPolynomial of_fewer = configured_gossip(plan, fewer);
    for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(process.gossip_of(process.phases[0]).here(k), of_all.here(k));
        EXPECT_EQ(process.gossip_of(process.phases[1]).here(k), of_fewer.here(k));
    }
    EXPECT_NE(of_all.here(1), of_fewer.here(1));
}

std::vector<Phase> phases_by(const Topography& topography,
                             const std::string& mixing,
                             const std::string& departures) {
    GraphConfig config;
    config.mixing = mixing;
    PlanConfig plan;
    plan.mechanism = "corn";
    plan.rounds = 10;
    return phases_of(topography, config, plan, departures);
}

TEST(PhasesOf, MixAmongThoseWhoStay) {
    const Graph graph = Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 3}});
    const Topography topography{graph, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    const auto phases = phases_by(topography, "metropolis", "4:2;6:0");
    ASSERT_EQ(phases.size(), 3u);
    EXPECT_EQ(phases[0].rounds, 4);
    EXPECT_EQ(phases[1].rounds, 2);
    EXPECT_EQ(phases[2].rounds, 4);
    EXPECT_TRUE(phases[0].departed.empty());
    EXPECT_EQ(phases[1].departed, (std::vector<int>{2}));
    EXPECT_EQ(phases[2].departed, (std::vector<int>{0, 2}));
    EXPECT_EQ(phases[0].mixing.at(0).dense(), topography.mixing.dense());
    // Without 2: edges 01, 13, 34, 40, all degrees 2.
    const MixingMatrix& second = phases[1].mixing.at(0);
    EXPECT_EQ(second.weight(2, 2), 1);
    for (const auto& [u, v] : std::vector<Edge>{{0, 1}, {1, 3}, {3, 4}, {0, 4}})
        EXPECT_NEAR(second.weight(u, v), 1.0 / 3, 1e-15);
    EXPECT_EQ(second.weight(1, 2), 0);
    // Without 0 and 2: the path 1 - 3 - 4.
    EXPECT_NEAR(phases[2].mixing.at(0).weight(1, 1), 2.0 / 3, 1e-15);
    EXPECT_NEAR(phases[2].mixing.at(0).weight(3, 3), 1.0 / 3, 1e-15);

    const auto refused = [&](const std::string& departures) {
        return message_of<ConfigError>(
            [&] { (void)phases_by(topography, "metropolis", departures); });
    };
    expect_contains(refused("4"), "ROUND:AGENTS");
    expect_contains(refused("0:1"), "from 1 to 9");
    expect_contains(refused("10:1"), "from 1 to 9");
    expect_contains(refused("5:1;5:2"), "ascend");
    expect_contains(refused("3:1;5:1"), "agent 1 has already left");
    expect_contains(refused("3:0,1,2,3,4"), "nobody is left");
    expect_contains(refused("3:9"), "agent 9 does not exist");
    expect_contains(
        message_of<ConfigError>([&] { (void)phases_by(topography, "some.npy", "3:1"); }),
        "some.npy");
}

TEST(PhasesOf, OptimiseWeightsAmongThoseWhoStay) {
    const Graph graph = Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {1, 3}});
    const Topography topography{graph, MixingMatrix::from_rule(graph, MixingRule::metropolis)};
    // In the end 1 - 2 and 4 are apart.
    const auto phases = phases_by(topography, "optimised", "4:0;6:3");
    ASSERT_EQ(phases.size(), 3u);
    for (const Phase& phase : phases) {
        const MixingMatrix& mixing = phase.mixing.at(0);
        EXPECT_TRUE(mixing.symmetric());
        for (const int gone : phase.departed) EXPECT_EQ(mixing.weight(gone, gone), 1);
    }
    EXPECT_NEAR(phases[2].mixing.at(0).weight(1, 2), 0.5, 0.01);
    EXPECT_EQ(phases[2].mixing.at(0).weight(4, 4), 1);
}

TEST(MixingOfAll, LeavesWhoIsGoneToItself) {
    const Graph graph = Graph::from_edges(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
    const Membership members{4, {0, 1, 3}};
    const Graph there = graph.induced_subgraph(members.numbers);
    const MixingMatrix mixing = MixingMatrix::from_rule(there, MixingRule::metropolis);
    const MixingMatrix all = mixing_of_all(graph, mixing, members);
    EXPECT_EQ(all.weight(2, 2), 1);
    EXPECT_EQ(all.weight(1, 2), 0);
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            EXPECT_EQ(all.weight(members.number(a), members.number(b)), mixing.weight(a, b));
    EXPECT_TRUE((all.dense() * Eigen::VectorXd::Ones(4)).isOnes(1e-15));
}

}  // namespace
}  // namespace sotto
