#include "account/sent_rounds.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "config/run_fixtures.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using test::make_graph;
using test::metropolis;
using test::unit_plan;

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

}  // namespace
}  // namespace sotto
