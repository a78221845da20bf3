#include "views/observation_model.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

ObservationModel model_of(const MessageProcess& process, const View& view) {
    return make_observation_model(process, view, {lagged_noise({}, process.rounds(), 0)});
}

TEST(ObservationModel, StoresEqualStepsOnce) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = unit_plan(6);
    const View view{View::Kind::neighbours, {0}};
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 50)}, 3);
    const ObservationModel model = model_of(process, view);
    EXPECT_EQ(model.rounds, 50);
    EXPECT_EQ(model.step_at.size(), 150U);
    // The first step of the run, the first of any other round, and the others.
    EXPECT_EQ(model.steps.size(), 3U);
    EXPECT_EQ(model.state_size(), 4);
    for (long time = 6; time < 150; ++time) EXPECT_EQ(&model.at(time), &model.at(time - 3));
    const MixingSchedule two(
        {metropolis(graph), MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis)});
    const auto changing = process_of(graph, plan, {{8, two, {}, nullptr, 0}});
    EXPECT_EQ(model_of(changing, view).steps.size(), 3U) << "the first, odd and even rounds";
}

TEST(ObservationModel, ScalesNoiseAndInputsByStepSizes) {
    const Graph graph = make_graph(Topology::path, 4);
    NoisePlan plan = unit_plan(4);
    const View view{View::Kind::neighbours, {0}};
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    process.step_sizes = {1, 0.5, 0.25};
    EXPECT_EQ(model_of(process, view).noise_scale, process.step_sizes);
    EXPECT_EQ(model_of(process, view).input_scale, process.step_sizes);
    plan.entry = NoiseEntry::message;
    EXPECT_EQ(model_of(process, view).noise_scale, (std::vector<double>{1, 1, 1}));
    EXPECT_EQ(model_of(process, view).input_scale, process.step_sizes);
}

TEST(ObservationModel, CountsWhatIsObservedBesideWhatStandsAlone) {
    const Graph graph = make_graph(Topology::path, 4);
    const NoisePlan plan = unit_plan(4);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 5)});
    // In round 0 the message of agent 1 says something of round 0 alone.
    const ObservationModel model = model_of(process, {View::Kind::neighbours, {0}});
    EXPECT_EQ(model.observed_values(), 4);
    EXPECT_DOUBLE_EQ(model.at(0).alone(1), 1);
    LaggedNoise together = lagged_noise({}, 5, 0);
    together.independent_rounds = false;
    EXPECT_EQ(make_observation_model(process, {View::Kind::neighbours, {0}}, {together})
                  .observed_values(),
              5);
}

/// The model's observations of unit inputs are those of a run played by its definition.
TEST(ObservationModel, AnswersToInputsAsTheRunDoes) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 4);
    const NoisePlan plan = decor_plan(graph);
    const auto process = process_of(graph, plan, phases_of(graph, {{3}, {2, 1, {2}}}), 2);
    const View view{View::Kind::secure_sum, {0}};
    LaggedNoise together = lagged_noise({}, 5, 0);
    together.independent_rounds = false;
    const ObservationModel model = make_observation_model(process, view, {together});
    const PlayedRun run(process, view);
    for (int agent = 1; agent < 7; ++agent)
        for (long round = 0; round < 5; ++round) {
            Eigen::VectorXd seen(model.observed_values());
            Eigen::VectorXd state = Eigen::VectorXd::Zero(model.at(0).transition.cols());
            Eigen::Index row = 0;
            for (long time = 0; time < 10; ++time) {
                const LinearStep& step = model.at(time);
                const double unit = time == 2 * round ? 1 : 0;
                const Eigen::VectorXd input = unit * Eigen::VectorXd::Unit(7, agent);
                seen.segment(row, step.observation.rows()) =
                    step.observation * state + step.observed_input * input;
                state = step.transition * state + step.state_input * input;
                row += step.observation.rows();
            }
            // Messages carry - eta g, and nothing of the observer itself is unknown.
            EXPECT_LE((seen + run.input(round, agent)).cwiseAbs().maxCoeff(), 1e-12);
        }
}

}  // namespace
}  // namespace sotto
