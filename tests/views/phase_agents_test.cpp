#include "views/phase_agents.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

using Agents = std::vector<int>;

class PathOfFive : public ::testing::Test {
  protected:
    Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = unit_plan(5);
    MessageProcess process =
        process_of(graph, plan, phases_of(graph, {{2}, {2, 0, {1, 4}}, {2, 0, {4}}}));

    PhaseAgents agents(View::Kind kind, Agents members, std::size_t phase) const {
        return phase_agents(process, {kind, std::move(members)}, phase);
    }
};

TEST_F(PathOfFive, IsSeenByWhoIsNextToIt) {
    const PhaseAgents first = agents(View::Kind::neighbours, {0}, 0);
    EXPECT_EQ(first.watch, Agents{0});
    EXPECT_EQ(first.seen, Agents{1});
    EXPECT_EQ(first.hidden.agents, (Agents{2, 3, 4}));
    EXPECT_EQ(first.others.agents, (Agents{1, 2, 3, 4}));
    EXPECT_EQ(first.hidden.of(3), 1);
    EXPECT_EQ(first.hidden.of(1), -1);
}

TEST_F(PathOfFive, IsTrackedWhileItMayComeBack) {
    const PhaseAgents second = agents(View::Kind::neighbours, {0}, 1);
    EXPECT_TRUE(second.seen.empty()) << "agent 1 is away";
    EXPECT_EQ(second.hidden.agents, (Agents{1, 2, 3})) << "agent 1 comes back, agent 4 does not";
    EXPECT_EQ(agents(View::Kind::neighbours, {0}, 2).seen, Agents{1});
}

TEST_F(PathOfFive, IsNotReadByMembersThatAreAway) {
    const PhaseAgents second = agents(View::Kind::neighbours, {1}, 1);
    EXPECT_TRUE(second.watch.empty());
    EXPECT_TRUE(second.seen.empty());
    EXPECT_EQ(second.present, (std::vector<bool>{true, false, true, true, false}));
}

TEST_F(PathOfFive, IsSeenWhollyOrNotAtAll) {
    EXPECT_EQ(agents(View::Kind::all_messages, {}, 1).seen, (Agents{0, 2, 3}));
    EXPECT_TRUE(agents(View::Kind::all_messages, {}, 0).hidden.agents.empty());
    const PhaseAgents sums = agents(View::Kind::secure_sum, {2}, 0);
    EXPECT_TRUE(sums.seen.empty());
    EXPECT_EQ(sums.hidden.agents, (Agents{0, 1, 3, 4}));
}

}  // namespace
}  // namespace sotto
