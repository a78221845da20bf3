// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/edge_pieces.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

TEST(PieceLength, IsTheWholeMessageUpToAMebibyteAndAtMostHalfOfItAbove) {
    EXPECT_EQ(piece_length(1), 1);
    EXPECT_EQ(piece_length(131072), 131072);
    EXPECT_LE(piece_length(131073), 65536);
    EXPECT_EQ(piece_length(Eigen::Index{1} << 40), 65536);
}

constexpr Eigen::Index longest = 9;

struct Edges {
    /// COLLECTIVE.
    Edges(const Graph& graph, bool encrypted) {
        links.connect(graph);
        if (!encrypted) return;
        auto all = test::pair_secrets(world.ranks());
        PairSecrets& own = all[static_cast<std::size_t>(world.rank())];
        pieces.protect(edge_ciphers(own, links.neighbours(), 0));
    }
    [[nodiscard]] Eigen::VectorXd received(std::size_t j, Eigen::Index count) const {
        return Eigen::Map<const Eigen::VectorXd>(
            reinterpret_cast<const double*>(pieces.received(j, count)), count);
    }
    MpiWorld world;
    MpiLinks links{world};
    EdgePieces pieces{world, links};
};

TEST(EdgePieces, SwapWhatEveryNeighbourGets) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks()))
        for (const bool encrypted : {false, true}) {
            Edges edges(graph, encrypted);
            const int u = edges.world.rank();
            edges.pieces.begin({3, 1}, longest, {}, {}, true);
            for (const Eigen::Index count : {longest, Eigen::Index{4}}) {
                const int piece = count == longest ? 0 : 1;
                for (std::size_t j = 0; j < edges.links.degree(); ++j) {
                    const int v = edges.links.neighbours()[j];
                    const Eigen::VectorXd values = test::message(u, v, piece, count);
                    edges.pieces.pack(j, piece, values.data(), count);
                }
                edges.pieces.swap(piece, count);
                for (std::size_t j = 0; j < edges.links.degree(); ++j)
                    EXPECT_EQ(edges.received(j, count),
                              test::message(edges.links.neighbours()[j], u, piece, count))
                        << name;
            }
            edges.pieces.count_sent(13, longest);
            const std::int64_t tags = encrypted ? 2 * 16 : 0;
            EXPECT_EQ(edges.pieces.bytes_sent(), graph.degree(u) * (13 * 8 + tags));
        }
}

TEST(EdgePieces, SpreadTheSameToEveryNeighbour) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        Edges edges(graph, false);
        const Eigen::VectorXd values = test::message(edges.world.rank(), -1, 0, longest);
        edges.pieces.begin({0, 0}, longest, {}, {}, false);
        edges.pieces.spread(values.data(), longest);
        for (std::size_t j = 0; j < edges.links.degree(); ++j)
            EXPECT_EQ(edges.received(j, longest),
                      test::message(edges.links.neighbours()[j], -1, 0, longest))
                << name;
    }
}

TEST(EdgePieces, GoOnlyAlongEdgesThatDoNotRest) {
    const Graph graph = test::graphs_of(test::mpi_session().ranks()).back().graph;
    for (const bool encrypted : {false, true}) {
        Edges edges(graph, encrypted);
        const int u = edges.world.rank();
        // From lower to higher numbers only.
        std::vector<std::uint8_t> to, from;
        for (const int v : graph.closed_neighbourhood(u)) {
            to.push_back(v >= u ? 1 : 0);
            from.push_back(v <= u ? 1 : 0);
        }
        edges.pieces.begin({0, 0}, longest, to, from, true);
        const Eigen::VectorXd values = test::message(u, -1, 0, longest);
        std::int64_t sent = 0;
        for (std::size_t j = 0; j < edges.links.degree(); ++j) {
            const int v = edges.links.neighbours()[j];
            EXPECT_EQ(edges.pieces.sends(j), v > u);
            EXPECT_EQ(edges.pieces.receives(j), v < u);
            if (!edges.pieces.sends(j)) continue;
            edges.pieces.pack(j, 0, values.data(), longest);
            ++sent;
        }
        edges.pieces.swap(0, longest);
        for (std::size_t j = 0; j < edges.links.degree(); ++j) {
            if (!edges.pieces.receives(j)) continue;
            EXPECT_EQ(edges.received(j, longest),
                      test::message(edges.links.neighbours()[j], -1, 0, longest));
        }
        edges.pieces.count_sent(longest, longest);
        EXPECT_EQ(edges.pieces.bytes_sent(), sent * (longest * 8 + (encrypted ? 16 : 0)));
    }
}

}  // namespace
}  // namespace sotto
