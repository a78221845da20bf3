#include "views/observation_model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <utility>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

/// Rounds 0 to 3, then rounds 2 and 3 again: the second phase starts from what round 1 left.
class LaidOut : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = unit_plan(5);
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{4}, {2, 2}}), 2);
    View view{View::Kind::neighbours, {0}};  // agents 2, 3, 4 are hidden
    std::vector<LaggedNoise> noises{lagged_noise({}, 6, 0)};
    ViewRounds rounds{process, view, noises};
    StateLayouts layouts{rounds};
};

TEST_F(LaidOut, KeepsWhatALaterPhaseStartsFromUntilItDoes) {
    EXPECT_EQ(layouts.before(0, 0).size, 0) << "before the run all is known";
    EXPECT_EQ(layouts.after(0, 0).size, 3);
    EXPECT_EQ(layouts.after(1, 1).size, 3) << "what round 1 left is the present state";
    for (const long round : {2L, 3L})
        for (const int step : {0, 1}) {
            const StateLayout layout = layouts.after(round, step);
            ASSERT_EQ(layout.kept.size(), 1U);
            EXPECT_EQ(layout.kept[0].round, 1);
            EXPECT_EQ(layout.kept[0].offset, 3);
            EXPECT_EQ(layout.size, 6);
        }
    EXPECT_EQ(layouts.after(4, 0).size, 3) << "needed no more";
}

TEST_F(LaidOut, TakesTheMessagesOfARoundFromWhatItStartsFrom) {
    EXPECT_EQ(layouts.origin(0, 0).round, ProcessRounds::beginning);
    EXPECT_EQ(layouts.origin(3, 0).round, 2);
    EXPECT_EQ(layouts.origin(3, 0).of(3), 1);
    EXPECT_EQ(layouts.origin(4, 0).round, 1);
    EXPECT_EQ(layouts.origin(4, 0).of(3), 4) << "in the part that was kept";
    EXPECT_EQ(layouts.origin(4, 0).of(1), -1) << "its messages are seen";
    EXPECT_EQ(layouts.origin(4, 1).round, 4);
}

TEST_F(LaidOut, CarriesWhatIsKeptUnchanged) {
    const auto carried = [&](long round, int step) {
        const StepEntries entries = layouts.blank_step(round, step);
        std::vector<std::pair<int, int>> places;
        for (const auto& entry : entries.state.from_state) {
            EXPECT_EQ(entry.value(), 1);
            places.emplace_back(entry.row(), entry.col());
        }
        return places;
    };
    using Places = std::vector<std::pair<int, int>>;
    EXPECT_EQ(carried(1, 0), Places{});
    EXPECT_EQ(carried(2, 0), (Places{{3, 0}, {4, 1}, {5, 2}})) << "from the present state";
    EXPECT_EQ(carried(2, 1), (Places{{3, 3}, {4, 4}, {5, 5}}));
    EXPECT_EQ(carried(4, 0), Places{});
    EXPECT_EQ(layouts.blank_step(4, 0).previous, 6);
    EXPECT_EQ(layouts.blank_step(4, 0).state.rows, 3);
}

/// Three Chebyshev exchanges: m_1 needs m_0 alone, m_2 and the models m_1 and m_0 too.
TEST_F(LaidOut, HoldsTheExchangeBeforeWhereItIsNeeded) {
    process.gossip = GossipPolynomial::chebyshev(3, 0.8);
    const StateLayouts twice(rounds);
    EXPECT_EQ(twice.after(0, 0).before, StatePart::none);
    EXPECT_EQ(twice.after(0, 0).size, 3);
    for (const int step : {1, 2}) {
        EXPECT_EQ(twice.after(0, step).before, 3);
        EXPECT_EQ(twice.after(0, step).size, 6);
    }
    EXPECT_EQ(twice.origin(0, 1).before_of(3), -1);
    EXPECT_EQ(twice.origin(0, 2).of(3), 1);
    EXPECT_EQ(twice.origin(0, 2).before_of(3), 4);
    EXPECT_EQ(twice.origin(1, 0).before_of(3), 4);
    EXPECT_EQ(twice.origin(1, 0).before_of(1), -1) << "its messages are seen";
    // Round 4 starts from what the last two exchanges of round 1 left.
    EXPECT_EQ(twice.after(2, 0).size, 3 + 6);
    EXPECT_EQ(twice.after(2, 1).size, 6 + 6);
    EXPECT_EQ(twice.origin(4, 0).of(3), 7);
    EXPECT_EQ(twice.origin(4, 0).before_of(3), 10);
    EXPECT_EQ(twice.blank_step(3, 0).state.from_state.size(), 6U) << "what is kept";
    EXPECT_EQ(twice.blank_step(3, 1).state.from_state.size(), 9U) << "and the messages before";
}

