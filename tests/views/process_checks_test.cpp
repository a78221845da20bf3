#include "views/process_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/phase_fixtures.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

class ViewChecks : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = unit_plan(5);
    MessageProcess process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    View view{View::Kind::neighbours, {0}};
    std::vector<int> targets{1};

    template <class Expected>
    void expect(const std::string& part) {
        EXPECT_NE(message_of<Expected>([&] {
                      check_process(process);
                      check_view(process, view, targets);
                  }).find(part),
                  std::string::npos)
            << part;
    }
};

TEST_F(ViewChecks, NameMembersAndTargets) {
    view.members = {5};
    expect<ConfigError>("agent 5 does not exist (allowed: 0 to 4)");
    view.members = {2, 1};
    expect<ConfigError>("ascending");
    view.members = {};
    expect<ConfigError>("at least one member");
    view.members = {0};
    targets = {-1};
    expect<ConfigError>("agent -1 does not exist");
}

TEST_F(ViewChecks, NamePhasesAndSteps) {
    process.step_sizes = {1, 1};
    expect<ConfigError>("2 are given, the run has 3 rounds");
    process.step_sizes = {1, 0, 1};
    expect<ConfigError>("0 is not allowed");
    process.step_sizes.clear();
    process.phases.front().departed = {2};
    expect<ConfigError>("agent 2 has departed");
    process.phases.clear();
    expect<ConfigError>("phases");
    process = process_of(graph, plan, {fixed_phase(metropolis(graph), 0)});
    expect<ConfigError>("0 rounds");
    process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)}, 0);
    expect<ConfigError>("gossip-steps: 0");
}

