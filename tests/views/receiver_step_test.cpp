#include "views/receiver_step.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

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

}  // namespace
}  // namespace sotto
