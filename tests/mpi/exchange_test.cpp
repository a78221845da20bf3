// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/memory_network.hpp"
#include "net/network_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

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
                expected_bytes += std::ssize(graph.hearers(u)) * d * 8;
                EXPECT_EQ(network->bytes_sent(), expected_bytes) << name;
                ++round;
            }
    }
}

/// Of a rank that hosts some of them.
struct SentByRank {
    SentByRank(const Network& network, const Graph& graph, bool per_receiver, int round, int d) {
        for (const int u : network.local_agents())
            sent.push_back(per_receiver ? test::send_per_receiver(graph, u, round, d)
                                        : test::send_to_all(u, round, d));
        for (const test::Sent& one : sent) outgoing.push_back(one.outgoing);
    }
    std::vector<test::Sent> sent;
    std::vector<Outgoing> outgoing;
};

/// COLLECTIVE.
std::unique_ptr<Network> connected(int agents, const Graph& graph, bool encrypted) {
    auto network = test::mpi_network(agents);
    const auto local = network->local_agents();
    network->connect(graph);
    auto secrets = test::pair_secrets(agents);
    if (encrypted)
        network->protect(
            std::span(secrets).subspan(static_cast<std::size_t>(local.front()), local.size()), 0);
    return network;
}

TEST(MpiExchange, DeliversToEveryAgentOfARank) {
    for (const int agents : test::agents_on_ranks())
        for (const auto& [name, graph] : test::graphs_of(agents))
            for (const bool encrypted : {false, true}) {
                const auto network = connected(agents, graph, encrypted);
                const auto local = network->local_agents();
                int round = 0;
                for (const int d : {3, 70000})
                    for (const bool per_receiver : {false, true}) {
                        // Many long ones take long and show nothing more.
                        if (d > 3 && agents > 3 * network->processes()) continue;
                        const SentByRank own(*network, graph, per_receiver, round, d);
                        std::vector<test::Received> received(local.size());
                        network->exchange({round, 0},
                                          own.outgoing,
                                          d,
                                          [&](std::size_t a, auto first, auto count, auto columns) {
                                              received[a].add(d, first, count, columns);
                                          });
                        for (std::size_t a = 0; a < local.size(); ++a)
                            EXPECT_EQ(
                                received[a].difference(graph, local[a], round, d, per_receiver), "")
                                << name << ", " << agents << " agents, dimension " << d;
                        ++round;
                    }
            }
}

TEST(MpiExchange, SendsWhatIsForAllOnceToEachOtherRank) {
    const int ranks = test::mpi_session().ranks();
    const auto network = test::mpi_network(4 * ranks);
    const Graph graph = test::graphs_of(4 * ranks).back().graph;
    network->connect(graph);
    const SentByRank own(*network, graph, false, 0, 5);
    network->exchange({0, 0}, own.outgoing, 5, [](auto...) {});
    EXPECT_EQ(network->bytes_sent(), 4 * (ranks - 1) * 5 * 8);
}

void round_in_place(Eigen::VectorXd& values, MessagePrecision precision) {
    round_to_precision({values.data(), static_cast<std::size_t>(values.size())}, precision);
}

/// Exchanges messages of this precision, and expects what was sent. COLLECTIVE.
/// @return bytes that this process sent.
std::int64_t exchange_rounded(
    Network& network, const Graph& graph, MessagePrecision precision, bool per_receiver, int d) {
    const auto local = network.local_agents();
    const int round = precision == MessagePrecision::float32 ? 1 : 0;
    network.set_message_precision(precision);
    SentByRank own(network, graph, per_receiver, round, d);
    for (test::Sent& one : own.sent)
        for (Eigen::VectorXd& values : one.vectors) round_in_place(values, precision);
    std::vector<test::Received> received(local.size());
    const std::int64_t before = network.bytes_sent();
    network.exchange(
        {round, 0}, own.outgoing, d, [&](std::size_t a, auto first, auto count, auto columns) {
            received[a].add(d, first, count, columns);
        });
    for (std::size_t a = 0; a < local.size(); ++a) {
        const auto members = graph.closed_neighbourhood(local[a]);
        for (std::size_t j = 0; j < members.size(); ++j) {
            Eigen::VectorXd sent =
                test::message(members[j], per_receiver ? local[a] : -1, round, d);
            round_in_place(sent, precision);
            EXPECT_EQ(received[a].columns.col(static_cast<Eigen::Index>(j)), sent)
                << network.agents() << " agents, dimension " << d;
        }
    }
    return network.bytes_sent() - before;
}