TEST_F(ViewChecks, NameAgentsThatWereNeverThere) {
    const Graph ring = Graph::from_edges(5, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
    process.phases = {fixed_phase(metropolis(ring), 3, {4})};
    targets = {4};
    expect<ConfigError>("agent 4 has departed");
    targets = {1};
    view.members = {4};
    expect<ConfigError>("agent 4 has departed");
}

TEST_F(ViewChecks, RefuseNoiseWithoutAKnownBound) {
    plan.streams[1].distribution = StreamDistribution::laplace;
    expect<PrivacyError>("not Gaussian");
    plan = unit_plan(5);
    plan.temporal = difference_factor(2);
    expect<PrivacyError>("covers 2 rounds, the run has 3");
}

TEST_F(ViewChecks, NameWhatIsDoneToGradientsAndMessages) {
    process.gossip = 0;
    expect<ConfigError>("gossip-steps: 0 is not allowed (1 or more)");
    process.gossip = 2;
    process.phases.front().gossip = 3;
    expect<ConfigError>("3 gossip steps are not allowed (2, as in the process)");
    process.phases.front().gossip.reset();
    process.momentum = 1;
    expect<ConfigError>("momentum: 1 is not allowed (0 or more, below 1)");
    process.momentum = std::nan("");
    expect<ConfigError>("momentum: nan is not allowed");
    process.momentum = 0;
    process.final_gossip = -1;
    expect<ConfigError>("final-gossip: -1 is not allowed (0 or more)");
}

TEST_F(ViewChecks, RefuseCorrectionsOfMessagesWithNoiseOfTheirOwn) {
    process.correction = Correction::tracking;
    check_process(process);
    plan.entry = NoiseEntry::message;
    expect<PrivacyError>("correction: tracking is not possible with mechanism");
}

TEST_F(ViewChecks, RefuseWhatTheBoundForAllMessagesDoesNotCover) {
    process.momentum = 0.9;
    check_process(process);
    plan.entry = NoiseEntry::message;
    expect<PrivacyError>("momentum: 0.9 is not possible with mechanism");
    plan = zero_sum_plan(graph, metropolis(graph), true);
    plan.entry = NoiseEntry::gradient;
    expect<PrivacyError>("momentum: 0.9 is not possible with mechanism hand-made, which gives");
    process.momentum = 0;
    process.final_gossip = 2;
    expect<PrivacyError>("final-gossip: 2 is not possible with mechanism hand-made");
    process.final_gossip = 0;
    process.phases.front().gossip = chebyshev(graph, 2);
    process.gossip = 2;
    expect<PrivacyError>("gossip: chebyshev is not possible with mechanism hand-made");
}

class PhaseChecks : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = unit_plan(5);
    NoisePlan own = unit_plan(5);

    template <class Expected>
    void expect(const std::vector<PhaseShape>& shapes, const std::string& part) {
        const auto message = message_of<Expected>(
            [&] { check_process(process_of(graph, plan, phases_of(graph, shapes))); });
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
};

TEST_F(PhaseChecks, NameRepeatedRoundsThatAreNotThere) {
    expect<ConfigError>({{3, 1}}, "1 repeated rounds are not allowed (0 to 0");
    expect<ConfigError>({{3}, {3, 4}}, "4 repeated rounds are not allowed (0 to 3");
    expect<ConfigError>({{3}, {3, 2}, {1, 5}}, "5 repeated rounds are not allowed (0 to 4");
    expect<ConfigError>({{3}, {3, -1}}, "-1 repeated rounds");
}

TEST_F(PhaseChecks, NamePlansThatDoNotFit) {
    const NoisePlan larger = unit_plan(6);
    expect<ConfigError>({{3}, {3, 0, {}, &larger}}, "6 agents, that of the process for 5");
    own.streams[1].distribution = StreamDistribution::laplace;
    expect<PrivacyError>({{3}, {3, 0, {}, &own}}, "not Gaussian");
    own = unit_plan(5);
    own.entry = NoiseEntry::message;
    expect<PrivacyError>({{3}, {3, 0, {}, &own}}, "where noise enters");
    own = zero_sum_plan(graph, mixing_without(graph, {}), true);
    own.entry = NoiseEntry::gradient;
    expect<PrivacyError>({{3}, {3, 0, {}, &own}}, "all receivers get the same message");
    own = with_factor(unit_plan(5), difference_factor(2));
    expect<PrivacyError>({{2, 0, {}, &own}, {3, 0, {}, &own}}, "covers 2 rounds, the run has 3");
    plan = with_factor(unit_plan(5), difference_factor(4));
    expect<PrivacyError>({{2}, {3, 1}}, "covers 4 rounds, the run has 5");
}

TEST_F(PhaseChecks, RefuseAMeanThatAnAgentWithNoiseHasLeft) {
    plan.aggregation = Aggregation::trusted_mean;
    expect<PrivacyError>({{3}, {3, 0, {2}}}, "an agent with noise has left");
}

TEST(LacksNoise, WhereAnAgentWithNoiseHasLeft) {
    const Graph graph = make_graph(Topology::ring, 4);
    const NoisePlan everybody = unit_plan(4), one = private_plan({1, 0, 0, 0});
    NoisePlan none = blank_plan(4);
    EXPECT_TRUE(lacks_noise(everybody, fixed_phase(metropolis(graph), 1, {2})));
    EXPECT_FALSE(lacks_noise(everybody, fixed_phase(metropolis(graph), 1)));
    EXPECT_TRUE(lacks_noise(one, fixed_phase(metropolis(graph), 1, {0})));
    EXPECT_FALSE(lacks_noise(none, fixed_phase(metropolis(graph), 1, {0})));
}

using namespace test;

/// What node 0 receives in a training with regularisation, x <- W ((1 - eta l2) x - eta (g + v)),
/// as O = A G + B Z played with unit inputs; unit noise of every agent but 0, whose own is known.
std::pair<Eigen::MatrixXd, Eigen::MatrixXd> regularised_observations(const Graph& graph,
                                                                     const MixingMatrix& mixing,
                                                                     const StepSchedule& steps,
                                                                     double l2,
                                                                     long rounds) {
    const int n = graph.agents();
    const auto neighbours = graph.neighbours(0);
    const Eigen::MatrixXd w(mixing.sparse());
    const auto seen = static_cast<Eigen::Index>(neighbours.size());
    Eigen::MatrixXd a(rounds * seen, rounds * n);
    for (Eigen::Index input = 0; input < a.cols(); ++input) {
        Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
        for (long t = 0; t < rounds; ++t) {
            Eigen::VectorXd message = (1 - steps.at(t) * l2) * x;
            if (input / n == t) message(input % n) -= steps.at(t);
            for (Eigen::Index i = 0; i < seen; ++i)
                a(t * seen + i, input) = message(neighbours[static_cast<std::size_t>(i)]);
            x = w * message;
        }
    }
    Eigen::MatrixXd b = a;
    for (long t = 0; t < rounds; ++t) b.col(t * n).setZero();
    return {a, b};
}

TEST(ProcessSteps, AccountForRegularisation) {
    constexpr long rounds = 7;
    const StepSchedule falling{StepSchedule::Kind::inverse_sqrt, 0.8, {}};
    const StepSchedule averaging{StepSchedule::Kind::inverse, 1, {}};
    const StepSchedule constant{StepSchedule::Kind::constant, 0.3, {}};
    for (const std::uint64_t seed : {1u, 2u})
        for (const auto& [steps, l2] :
             {std::pair(falling, 0.5), {averaging, 1.0}, {constant, 0.4}}) {
            const Graph graph = make_graph(Topology::erdos_renyi, 7, seed);
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
            const NoisePlan plan = unit_plan(7);
            MessageProcess process = process_of(graph, plan, {fixed_phase(mixing, rounds)});
            process.step_sizes = process_steps(plan, steps, l2, rounds);
            const auto [a, b] = regularised_observations(graph, mixing, steps, l2, rounds);
            const std::vector<int> targets{1, 2, 3, 4, 5, 6};
            const auto filtered =
                view_sensitivity(process, {View::Kind::neighbours, {0}}, targets, {}, {});
            const auto played = matrix_sensitivity(a, b, 7, targets, {}, 1e-5);
            for (std::size_t i = 0; i < targets.size(); ++i) {
                EXPECT_NEAR(filtered[i].abs_sum, played[i].abs_sum, 1e-7 * played[i].abs_sum)
                    << name_of(steps) << ", seed " << seed;
                EXPECT_NEAR(
                    filtered[i].constant_sign, played[i].constant_sign, 1e-7 * played[i].abs_sum);
            }
        }
}

TEST(ProcessSteps, OfRunningAveragesAreEqual) {
    const StepSchedule averaging{StepSchedule::Kind::inverse, 1, {}};
    for (const long rounds : {1L, 10L, 100000L})
        EXPECT_TRUE(process_steps(unit_plan(3), averaging, 1, rounds).empty()) << rounds;
    EXPECT_EQ(process_steps(unit_plan(3), averaging, 0, 3), averaging.over(3));
}

TEST(ProcessSteps, RefuseRegularisationTheyCannotAccountFor) {
    const StepSchedule constant{StepSchedule::Kind::constant, 0.5, {}};
    EXPECT_NO_THROW((void)process_steps(unit_plan(3), constant, 1.9, 2));
    for (const auto& [l2, rounds] : {std::pair(2.0, 2L), {3.0, 2L}, {1.0, 30L}, {-1.0, 2L}})
        EXPECT_TRUE(contains(message_of<ConfigError>([&, l2 = l2, rounds = rounds] {
                                 (void)process_steps(unit_plan(3), constant, l2, rounds);
                             }),
                             "l2"))
            << l2;
    EXPECT_THROW((void)process_steps(unit_plan(3), constant, not_a_number, 2), ConfigError);
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan on_messages =
        zero_sum_plan(graph, MixingMatrix::from_rule(graph, MixingRule::metropolis), true);
    EXPECT_THROW((void)process_steps(on_messages, constant, 0.1, 2), ConfigError);
    EXPECT_EQ(process_steps(on_messages, constant, 0, 2), constant.over(2));
}

}  // namespace
}  // namespace sotto
