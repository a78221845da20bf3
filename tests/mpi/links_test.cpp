// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"

namespace sotto {
namespace {

TEST(MpiLinks, OfOneAgentEachAreItsNeighbours) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        MpiWorld world;
        MpiLinks links(world, {world.ranks(), world.ranks()});
        EXPECT_FALSE(links.connected());
        links.connect(graph);
        EXPECT_TRUE(links.connected());
        const auto closed = graph.closed_neighbourhood(world.rank());
        EXPECT_TRUE(std::ranges::equal(links.neighbours(), graph.neighbours(world.rank()))) << name;
        EXPECT_EQ(closed[links.own_place(0)], world.rank()) << name;
        EXPECT_EQ(links.members(0), closed.size()) << name;
        const auto expect_ends = [&](auto ends, auto processes, auto agents) {
            EXPECT_EQ(ends.size(), agents.size()) << name;
            EXPECT_EQ(processes.size(), agents.size()) << name;
            for (std::size_t j = 0; j < agents.size(); ++j) {
                EXPECT_EQ(ends[j].neighbour, j) << name;
                EXPECT_EQ(closed[ends[j].place], agents[j]) << name;
                EXPECT_EQ(links.neighbours()[processes[j]], agents[j]) << name;
            }
        };
        const auto hearers = graph.hearers(world.rank()), heard = graph.heard(world.rank());
        expect_ends(links.outgoing(), links.destinations(), hearers);
        expect_ends(links.incoming(), links.sources(), heard);
        int in = 0, out = 0, weighted = 0;
        MPI_Dist_graph_neighbors_count(links.communicator(), &in, &out, &weighted);
        EXPECT_EQ(in, std::ssize(heard)) << name;
        EXPECT_EQ(out, std::ssize(hearers)) << name;
    }
}

/// Sender and receiver of every link with another process, in the order of their messages.
std::vector<std::pair<int, int>> edges_of(const MpiLinks& links,
                                          const Graph& graph,
                                          int own_first,
                                          std::size_t neighbour,
                                          bool outgoing) {
    std::vector<std::pair<int, int>> edges;
    const auto processes = outgoing ? links.destinations() : links.sources();
    for (const LinkEnd& end : outgoing ? links.outgoing() : links.incoming()) {
        if (processes[end.neighbour] != neighbour) continue;
        const int own = own_first + static_cast<int>(end.local);
        const int other = graph.closed_neighbourhood(own)[end.place];
        edges.emplace_back(outgoing ? own : other, outgoing ? other : own);
    }
    return edges;
}

TEST(MpiLinks, OfSeveralAgentsAreAllEdgesInTheSameOrderAtBothEnds) {
    for (const int agents : test::agents_on_ranks())
        for (const auto& [name, graph] : test::graphs_of(agents)) {
            MpiWorld world;
            const AgentBlocks blocks(agents, world.ranks());
            MpiLinks links(world, blocks);
            links.connect(graph);
            const int own = world.rank(), first = blocks.first(own);
            std::size_t found = links.inner().size();
            for (std::size_t j = 0; j < links.neighbours().size(); ++j) {
                std::vector<std::pair<int, int>> wanted_out, wanted_in;
                for (int u = 0; u < agents; ++u)
                    for (const int v : graph.hearers(u)) {
                        const int from = blocks.process_of(u), to = blocks.process_of(v);
                        if (from == own && to == links.neighbours()[j])
                            wanted_out.emplace_back(u, v);
                        if (to == own && from == links.neighbours()[j])
                            wanted_in.emplace_back(u, v);
                    }
                EXPECT_EQ(edges_of(links, graph, first, j, true), wanted_out) << name;
                EXPECT_EQ(edges_of(links, graph, first, j, false), wanted_in) << name;
                found += wanted_in.size();
            }
            std::size_t heard = 0;
            for (std::size_t a = 0; a < links.local_agents(); ++a) {
                const int agent = first + static_cast<int>(a);
                EXPECT_EQ(links.members(a), graph.closed_neighbourhood(agent).size()) << name;
                heard += 1 + graph.heard(agent).size();
            }
            EXPECT_EQ(found, heard) << name;
            EXPECT_GE(links.most_links(), links.outgoing().size()) << name;
            EXPECT_GE(links.most_links(), links.incoming().size()) << name;
            for (const InnerLink& link : links.inner()) {
                const int receiver = first + static_cast<int>(link.local);
                const int sender = first + static_cast<int>(link.sender);
                EXPECT_EQ(graph.closed_neighbourhood(receiver)[link.place], sender) << name;
                EXPECT_EQ(graph.closed_neighbourhood(sender)[link.place_of_receiver], receiver);
            }
        }
}

TEST(GraphOfRank0, IsTheSameOnEveryRankWhateverItsOwn) {
    MpiWorld world;
    const auto graphs = test::graphs_of(world.ranks());
    const Graph& own = world.rank() == 0 ? graphs.front().graph : graphs.back().graph;
    EXPECT_EQ(graph_of_rank_0(world, own), graphs.front().graph.hash());
}

TEST(Connect, RefusesAGraphThatIsNotTheSameOnEveryRank) {
    const auto network = test::mpi_network();
    const int n = network->agents();
    const bool last = network->process() == n - 1;
    const auto graphs = test::graphs_of(n);
    const Graph& graph = last ? graphs.front().graph : graphs.back().graph;
    if (n > 1) {
        EXPECT_THROW(network->connect(graph), NetworkError);
    } else {
        EXPECT_NO_THROW(network->connect(graph));
    }
}

}  // namespace
}  // namespace sotto
