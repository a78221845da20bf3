#include "views/view_rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "views/phase_fixtures.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(NoiseSources, HaveTheCovarianceOfWhatTheViewDoesNotKnow) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 3);
    const NoisePlan plan = random_plan(graph, 3);
    for (const std::vector<int>& members : {std::vector<int>{}, {2}, {0, 5}}) {
        const NoiseSources sources = noise_sources(plan, {View::Kind::neighbours, members});
        // R of the plan without the streams of groups that a member belongs to.
        Eigen::MatrixXd added = Eigen::MatrixXd::Zero(7, std::ssize(plan.streams));
        for (const NoiseRow& row : plan.rows)
            for (std::size_t j = 0; j < row.streams.size(); ++j) {
                const auto& holders =
                    plan.groups[static_cast<std::size_t>(
                                    plan.streams[static_cast<std::size_t>(row.streams[j])].group)]
                        .members;
                const bool known = std::ranges::any_of(holders, [&](int holder) {
                    return std::ranges::find(members, holder) != members.end();
                });
                if (!known) added(row.sender, row.streams[j]) = plan.scale * row.coefficients[j];
            }
        const Eigen::MatrixXd all = added * added.transpose();
        const std::vector<int>& outside = sources.index.agents;
        EXPECT_EQ(std::ssize(outside), 7 - std::ssize(members));
        EXPECT_TRUE(Eigen::MatrixXd(sources.covariance).isApprox(all(outside, outside), 1e-12));
        const Eigen::MatrixXd factor(sources.factor);
        EXPECT_TRUE((factor * factor.transpose()).isApprox(all(outside, outside), 1e-12));
    }
}

TEST(NoiseSources, AreStreamsWhereReceiversGetNoiseOfTheirOwn) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = zero_sum_plan(graph, metropolis(graph), true);
    const NoiseSources sources = noise_sources(plan, {View::Kind::neighbours, {1}});
    for (int stream = 0; stream < static_cast<int>(plan.streams.size()); ++stream) {
        const int holder = plan.groups[static_cast<std::size_t>(
                                           plan.streams[static_cast<std::size_t>(stream)].group)]
                               .members.front();
        EXPECT_EQ(sources.index.of(stream) < 0, holder == 1);
    }
    EXPECT_EQ(Eigen::MatrixXd(sources.covariance),
              Eigen::MatrixXd::Identity(sources.index.size(), sources.index.size()));
}

TEST(SameNoiseToAll, IsOfEverySender) {
    const Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = unit_plan(5);
    EXPECT_TRUE(same_noise_to_all(plan, 2));
    plan.rows[2].receiver = 1;
    EXPECT_FALSE(same_noise_to_all(plan, 2));
    EXPECT_TRUE(same_noise_to_all(plan, 3));
}

using namespace test;

using Agents = std::vector<int>;

class PathOfFive : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = unit_plan(5);
    MessageProcess process =
        process_of(graph, plan, phases_of(graph, {{2}, {2, 0, {1, 4}}, {2, 0, {4}}}));

    PhaseAgents agents(View::Kind kind, Agents members, std::size_t phase) const {
        return phase_agents(process, {kind, std::move(members)}, phase);
    }
};

TEST_F(PathOfFive, IsSeenByWhoIsNextToIt) {
    const PhaseAgents first = agents(View::Kind::neighbours, {0}, 0);
    EXPECT_EQ(first.watch, Agents{0});
    EXPECT_EQ(first.seen, Agents{1});
    EXPECT_EQ(first.hidden.agents, (Agents{2, 3, 4}));
    EXPECT_EQ(first.others.agents, (Agents{1, 2, 3, 4}));
    EXPECT_EQ(first.hidden.of(3), 1);
    EXPECT_EQ(first.hidden.of(1), -1);
}

TEST_F(PathOfFive, IsTrackedWhileItMayComeBack) {
    const PhaseAgents second = agents(View::Kind::neighbours, {0}, 1);
    EXPECT_TRUE(second.seen.empty()) << "agent 1 is away";
    EXPECT_EQ(second.hidden.agents, (Agents{1, 2, 3})) << "agent 1 comes back, agent 4 does not";
    EXPECT_EQ(agents(View::Kind::neighbours, {0}, 2).seen, Agents{1});
}

TEST_F(PathOfFive, IsNotReadByMembersThatAreAway) {
    const PhaseAgents second = agents(View::Kind::neighbours, {1}, 1);
    EXPECT_TRUE(second.watch.empty());
    EXPECT_TRUE(second.seen.empty());
    EXPECT_EQ(second.present, (std::vector<bool>{true, false, true, true, false}));
}