TEST_F(LaidOut, KnowsHowMessagesAreMadeOfEarlierOnes) {
    const auto plain = layouts.exchange(2, 1);
    EXPECT_EQ(plain.here, 1);
    EXPECT_EQ(plain.before, 0);
    const GossipPolynomial gossip = GossipPolynomial::chebyshev(3, 0.8);
    process.gossip = gossip;
    const StateLayouts twice(rounds);
    EXPECT_EQ(twice.exchange(0, 0).here, 1) << "before the run all is known";
    EXPECT_EQ(twice.exchange(0, 0).before, 0);
    for (const auto& [round, step, made_by] :
         std::vector<std::array<int, 3>>{{0, 1, 0}, {0, 2, 1}, {1, 0, 2}, {4, 0, 2}}) {
        EXPECT_EQ(twice.exchange(round, step).here, gossip.here(made_by));
        EXPECT_EQ(twice.exchange(round, step).before, gossip.before(made_by));
    }
}

using Entries = std::map<std::pair<int, int>, double>;

Entries of(const Triplets& list) {
    Entries entries;
    for (const auto& entry : list) entries[{entry.row(), entry.col()}] += entry.value();
    return entries;
}

/// A path 0 - 1 - 2 - 3 with Metropolis weights: 1/3 along edges, 2/3 and 1/3 on the diagonal.
class StepOfAPath : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::path, 4);
    NoisePlan plan = unit_plan(4);
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{3}}), 2);
    std::vector<LaggedNoise> noises{lagged_noise({}, 3, 0)};

    StepEntries entries(const View& view, long round, int step) const {
        const ViewRounds rounds(process, view, noises);
        return message_step(rounds, StateLayouts(rounds), round, step);
    }
    double weight(int u, int v) const { return process.phases[0].mixing.at(0).weight(u, v); }
};

TEST_F(StepOfAPath, BeginsWithInputsAndNoiseAlone) {
    // Agent 0 reads agent 1; 2 and 3 are hidden. Sources: agents 1, 2, 3.
    const StepEntries first = entries({View::Kind::neighbours, {0}}, 0, 0);
    EXPECT_EQ(first.previous, 0);
    EXPECT_TRUE(first.state.from_state.empty() && first.observed.from_state.empty());
    EXPECT_EQ(of(first.state.from_inputs), (Entries{{{0, 2}, 1}, {{1, 3}, 1}}));
    EXPECT_EQ(of(first.state.from_sources), (Entries{{{0, 1}, 1}, {{1, 2}, 1}}));
    EXPECT_EQ(first.observed.rows, 1);
    EXPECT_EQ(of(first.observed.from_inputs), (Entries{{{0, 1}, 1}}));
}

TEST_F(StepOfAPath, MixesWhatIsHidden) {
    const StepEntries later = entries({View::Kind::neighbours, {0}}, 1, 0);
    EXPECT_EQ(of(later.state.from_state),
              (Entries{{{0, 0}, weight(2, 2)},
                       {{0, 1}, weight(2, 3)},
                       {{1, 0}, weight(3, 2)},
                       {{1, 1}, weight(3, 3)}}));
    EXPECT_EQ(of(later.observed.from_state), (Entries{{{0, 0}, weight(1, 2)}}));
    // Inputs and noise enter the first step of a round only.
    const StepEntries second = entries({View::Kind::neighbours, {0}}, 1, 1);
    EXPECT_EQ(of(second.state.from_state), of(later.state.from_state));
    EXPECT_TRUE(second.state.from_inputs.empty() && second.observed.from_sources.empty());
}

