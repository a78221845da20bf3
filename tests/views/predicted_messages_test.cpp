#include "views/predicted_messages.hpp"

#include <gtest/gtest.h>

#include "views/seen_run.hpp"

namespace sotto {
namespace {

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

TEST(PredictedMessages, FollowChebyshevGossipAndMomentum) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    const Eigen::Vector2d initial(3, -1);
    for (const View& view : sample_views(6)) {
        auto process = process_of(graph, plan, phases_of(graph, {{5}}), chebyshev(graph, 3));
        process.step_sizes = falling_steps(5);
        const bool all = view.kind == View::Kind::all_messages;
        if (all) process.momentum = 0.9;
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