TEST(MpiExchange, CarriesFloat32InHalfTheBytes) {
    for (const int agents : test::agents_on_ranks())
        for (const bool encrypted : {false, true})
            for (const bool per_receiver : {false, true})
                for (const int d : {3, 300000}) {
                    if (d > 3 && agents > 3 * test::mpi_session().ranks()) continue;
                    const Graph graph = test::graphs_of(agents)[1].graph;
                    const auto network = connected(agents, graph, encrypted);
                    const std::int64_t wide = exchange_rounded(
                        *network, graph, MessagePrecision::float64, per_receiver, d);
                    const std::int64_t narrow = exchange_rounded(
                        *network, graph, MessagePrecision::float32, per_receiver, d);
                    // Beside a tag for each of five pieces and two neighbours.
                    EXPECT_GE(2 * narrow, wide);
                    EXPECT_LE(2 * narrow, wide + (encrypted ? 5 * 2 * 16 : 0));
                }
}

/// Whole numbers of an agent, most of 4 bits; all beyond at `long_every` 1.
Eigen::VectorXd codes_of(int agent, int d, int long_every) {
    Eigen::VectorXd codes(d);
    for (int i = 0; i < d; ++i)
        codes(i) = i % long_every == 0 ? 1000 * agent + i + 8 : (3 * agent + i) % 15 - 7;
    return codes;
}

TEST(MpiExchange, CarriesWholeNumbersInNibblesWhateverTheirSize) {
    for (const int agents : test::agents_on_ranks())
        for (const bool encrypted : {false, true})
            for (const int d : {3, 7850, 300000}) {
                if (d > 7850 && agents > 3 * test::mpi_session().ranks()) continue;
                const Graph graph = test::graphs_of(agents)[1].graph;
                const auto network = connected(agents, graph, encrypted);
                network->set_message_precision(MessagePrecision::nibble);
                int round = 0;
                for (const int long_every : {1, 5000, 1, 10}) {
                    std::vector<Eigen::VectorXd> codes;
                    std::vector<Outgoing> outgoing;
                    for (const int agent : network->local_agents())
                        codes.push_back(codes_of(agent, d, long_every));
                    for (const Eigen::VectorXd& own : codes) outgoing.push_back({own.data(), {}});
                    std::vector<test::Received> received(codes.size());
                    network->exchange({round++, 0},
                                      outgoing,
                                      d,
                                      [&](std::size_t a, auto first, auto count, auto columns) {
                                          received[a].add(d, first, count, columns);
                                      });
                    for (std::size_t a = 0; a < codes.size(); ++a) {
                        const auto members = graph.closed_neighbourhood(network->local_agents()[a]);
                        for (std::size_t j = 0; j < members.size(); ++j)
                            EXPECT_EQ(received[a].columns.col(static_cast<Eigen::Index>(j)),
                                      codes_of(members[j], d, long_every))
                                << agents << " agents, dimension " << d;
                    }
                }
            }
}

TEST(MpiExchange, CountsTheBytesOfNibblesAsOneProcessDoes) {
    const int ranks = test::mpi_session().ranks();
    const Graph graph = test::graphs_of(ranks).back().graph;
    const auto network = connected(ranks, graph, false);
    const auto alone = make_memory_network(ranks, 1);
    alone->connect(graph);
    std::int64_t sent = 0;
    for (Network* const one : {network.get(), alone.get()}) {
        one->set_message_precision(MessagePrecision::nibble);
        std::vector<Eigen::VectorXd> codes;
        std::vector<Outgoing> outgoing;
        for (const int agent : one->local_agents()) codes.push_back(codes_of(agent, 1000, 9));
        for (const Eigen::VectorXd& own : codes) outgoing.push_back({own.data(), {}});
        one->exchange({0, 0}, outgoing, 1000, [](auto...) {});
        const auto bytes = static_cast<double>(one->bytes_sent());
        sent = one == alone.get() ? sent
                                  : static_cast<std::int64_t>(network->sum_over_agents(
                                        Eigen::MatrixXd::Constant(1, 1, bytes))(0));
    }
    EXPECT_EQ(alone->bytes_sent(), sent);
}

TEST(MpiExchange, LeavesOutEdgesThatRest) {
    for (const int agents : test::agents_on_ranks()) {
        const auto network = test::mpi_network(agents);
        const Graph graph = test::graphs_of(agents).back().graph;
        network->connect(graph);
        SentByRank own(*network, graph, false, 0, 5);
        // From lower to higher numbers only.
        for (std::size_t a = 0; a < own.outgoing.size(); ++a) {
            const int u = network->local_agents()[a];
            for (int v = 0; v < agents; ++v) {
                own.outgoing[a].to.push_back(v >= u ? 1 : 0);
                own.outgoing[a].from.push_back(v <= u ? 1 : 0);
            }
        }
        network->exchange(
            {0, 0}, own.outgoing, 5, [&](std::size_t a, auto, auto count, auto columns) {
                const int u = network->local_agents()[a];
                for (int v = 0; v < agents; ++v) {
                    const double* const column = columns[static_cast<std::size_t>(v)];
                    EXPECT_EQ(column != nullptr, v <= u);
                    if (column != nullptr) {
                        EXPECT_EQ(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(column, count)),
                                  test::message(v, -1, 0, 5));
                    }
                }
            });
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
