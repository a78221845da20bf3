#include "views/state_layout.hpp"

#include <gtest/gtest.h>

#include <array>
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

}  // namespace
}  // namespace sotto