TEST_F(StepOfAPath, ShowsWeightedSumsOfHiddenMessages) {
    // Agent 1 learns w_10 m_0 + w_12 m_2; sources are agents 0, 2, 3.
    const StepEntries first = entries({View::Kind::secure_sum, {1}}, 0, 0);
    EXPECT_EQ(first.observed.rows, 1);
    EXPECT_EQ(of(first.observed.from_inputs),
              (Entries{{{0, 0}, weight(1, 0)}, {{0, 2}, weight(1, 2)}}));
    EXPECT_EQ(of(first.observed.from_sources),
              (Entries{{{0, 0}, weight(1, 0)}, {{0, 1}, weight(1, 2)}}));
    EXPECT_EQ(first.state.rows, 3);
}

TEST_F(StepOfAPath, TakesAwayWhatWasSentOneExchangeBefore) {
    const GossipPolynomial gossip = GossipPolynomial::chebyshev(2, 0.8);
    process.gossip = gossip;
    const double here = gossip.here(1), before = gossip.before(1);
    EXPECT_GT(before, 0.1);
    // Hidden agents 2 and 3: their messages of the second exchange, then those of the first.
    const StepEntries models = entries({View::Kind::neighbours, {0}}, 1, 0);
    EXPECT_EQ(models.previous, 4);
    EXPECT_EQ(of(models.state.from_state),
              (Entries{{{0, 0}, here * weight(2, 2)},
                       {{0, 1}, here * weight(2, 3)},
                       {{0, 2}, -before},
                       {{1, 0}, here * weight(3, 2)},
                       {{1, 1}, here * weight(3, 3)},
                       {{1, 3}, -before}}));
    EXPECT_EQ(of(models.observed.from_state), (Entries{{{0, 0}, here * weight(1, 2)}}))
        << "the messages of agent 1 are known";
    const StepEntries second = entries({View::Kind::neighbours, {0}}, 1, 1);
    EXPECT_EQ(second.state.rows, 4);
    Entries carried = of(second.state.from_state);
    EXPECT_EQ(carried.at({2, 0}), 1);
    EXPECT_EQ(carried.at({3, 1}), 1);
    EXPECT_EQ(carried.at({0, 0}), weight(2, 2));
}

/// Noise of every receiver's own, on a ring of five.
class StepToReceivers : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = zero_sum_plan(graph, metropolis(graph), true);
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{3}}), 2);
    std::vector<LaggedNoise> noises{lagged_noise({}, 3, 0)};

    StepEntries entries(const View& view, long round, int step) const {
        const ViewRounds rounds(process, view, noises);
        return receiver_step(rounds, StateLayouts(rounds), round, step);
    }
};

/// Entries of one row, added up by column.
Eigen::VectorXd row_of(const Triplets& list, int row, Eigen::Index columns) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(columns);
    for (const auto& entry : list)
        if (entry.row() == row) sum(entry.col()) += entry.value();
    return sum;
}

TEST_F(StepToReceivers, CarriesTheNoiseThatThisReceiverGets) {
    // Agent 0 reads what 1 and 4 send to it; streams of agents 1 to 4 are unknown, in their order.
    const View view{View::Kind::neighbours, {0}};
    const StepEntries first = entries(view, 0, 0);
    ASSERT_EQ(first.observed.rows, 2);
    const ViewRounds rounds(process, view, noises);
    const AgentIndex& sources = rounds.sources_at(0).index;
    for (const auto& [row, sender] : {std::pair{0, 1}, {1, 4}}) {
        Eigen::VectorXd expected = Eigen::VectorXd::Zero(sources.size());
        for (const NoiseRow& noise : plan.rows)
            if (noise.sender == sender && noise.receiver == 0)
                for (std::size_t j = 0; j < noise.streams.size(); ++j)
                    expected(sources.of(noise.streams[j])) = plan.scale * noise.coefficients[j];
        EXPECT_GT(expected.norm(), 0);
        EXPECT_EQ(row_of(first.observed.from_sources, row, sources.size()), expected);
        EXPECT_EQ(row_of(first.observed.from_inputs, row, 5), Eigen::VectorXd::Unit(5, sender));
    }
}

