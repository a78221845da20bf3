#include "views/view_innovations.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/linear_algebra.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/seen_run.hpp"

namespace sotto {
namespace {

using namespace test;

/// What a contribution looks like is what the filter makes of a run in which it is all there is.
TEST(ViewInnovations, OfARunWithoutNoiseAreTheResponsesToItsContributions) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan same = decor_plan(graph), own = zero_sum_plan(graph, metropolis(graph), true);
    constexpr long rounds = 4;
    for (const NoisePlan* plan : {&same, &own})
        for (const GossipPolynomial& gossip :
             {GossipPolynomial(1), GossipPolynomial(2), chebyshev(graph, 3)})
            for (const View& view : sample_views(6)) {
                if (plan == &own && !gossip.plain()) continue;
                const int gossip_steps = gossip.steps();
                auto process = process_of(graph, *plan, phases_of(graph, {{rounds}}), gossip);
                if (plan == &same && view.kind == View::Kind::all_messages) process.momentum = 0.7;
                process.step_sizes = falling_steps(rounds);
                const Eigen::VectorXd initial = Eigen::VectorXd::Constant(1, 2);
                ViewInnovations innovations(process, view, initial);
                const std::vector<int> agents = innovations.unknown_agents();
                Eigen::MatrixXd contributions(rounds, std::ssize(agents));
                for (Eigen::Index i = 0; i < contributions.size(); ++i)
                    contributions.data()[i] = 0.3 * static_cast<double>(i % 7) - 1;
                const auto responses = innovations.responses(agents, contributions);
                SeenRun run(process, view, initial);
                Eigen::Index row = 0;
                ASSERT_EQ(innovations.gossip_steps_total(), rounds * gossip_steps);
                for (long time = 0; time < rounds * gossip_steps; ++time) {
                    std::map<int, double> gradients;
                    if (time % gossip_steps == 0)
                        for (std::size_t j = 0; j < agents.size(); ++j)
                            gradients[agents[j]] =
                                contributions(time / gossip_steps, static_cast<Eigen::Index>(j));
                    const auto innovation = innovations.next(run.next(gradients));
                    const Eigen::VectorXd expected =
                        responses.whitened.middleRows(row, innovation.whitened.rows())
                            .rowwise()
                            .sum();
                    EXPECT_LE((innovation.whitened - expected).norm(),
                              1e-9 * std::max(1.0, expected.norm()));
                    row += innovation.whitened.rows();
                }
                EXPECT_EQ(row, responses.whitened.rows());
            }
}

TEST(ViewInnovations, HaveTheGramMatrixOfTheView) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = with_factor(decor_plan(graph), difference_factor(5));
    const View view{View::Kind::neighbours, {0}};
    for (const GossipPolynomial& gossip : {GossipPolynomial(1), chebyshev(graph, 3)}) {
        auto process = process_of(graph, plan, phases_of(graph, {{5}}), gossip);
        process.step_sizes = falling_steps(5);
        const ViewInnovations innovations(process, view, Eigen::VectorXd::Zero(1));
        for (const int agent : innovations.unknown_agents()) {
            const std::vector<int> each(5, agent);  // one column a round
            const auto responses = innovations.responses(each, Eigen::MatrixXd::Identity(5, 5));
            const Eigen::MatrixXd gram = responses.whitened.transpose() * responses.whitened;
            EXPECT_LE(responses.noiseless.cwiseAbs().sum(), 1e-9);
            EXPECT_LE((gram - *view_gram(process, view, agent)).cwiseAbs().maxCoeff(), 1e-9);
        }
    }
}

TEST(ViewInnovations, ShowWhatNoNoiseCovers) {
    const Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = unit_plan(5);
    plan.rows[1].coefficients = {0.0};  // agent 1 sends its gradient bare
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 2)});
    process.step_sizes = {1, 1};
    const View view{View::Kind::neighbours, {0}};
    const ViewInnovations innovations(process, view, Eigen::VectorXd::Zero(1));
    const Eigen::MatrixXd once = Eigen::Vector2d(1, 0);
    EXPECT_NEAR(innovations.responses(std::vector<int>{1}, once).noiseless.norm(), 1, 1e-9);
    EXPECT_NEAR(innovations.responses(std::vector<int>{4}, once).noiseless.norm(), 0, 1e-9);
}

TEST(ViewInnovations, EndWithTheRun) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5);
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 1)});
    process.step_sizes = {1};
    const View view{View::Kind::neighbours, {0}};
    const Eigen::VectorXd initial = Eigen::VectorXd::Zero(1);
    ViewInnovations innovations(process, view, initial);
    SeenRun run(process, view, initial);
    const SeenStep step = run.next({});
    (void)innovations.next(step);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)innovations.next(step); }),
                         "it covers 1 rounds"));
}

