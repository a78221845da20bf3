// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"

namespace sotto {
namespace {

TEST(MpiExchange, DeliversBothKindsOfMessageToTheClosedNeighbourhood) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        const auto network = test::mpi_network();
        const int u = network->process();
        network->connect(graph);
        std::int64_t expected_bytes = 0;
        int round = 0;
        for (const Eigen::Index d : {1, 7, 124, 200000})
            for (const bool per_receiver : {false, true}) {
                const test::Sent sent = per_receiver ? test::send_per_receiver(graph, u, round, d)
                                                     : test::send_to_all(u, round, d);
                test::Received received;
                network->exchange({round, 0},
                                  {&sent.outgoing, 1},
                                  d,
                                  [&](std::size_t local, auto first, auto count, auto columns) {
                                      EXPECT_EQ(local, 0u);
                                      received.add(d, first, count, columns);
                                  });
                EXPECT_EQ(received.difference(graph, u, round, d, per_receiver), "")
                    << name << ", dimension " << d << ", round " << round;
                EXPECT_EQ(received.deliveries > 1, d == 200000);
                expected_bytes += graph.degree(u) * d * 8;
                EXPECT_EQ(network->bytes_sent(), expected_bytes) << name;
                ++round;
            }
    }
}

TEST(MpiExchange, KeepsTheAgentsOwnMessageWhereItIs) {
    const auto network = test::mpi_network();
    const int u = network->process();
    const Graph graph = test::graphs_of(network->agents()).back().graph;
    network->connect(graph);
    const Eigen::VectorXd model = test::message(u, -1, 0, 9);
    const Outgoing outgoing{model.data(), {}};
    network->exchange({}, {&outgoing, 1}, 9, [&](auto, auto, auto, auto columns) {
        EXPECT_EQ(columns[static_cast<std::size_t>(u)], model.data());  // the graph is complete
    });
}

}  // namespace
}  // namespace sotto