TEST_F(PathOfFive, IsSeenWhollyOrNotAtAll) {
    EXPECT_EQ(agents(View::Kind::all_messages, {}, 1).seen, (Agents{0, 2, 3}));
    EXPECT_TRUE(agents(View::Kind::all_messages, {}, 0).hidden.agents.empty());
    const PhaseAgents sums = agents(View::Kind::secure_sum, {2}, 0);
    EXPECT_TRUE(sums.seen.empty());
    EXPECT_EQ(sums.hidden.agents, (Agents{0, 1, 3, 4}));
}

using namespace test;

TEST(ProcessRounds, SayWhereEveryRoundBelongs) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6), own = decor_plan(graph);
    const auto where = process_rounds(
        process_of(graph, plan, phases_of(graph, {{3}, {2, 1}, {2, 2, {}, &own}, {1}})));
    EXPECT_EQ(where.phase, (std::vector<int>{0, 0, 0, 1, 1, 2, 2, 3}));
    EXPECT_EQ(where.within, (std::vector<long>{0, 1, 2, 0, 1, 0, 1, 0}));
    EXPECT_EQ(where.training, (std::vector<long>{0, 1, 2, 2, 3, 2, 3, 4}));
    // Round 3 starts from what round 1 left, round 5 too: rounds 2, 3 and 4 are done again.
    EXPECT_EQ(where.after, (std::vector<long>{ProcessRounds::beginning, 0, 1, 1, 3, 1, 5, 6}));
    // The process's noise runs on over two phases; a phase's own begins anew, and so does what
    // follows it.
    ASSERT_EQ(where.stretches.size(), 3U);
    EXPECT_EQ(where.stretch, (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 2}));
    EXPECT_EQ(where.stretches[0].plan, &plan);
    EXPECT_EQ(where.stretches[0].rounds, 5);
    EXPECT_EQ(where.stretches[1].plan, &own);
    EXPECT_EQ(where.stretches[1].begin, 5);
    EXPECT_EQ(where.stretches[2].plan, &plan);
    EXPECT_EQ(where.stretches[2].begin, 7);
}

TEST(TimeFactor, OfAStretchIsThatOfItsRounds) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan independent = decor_plan(graph),
                    correlated = with_factor(independent, difference_factor(6));
    EXPECT_EQ(time_factor({&independent, 4, 3}), Eigen::MatrixXd::Identity(3, 3));
    const Eigen::MatrixXd all = difference_factor(6).lower;
    EXPECT_EQ(time_factor({&correlated, 4, 3}), all.topLeftCorner(3, 3));
}

using namespace test;

TEST(ViewRounds, FollowPhasesStretchesAndTheScheduleOfEveryRound) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6), own = decor_plan(graph);
    std::vector<Phase> phases = phases_of(graph, {{2}, {3, 1, {1}, &own}});
    const MixingMatrix lazy = MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis);
    phases.front().mixing = MixingSchedule({metropolis(graph), lazy});
    const MessageProcess process = process_of(graph, plan, phases);
    const View view{View::Kind::neighbours, {0}};
    const std::vector<LaggedNoise> noises{lagged_noise({}, 2, 0), lagged_noise({}, 3, 0)};
    const ViewRounds rounds(process, view, noises);
    EXPECT_EQ(rounds.count(), 5);
    EXPECT_EQ(rounds.mixing_at(1).dense(), lazy.dense());
    EXPECT_EQ(rounds.mixing_at(2).weight(1, 1), 1);
    EXPECT_TRUE(rounds.agents_at(1).present[1]);
    EXPECT_FALSE(rounds.agents_at(2).present[1]);
    EXPECT_EQ(rounds.start_of(2), 0) << "round 1 is done again";
    EXPECT_EQ(&rounds.plan_at(1), &plan);
    EXPECT_EQ(&rounds.plan_at(4), &own);
    EXPECT_EQ(rounds.within_stretch(4), 2);
    EXPECT_EQ(rounds.stretches(), (std::vector<int>{0, 0, 1, 1, 1}));
    EXPECT_EQ(rounds.sources().size(), 2U);
}

TEST(ViewRounds, ScaleNoiseByTheStepWhereItEntersTheGradient) {
    const Graph graph = ring_with_a_chord();
    NoisePlan plan = unit_plan(6);
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{2}}));
    const View view{View::Kind::neighbours, {0}};
    const std::vector<LaggedNoise> noises{lagged_noise({}, 2, 0)};
    EXPECT_EQ(ViewRounds(process, view, noises).noise_factor(1), 1) << "equal steps";
    process.step_sizes = {0.5, 0.25};
    EXPECT_EQ(ViewRounds(process, view, noises).noise_factor(1), 0.25);
    plan.entry = NoiseEntry::message;
    EXPECT_EQ(ViewRounds(process, view, noises).noise_factor(1), 1);
    EXPECT_EQ(ViewRounds(process, view, noises).step_size(1), 0.25);
}

}  // namespace
}  // namespace sotto