TEST_F(StepToReceivers, MixesModels) {
    const View view{View::Kind::neighbours, {0}};
    const StepEntries later = entries(view, 1, 0);
    // Agents 1 to 4 make up the state.
    for (int u = 1; u < 5; ++u)
        for (int v = 1; v < 5; ++v)
            EXPECT_EQ(row_of(later.state.from_state, u - 1, 4)(v - 1),
                      process.phases[0].mixing.at(0).weight(u, v));
    EXPECT_EQ(row_of(later.observed.from_state, 1, 4), Eigen::VectorXd::Unit(4, 3));
}

TEST_F(StepToReceivers, ShowsOneMessageToAllWhereNoNoiseEnters) {
    const View eavesdropper{View::Kind::all_messages, {}};
    EXPECT_EQ(entries(eavesdropper, 1, 0).observed.rows, 10) << "two receivers each";
    EXPECT_EQ(entries(eavesdropper, 1, 1).observed.rows, 5);
}

TEST_F(StepToReceivers, ShowsSumsOfWhatAReceiverGets) {
    const StepEntries first = entries({View::Kind::secure_sum, {2}}, 0, 0);
    ASSERT_EQ(first.observed.rows, 1);
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(5);
    for (const int v : graph.neighbours(2))
        expected(v) = process.phases[0].mixing.at(0).weight(2, v);
    EXPECT_EQ(row_of(first.observed.from_inputs, 0, 5), expected);
}

/// Plays the noise that these steps add to one row of the state when `source` is drawn in `drawn`.
Eigen::VectorXd played(const ViewRounds& rounds, int steps, long drawn, int source) {
    Eigen::VectorXd added(rounds.count());
    Eigen::VectorXd state = Eigen::VectorXd::Zero(0);
    for (long t = 0; t < rounds.count(); ++t)
        for (int k = 0; k < steps; ++k) {
            StepEntries step;  // one row that hears the noise of the first source, and no state
            step.state.rows = 1;
            step.previous = t + k == 0 ? 0 : 1;
            if (k == 0) step.state.from_sources.emplace_back(0, source, 1.0);
            step = with_past_noise(std::move(step), rounds, t, k);
            EXPECT_EQ(step.previous, state.size());
            Eigen::VectorXd next = Eigen::VectorXd::Zero(step.state.rows);
            for (const auto& entry : step.state.from_state)
                next(entry.row()) += entry.value() * state(entry.col());
            if (t == drawn && k == 0)
                for (const auto& entry : step.state.from_sources)
                    if (entry.col() == source) next(entry.row()) += entry.value();
            state = std::move(next);
            if (k == 0) added(t) = state(0);
        }
    return added;
}

TEST(PastNoise, MakesTheRoundsOfAStretchAsItsTemporalFactorSays) {
    const Graph graph = ring_with_a_chord();
    const View view{View::Kind::neighbours, {0}};
    constexpr long rounds = 6;
    for (const TemporalFactor& factor :
         {difference_factor(rounds), random_factor(TemporalFactor::Kind::banded, 2, rounds)})
        for (const int gossip_steps : {1, 3}) {
            const NoisePlan plan = with_factor(unit_plan(6), factor);
            const MessageProcess process =
                process_of(graph, plan, phases_of(graph, {{rounds}}), gossip_steps);
            const std::vector<LaggedNoise> noises{
                lagged_noise(factor, rounds, static_cast<int>(rounds))};
            const ViewRounds where(process, view, noises);
            ASSERT_GT(noises.front().lags, 0);
            EXPECT_EQ(past_noise_size(where, 2), 5 * noises.front().lags);
            const Eigen::MatrixXd inverse = time_factor({&plan, 0, rounds}).inverse();
            for (long drawn = 0; drawn < rounds; ++drawn)
                EXPECT_LE((played(where, gossip_steps, drawn, 3) - inverse.col(drawn)).norm(),
                          1e-10 * inverse.norm());
        }
}

TEST(PastNoise, OfIndependentRoundsIsNothing) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6);
    const MessageProcess process = process_of(graph, plan, phases_of(graph, {{3}}));
    const View view{View::Kind::neighbours, {0}};
    const std::vector<LaggedNoise> noises{lagged_noise({}, 3, 0)};
    const ViewRounds where(process, view, noises);
    EXPECT_EQ(past_noise_size(where, 1), 0);
    EXPECT_EQ(played(where, 1, 1, 0), Eigen::VectorXd::Unit(3, 1));
}

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
