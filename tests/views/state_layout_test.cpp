#include "views/state_layout.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sotto
