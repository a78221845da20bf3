#include "views/observation_model.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

ObservationModel independent_model_of(const MessageProcess& process, const View& view) {
    return make_observation_model(process, view, {lagged_noise({}, process.rounds(), 0)});
}

TEST(ObservationModel, StoresEqualStepsOnce) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = unit_plan(6);
    const View view{View::Kind::neighbours, {0}};
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 50)}, 3);
    const ObservationModel model = independent_model_of(process, view);
    EXPECT_EQ(model.rounds, 50);
    EXPECT_EQ(model.step_at.size(), 150U);
    // The first step of the run, the first of any other round, and the others.
    EXPECT_EQ(model.steps.size(), 3U);
    EXPECT_EQ(model.state_size(), 4);
    for (long time = 6; time < 150; ++time) EXPECT_EQ(&model.at(time), &model.at(time - 3));
    const MixingSchedule two(
        {metropolis(graph), MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis)});
    const auto changing = process_of(graph, plan, {{8, two, {}, nullptr, 0}});
    EXPECT_EQ(independent_model_of(changing, view).steps.size(), 3U)
        << "the first, odd and even rounds";
}

TEST(ObservationModel, StoresEveryExchangeOfChebyshevGossipOnce) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = unit_plan(6);
    const auto process =
        process_of(graph, plan, {fixed_phase(metropolis(graph), 50)}, chebyshev(graph, 4));
    const ObservationModel model = independent_model_of(process, {View::Kind::neighbours, {0}});
    EXPECT_EQ(model.steps.size(), 5U) << "the first of the run, and of a round, and three more";
    EXPECT_EQ(model.state_size(), 8);
    for (long time = 8; time < 200; ++time) EXPECT_EQ(&model.at(time), &model.at(time - 4));
}

TEST(ObservationModel, ScalesNoiseAndInputsByStepSizes) {
    const Graph graph = make_graph(Topology::path, 4);
    NoisePlan plan = unit_plan(4);
    const View view{View::Kind::neighbours, {0}};
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    process.step_sizes = {1, 0.5, 0.25};
    EXPECT_EQ(independent_model_of(process, view).noise_scale, process.step_sizes);
    EXPECT_EQ(independent_model_of(process, view).input_scale, process.step_sizes);
    plan.entry = NoiseEntry::message;
    EXPECT_EQ(independent_model_of(process, view).noise_scale, (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(independent_model_of(process, view).input_scale, process.step_sizes);
}

TEST(ObservationModel, CountsWhatIsObservedBesideWhatStandsAlone) {
    const Graph graph = make_graph(Topology::path, 4);
    const NoisePlan plan = unit_plan(4);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 5)});
    // In round 0 the message of agent 1 says something of round 0 alone.
    const ObservationModel model = independent_model_of(process, {View::Kind::neighbours, {0}});
    EXPECT_EQ(model.observed_values(), 4);
    EXPECT_DOUBLE_EQ(model.at(0).alone(1), 1);
    LaggedNoise together = lagged_noise({}, 5, 0);
    together.independent_rounds = false;
    EXPECT_EQ(make_observation_model(process, {View::Kind::neighbours, {0}}, {together})
                  .observed_values(),
              5);
}

/// Every observed value for unit inputs of agents 1, 2, ... in every round (one a column).
Eigen::MatrixXd responses(const ObservationModel& model, int agents) {
    const long rounds = model.rounds;
    Eigen::MatrixXd seen(model.observed_values(), (agents - 1) * rounds);
    for (int agent = 1; agent < agents; ++agent)
        for (long round = 0; round < rounds; ++round) {
            Eigen::VectorXd state = Eigen::VectorXd::Zero(model.at(0).transition.cols());
            Eigen::Index row = 0;
            for (long time = 0; time < rounds * model.gossip_steps; ++time) {
                const LinearStep& step = model.at(time);
                const double unit = time == round * model.gossip_steps ? 1 : 0;
                const Eigen::VectorXd input = unit * Eigen::VectorXd::Unit(agents, agent);
                seen.col((agent - 1) * rounds + round).segment(row, step.observation.rows()) =
                    step.observation * state + step.observed_input * input;
                state = step.transition * state + step.state_input * input;
                row += step.observation.rows();
            }
        }
    return seen;
}

/// The model's observations are those of a run played by its definition, less what the observer
/// knows already: its own model is made of what it saw before.
TEST(ObservationModel, AnswersToInputsAsTheRunDoes) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 4);
    const NoisePlan plan = decor_plan(graph);
    const auto process = process_of(graph, plan, phases_of(graph, {{3}, {2, 1, {2}}}), 2);
    const View view{View::Kind::secure_sum, {0}};
    LaggedNoise together = lagged_noise({}, 5, 0);
    together.independent_rounds = false;
    const Eigen::MatrixXd seen =
        responses(make_observation_model(process, view, {together}), graph.agents());
    const PlayedRun run(process, view);
    Eigen::MatrixXd played(seen.rows(), seen.cols());
    for (int agent = 1; agent < 7; ++agent)
        for (long round = 0; round < 5; ++round)
            played.col((agent - 1) * 5 + round) = run.input(round, agent);
    long not_nothing = 0;
    for (Eigen::Index row = 0; row < seen.rows(); ++row) {
        // Messages carry - eta g.
        const Eigen::VectorXd difference = (played.row(row) + seen.row(row)).transpose();
        not_nothing += played.row(row).norm() > 0.01 ? 1 : 0;
        if (row == 0) {
            EXPECT_LE(difference.norm(), 1e-12);
            continue;
        }
        const Eigen::MatrixXd before = played.topRows(row).transpose();
        const Eigen::VectorXd known =
            before * before.completeOrthogonalDecomposition().solve(difference);
        EXPECT_LE((difference - known).norm(), 1e-10) << "value " << row;
        EXPECT_GT(
            (played.row(row).transpose() -
             before * before.completeOrthogonalDecomposition().solve(played.row(row).transpose()))
                .norm(),
            1e-4)
            << "value " << row << " tells something new";
    }
    EXPECT_EQ(not_nothing, 10);
}

}  // namespace
}  // namespace sotto
