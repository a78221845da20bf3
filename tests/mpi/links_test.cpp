// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/links.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"

namespace sotto {
namespace {

TEST(MpiLinks, AreTheNeighboursInAscendingOrder) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        MpiWorld world;
        MpiLinks links(world);
        EXPECT_FALSE(links.connected());
        links.connect(graph);
        EXPECT_TRUE(links.connected());
        const auto closed = graph.closed_neighbourhood(world.rank());
        EXPECT_TRUE(std::ranges::equal(links.neighbours(), graph.neighbours(world.rank()))) << name;
        EXPECT_EQ(closed[links.own_place()], world.rank()) << name;
        for (std::size_t j = 0; j < links.degree(); ++j)
            EXPECT_EQ(closed[links.place_of(j)], links.neighbours()[j]) << name;
        int in = 0, out = 0, weighted = 0;
        MPI_Dist_graph_neighbors_count(links.communicator(), &in, &out, &weighted);
        EXPECT_EQ(in, graph.degree(world.rank())) << name;
        EXPECT_EQ(out, graph.degree(world.rank())) << name;
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
