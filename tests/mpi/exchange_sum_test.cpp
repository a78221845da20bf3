// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"

namespace sotto {
namespace {

/// Word i of the share of `sender` for `receiver`.
std::uint64_t word(int sender, int receiver, Eigen::Index i) {
    return 0x9e3779b97f4a7c15U * (static_cast<std::uint64_t>(i) + 1) +
           static_cast<std::uint64_t>(1000 * sender + receiver);
}

TEST(MpiExchangeSum, DeliversTheSumOfTheNeighboursSharesModulo2To64) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        const auto network = test::mpi_network();
        network->connect(graph);
        const int u = network->process();
        const auto neighbours = graph.neighbours(u);
        std::int64_t bytes = 0;
        int round = 0;
        for (const Eigen::Index d : {1, 7, 200000}) {
            Eigen::Index next = 0, wrong = 0;
            network->exchange_sum(
                {round++, 0},
                d,
                [&](std::size_t, std::size_t j, Eigen::Index first, auto words) {
                    EXPECT_EQ(first % 8, 0);
                    for (std::size_t i = 0; i < words.size(); ++i)
                        words[i] = word(u, neighbours[j], first + static_cast<Eigen::Index>(i));
                },
                [&](std::size_t local, Eigen::Index first, auto sum) {
                    EXPECT_EQ(local, 0U);
                    EXPECT_EQ(first, next);
                    for (const std::uint64_t value : sum) {
                        std::uint64_t wanted = 0;
                        for (const int v : graph.heard(u)) wanted += word(v, u, next);
                        wrong += value == wanted ? 0 : 1;
                        ++next;
                    }
                });
            EXPECT_EQ(next, d) << name;
            EXPECT_EQ(wrong, 0) << name;
            bytes += std::ssize(graph.hearers(u)) * d * 8;
            EXPECT_EQ(network->bytes_sent(), bytes) << name;
        }
    }
}

TEST(MpiExchangeSum, AddsSharesOfItsOwnRankToo) {
    for (const int agents : test::agents_on_ranks())
        for (const auto& [name, graph] : test::graphs_of(agents)) {
            const auto network = test::mpi_network(agents);
            const auto local = network->local_agents();
            network->connect(graph);
            constexpr Eigen::Index d = 11;
            std::vector<int> delivered(local.size(), 0);
            network->exchange_sum(
                {0, 0},
                d,
                [&](std::size_t a, std::size_t j, Eigen::Index first, auto words) {
                    for (std::size_t i = 0; i < words.size(); ++i)
                        words[i] = word(local[a],
                                        graph.neighbours(local[a])[j],
                                        first + static_cast<Eigen::Index>(i));
                },
                [&](std::size_t a, Eigen::Index first, auto sum) {
                    EXPECT_EQ(first, 0);
                    ++delivered[a];
                    for (std::size_t i = 0; i < sum.size(); ++i) {
                        std::uint64_t wanted = 0;
                        for (const int v : graph.heard(local[a]))
                            wanted += word(v, local[a], static_cast<Eigen::Index>(i));
                        EXPECT_EQ(sum[i], wanted) << name << ", agent " << local[a];
                    }
                });
            EXPECT_EQ(delivered, std::vector<int>(local.size(), 1));
        }
}

}  // namespace
}  // namespace sotto
