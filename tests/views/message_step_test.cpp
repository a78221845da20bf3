#include "views/message_step.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

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

}  // namespace
}  // namespace sotto