TEST(ViewInnovations, RefuseWhatTheyAreNotMadeFor) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5), own = unit_plan(5);
    const View eavesdropping{View::Kind::all_messages, {}};
    const auto message = [&](const MessageProcess& process) {
        return message_of<ConfigError>(
            [&] { const ViewInnovations innovations(process, eavesdropping, Eigen::VectorXd(1)); });
    };
    for (const auto& shapes :
         std::vector<std::vector<PhaseShape>>{{{3, 0, {}, &own}}, {{2}, {1, 1}}, {{3, 0, {1}}}}) {
        MessageProcess process = process_of(graph, plan, phases_of(graph, shapes));
        process.step_sizes = {1, 1, 1};
        EXPECT_TRUE(contains(message(process), "one phase of the process's plan"));
    }
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{3}}));
    EXPECT_TRUE(contains(message(process), "0 step sizes for 3 rounds"));
    process.step_sizes = {1, 1, 1};
    process.momentum = 0.5;
    require_testable(process, eavesdropping);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                             require_testable(process, {View::Kind::neighbours, {0}});
                         }),
                         "momentum: 0.5 is not possible in a test of a view that does not show"));
    process.momentum = 0;
    NoisePlan mean = blank_plan(5);
    add_stream(mean, {0}, {1.0});
    mean.aggregation = Aggregation::trusted_mean;
    process.plan = &mean;
    process.step_sizes = {1, 1, 1};
    EXPECT_TRUE(contains(message(process), "trusted mean"));
}

using namespace test;

/// Without inputs and noise everything is predicted; one input shows as itself where it is seen.
TEST(PredictedMessages, MissNothingButInputsAndUnknownNoise) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan same = decor_plan(graph), own = zero_sum_plan(graph, metropolis(graph), true);
    const Eigen::Vector2d initial(3, -1);
    for (const NoisePlan* plan : {&same, &own})
        for (const View& view : sample_views(6)) {
            auto process = process_of(graph, *plan, phases_of(graph, {{4}}), 2);
            process.step_sizes = falling_steps(4);
            PredictedMessages predicted(process, view, initial);
            SeenRun run(process, view, initial);
            for (long time = 0; time < 8; ++time) {
                const Eigen::MatrixXd observed = predicted.less_seen(run.next({}));
                EXPECT_EQ(observed.cols(), 2);
                EXPECT_LE(observed.cwiseAbs().sum(), 1e-12) << "step " << time;
            }
        }
}

class PredictedCombinations : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(PredictedMessages, PredictedCombinations, ::testing::Bool());

TEST_P(PredictedCombinations, FollowChebyshevGossipAndMomentum) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    const Eigen::Vector2d initial(3, -1);
    for (const View& view : sample_views(6)) {
        auto process = process_of(graph, plan, phases_of(graph, {{5}}), chebyshev(graph, 3));
        process.step_sizes = falling_steps(5);
        const bool all = view.kind == View::Kind::all_messages;
        if (all) process.momentum = 0.9;
        if (GetParam()) {
            process.gossip = GossipPolynomial::combined(process.gossip, {-0.5, 0.25, 0, 1.25});
            if (!all) {
                EXPECT_THROW(require_testable(process, view), ConfigError);
                continue;
            }
        }
        PredictedMessages predicted(process, view, initial);
        SeenRun run(process, view, initial);
        // Agent 2, whose gradient of round 1 is all there is, is no member of these views.
        for (long time = 0; time < 15; ++time) {
            const bool contributes = all && time == 3;
            const auto seen =
                contributes ? run.next({{2, 4.0}}) : run.next(std::map<int, double>{});
            const Eigen::MatrixXd observed = predicted.less_seen(seen);
            EXPECT_NEAR(
                observed.cwiseAbs().sum(), contributes ? 2 * process.step_sizes[1] * 4 : 0.0, 1e-12)
                << "step " << time;
        }
    }
}

/// Every correction with what it is combined with, where all messages are seen.
std::vector<MessageProcess> corrected_processes(const Graph& graph, const NoisePlan& plan) {
    std::vector<MessageProcess> processes;
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
        for (const GossipPolynomial& gossip :
             {GossipPolynomial(1), GossipPolynomial(2), chebyshev(graph, 3)})
            for (const double momentum : {0.0, 0.7}) {
                MessageProcess process = process_of(
                    graph,
                    plan,
                    phases_of(graph, {{5}}),
                    correction == Correction::tracking ? gossip : gossip.with_laziness(0.3));
                process.step_sizes = falling_steps(5);
                process.correction = correction;
                process.momentum = momentum;
                processes.push_back(std::move(process));
            }
    return processes;
}

