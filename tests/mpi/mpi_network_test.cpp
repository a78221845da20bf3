// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <vector>

#include "core/weighted_sum.hpp"
#include "mpi/mpi_main.hpp"
#include "net/memory_network.hpp"
#include "net/network_fixtures.hpp"

namespace sotto {
namespace {

constexpr Eigen::Index dimensions[] = {1, 7, 124, 200000};

TEST(MpiNetwork, HostsOneAgentPerRank) {
    const auto network = test::mpi_network();
    EXPECT_EQ(network->agents(), test::mpi_session().ranks());
    EXPECT_EQ(network->processes(), test::mpi_session().ranks());
    EXPECT_EQ(network->process(), test::mpi_session().rank());
    EXPECT_EQ(network->local_agents().size(), 1u);
    EXPECT_EQ(network->local_agents().front(), test::mpi_session().rank());
    EXPECT_EQ(network->description(), MpiSession::library_version());
}

TEST(MpiNetwork, HostsConsecutiveAgents) {
    const int ranks = test::mpi_session().ranks();
    for (const int agents : test::agents_on_ranks()) {
        const auto network = test::mpi_network(agents);
        EXPECT_EQ(network->agents(), agents);
        EXPECT_EQ(network->processes(), ranks);
        const AgentBlocks blocks = network->blocks();
        const auto local = network->local_agents();
        EXPECT_EQ(std::ssize(local), blocks.size(network->process()));
        EXPECT_LE(local.size(), network->most_agents_of_a_process());
        for (const int agent : local) EXPECT_EQ(blocks.process_of(agent), network->process());
    }
    EXPECT_THROW((void)test::mpi_network(ranks - 1), ConfigError);
}

TEST(BothNetworks, MixToTheSameBits) {
    const int n = test::mpi_session().ranks();
    for (const auto& [name, graph] : test::graphs_of(n))
        for (const Eigen::Index d : dimensions) {
            const auto across = test::mpi_network();
            const auto inside = make_memory_network(n, 1);
            across->connect(graph);
            inside->connect(graph);
            Eigen::MatrixXd models(d, n);
            for (int u = 0; u < n; ++u) models.col(u) = test::message(u, -1, 0, d) / 3.0;
            const auto mix_into = [](Eigen::Ref<Eigen::VectorXd> mixed,
                                     Eigen::Index first,
                                     Eigen::Index count,
                                     std::span<const double* const> columns) {
                std::vector<double> weights;
                std::vector<const double*> heard;
                for (std::size_t j = 0; j < columns.size(); ++j) {
                    if (columns[j] == nullptr) continue;
                    heard.push_back(columns[j]);
                    weights.push_back(1.0 / (static_cast<double>(j) + 1.7));
                }
                weighted_sum(
                    heard, weights, {mixed.data() + first, static_cast<std::size_t>(count)});
            };
            Eigen::MatrixXd all(d, n);
            std::vector<Outgoing> outgoing;
            for (int u = 0; u < n; ++u) outgoing.push_back({models.col(u).data(), {}});
            inside->exchange({}, outgoing, d, [&](auto u, auto first, auto count, auto columns) {
                mix_into(all.col(static_cast<Eigen::Index>(u)), first, count, columns);
            });
            const int u = across->process();
            Eigen::VectorXd own(d);
            across->exchange({},
                             {&outgoing[static_cast<std::size_t>(u)], 1},
                             d,
                             [&](auto, auto first, auto count, auto columns) {
                                 mix_into(own, first, count, columns);
                             });
            EXPECT_TRUE(own == all.col(u)) << name << ", dimension " << d;
        }
}

TEST(MpiNetwork, RefusesWrongUseOnEveryRank) {
    const auto network = test::mpi_network();
    const int n = network->agents();
    const double values[2] = {1, 2};
    const auto ignore = [](auto...) {};
    const Outgoing good{values, {}};
    EXPECT_THROW(network->exchange({}, {&good, 1}, 2, ignore), Error);  // not connected
    EXPECT_THROW(network->connect(Graph::from_edges(n + 1, {{0, n}})), ConfigError);
    const Graph graph = test::graphs_of(n).back().graph;
    network->connect(graph);
    EXPECT_THROW(network->connect(graph), Error);
    const Outgoing empty;
    const Outgoing both{values, std::vector<const double*>(static_cast<std::size_t>(n), values)};
    const Outgoing many{nullptr,
                        std::vector<const double*>(static_cast<std::size_t>(n) + 1, values)};
    for (const Outgoing* wrong : {&empty, &both, &many})
        EXPECT_THROW(network->exchange({}, {wrong, 1}, 2, ignore), Error);
    EXPECT_THROW(network->exchange({}, {&good, 1}, 0, ignore), Error);
    EXPECT_THROW(network->exchange({}, {}, 2, ignore), Error);
    EXPECT_THROW((void)network->sum_over_agents(Eigen::MatrixXd::Zero(2, 2)), Error);
    network->exchange({}, {&good, 1}, 2, ignore);
    EXPECT_EQ(network->bytes_sent(), (n - 1) * 2 * 8);
}

// Started by a test of its own that looks at mpiexec's exit code.
TEST(MpiNetwork, DISABLED_AbortEndsEveryRankWithTheCode) {
    const auto network = test::mpi_network();
    if (network->process() == network->processes() - 1) network->abort(ExitCode::privacy);
    EXPECT_EQ(network->maximum(1), 1);  // waits for a rank that never comes
}

}  // namespace
}  // namespace sotto