TEST(PredictedMessages, FollowCorrections) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    const Eigen::Vector2d initial(3, -1);
    for (const MessageProcess& process : corrected_processes(graph, plan))
        for (const View& view : {View{}, View{View::Kind::all_messages, {0, 4}}}) {
            PredictedMessages predicted(process, view, initial);
            SeenRun run(process, view, initial);
            const int exchanges = process.exchanges();
            for (long time = 0; time < 5 * exchanges; ++time) {
                const bool contributes = time == 2 * exchanges;
                const auto seen =
                    contributes ? run.next({{2, 4.0}}) : run.next(std::map<int, double>{});
                const Eigen::MatrixXd observed = predicted.less_seen(seen);
                EXPECT_NEAR(
                    observed.sum(), contributes ? 2 * process.step_sizes[2] * 4 : 0.0, 1e-12)
                    << name_of(process.correction) << ", step " << time;
                EXPECT_NEAR(observed.cwiseAbs().sum(), std::abs(observed.sum()), 1e-12);
            }
        }
}

TEST(ViewInnovations, OfCorrectionsHaveTheGramMatrixOfAllMessages) {
    // Of [R^-1]_uu in every round, as without a correction.
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    const View view;
    for (const MessageProcess& process : corrected_processes(graph, plan)) {
        ViewInnovations innovations(process, view, Eigen::VectorXd::Constant(1, 2));
        const Eigen::MatrixXd precision = spatial_covariance(plan).inverse();
        SeenRun run(process, view, Eigen::VectorXd::Constant(1, 2));
        const std::vector<int> each(5, 2);
        const auto responses = innovations.responses(each, Eigen::MatrixXd::Identity(5, 5));
        const Eigen::MatrixXd gram = responses.whitened.transpose() * responses.whitened;
        EXPECT_LE((gram - precision(2, 2) * Eigen::MatrixXd::Identity(5, 5)).norm(), 1e-9);
        EXPECT_LE((gram - *view_gram(process, view, 2)).norm(), 1e-9);
        Eigen::MatrixXd seen(0, 1);
        for (long time = 0; time < innovations.gossip_steps_total(); ++time) {
            const bool injects = time % process.exchanges() == 0;
            const auto innovation = innovations.next(injects ? run.next({{2, 1.5}}) : run.next({}));
            append_rows(seen, innovation.whitened);
        }
        const Eigen::MatrixXd expected = responses.whitened * Eigen::VectorXd::Constant(5, 1.5);
        EXPECT_LE((seen - expected).norm(), 1e-9 * expected.norm()) << name_of(process.correction);
    }
}

TEST(ViewInnovations, OfCorrectionsNeedAllMessages) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    for (const MessageProcess& process : corrected_processes(graph, plan)) {
        require_testable(process, {});
        EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                                 require_testable(process, {View::Kind::neighbours, {0}});
                             }),
                             "correction: " + name_of(process.correction)));
    }
}

TEST(PredictedMessages, ShowAnInputWithItsSign) {
    const Graph graph = make_graph(Topology::path, 4);
    const NoisePlan plan = unit_plan(4);
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 2)});
    process.step_sizes = {0.5, 0.25};
    const View view{View::Kind::neighbours, {0}};
    const Eigen::VectorXd initial = Eigen::VectorXd::Zero(1);
    PredictedMessages predicted(process, view, initial);
    EXPECT_EQ(predicted.unknown_agents(), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(predicted.dimension(), 1);
    SeenRun run(process, view, initial);
    // Agent 1's gradient 2 in round 0 is seen at once; agent 2's 4 a third of it a round later.
    EXPECT_DOUBLE_EQ(predicted.less_seen(run.next({{1, 2.0}, {2, 4.0}}))(0, 0), 0.5 * 2);
    EXPECT_NEAR(predicted.less_seen(run.next({}))(0, 0), 0.5 * 4 / 3, 1e-15);
}

TEST(PredictedMessages, TakeAwayNoiseOfSeedsThatAreHeld) {
    const Graph graph = make_graph(Topology::path, 4);
    const NoisePlan plan = unit_plan(4);
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 2)});
    process.step_sizes = {0.5, 0.25};
    const View view{View::Kind::neighbours, {0}};
    const Eigen::VectorXd initial = Eigen::VectorXd::Zero(1);
    PredictedMessages predicted(process, view, initial);
    SeenRun run(process, view, initial);
    // Noise is an input that nobody contributed: the view knows that of agents 1 and 2.
    const SeenStep first = run.next({{1, 2.0}, {2, 4.0}});
    const auto knowing = [](SeenStep step, double of_one, double of_two) {
        step.known_noise = [=](int sender, int) -> Eigen::VectorXd {
            return Eigen::VectorXd::Constant(1, sender == 1 ? of_one : sender == 2 ? of_two : 0);
        };
        return step;
    };
    EXPECT_NEAR(predicted.less_seen(knowing(first, 2, 4))(0, 0), 0, 1e-15);
    EXPECT_NEAR(predicted.less_seen(knowing(run.next({}), 0, 0))(0, 0), 0, 1e-15);
}

}  // namespace
}  // namespace sotto
