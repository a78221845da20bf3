// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/edge_pieces.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

LinkEnd link(std::size_t neighbour, std::size_t sender) { return {neighbour, 0, 0, sender}; }

TEST(MessageNumbers, AreOneALinkOrOneASenderAndProcess) {
    const LinkEnd links[] = {link(0, 0), link(0, 0), link(0, 1), link(2, 0), link(2, 0)};
    MessageNumbers numbers;
    const auto are = [&](std::vector<std::size_t> of_links,
                         std::vector<std::size_t> of_neighbours) {
        return std::ranges::equal(numbers.of_links(), of_links) &&
               std::ranges::equal(numbers.of_neighbours(), of_neighbours);
    };
    const auto all = [](const LinkEnd&) { return true; };
    numbers.assign(links, 3, false, all);
    EXPECT_TRUE(are({0, 1, 2, 3, 4}, {3, 0, 2}));
    numbers.assign(links, 3, true, all);
    EXPECT_TRUE(are({0, 0, 1, 2, 2}, {2, 0, 1}));
    numbers.assign(links, 3, false, [](const LinkEnd& end) { return end.neighbour == 2; });
    constexpr std::size_t none = MessageNumbers::none;
    EXPECT_TRUE(are({none, none, none, 0, 1}, {0, 0, 2}));
}

constexpr Eigen::Index longest = 9;

struct Edges {
    /// COLLECTIVE.
    Edges(const Graph& graph, bool encrypted)
        : blocks(graph.agents(), world.ranks()), links(world, blocks), pieces(world, links) {
        links.connect(graph);
        if (!encrypted) return;
        auto all = test::pair_secrets(graph.agents());
        const auto own =
            std::span(all).subspan(static_cast<std::size_t>(blocks.first(world.rank())),
                                   static_cast<std::size_t>(blocks.size(world.rank())));
        pieces.protect(process_ciphers(
            own, blocks, links.neighbours(), 0, LinkUse::exchange, AeadCipher::chacha20_poly1305));
    }
    /// Agents here and there.
    [[nodiscard]] std::pair<int, int> ends(const Graph& graph, const LinkEnd& end) const {
        const int own = blocks.first(world.rank()) + static_cast<int>(end.local);
        return {own, graph.closed_neighbourhood(own)[end.place]};
    }
    [[nodiscard]] Eigen::VectorXd received(std::size_t message, Eigen::Index count) {
        Eigen::VectorXd values(count);
        std::memcpy(values.data(),
                    pieces.received(message, count),
                    static_cast<std::size_t>(count) * sizeof(double));
        return values;
    }
    MpiWorld world;
    AgentBlocks blocks;
    MpiLinks links;
    EdgePieces pieces;
};

TEST(EdgePieces, SwapAPieceOfEveryMessage) {
    for (const int agents : test::agents_on_ranks())
        for (const auto& [name, graph] : test::graphs_of(agents))
            for (const bool encrypted : {false, true}) {
                Edges edges(graph, encrypted);
                const auto all = [](const LinkEnd&) { return true; };
                MessageNumbers sent, received;
                sent.assign(edges.links.outgoing(), edges.links.destinations().size(), false, all);
                received.assign(edges.links.incoming(), edges.links.sources().size(), false, all);
                edges.pieces.begin(
                    {3, 1}, longest, sent.of_neighbours(), received.of_neighbours(), true);
                for (const Eigen::Index count : {longest, Eigen::Index{4}}) {
                    const int piece = count == longest ? 0 : 1;
                    std::vector<Eigen::VectorXd> values;
                    for (const LinkEnd& end : edges.links.outgoing()) {
                        const auto [own, other] = edges.ends(graph, end);
                        values.push_back(test::message(own, other, piece, count));
                    }
                    for (std::size_t m = 0; m < values.size(); ++m)
                        edges.pieces.put(m, values[m].data());
                    edges.pieces.swap(piece, count);
                    for (std::size_t m = 0; m < edges.links.incoming().size(); ++m) {
                        const auto [own, other] = edges.ends(graph, edges.links.incoming()[m]);
                        EXPECT_EQ(edges.received(m, count), test::message(other, own, piece, count))
                            << name;
                    }
                }
                edges.pieces.count_sent(13, longest);
                const std::size_t tags = encrypted ? 2 * 16 * edges.links.destinations().size() : 0;
                EXPECT_EQ(edges.pieces.bytes_sent(),
                          static_cast<std::int64_t>(edges.links.outgoing().size() * 13 * 8 + tags));
            }
}

TEST(EdgePieces, SpreadTheSameToEveryNeighbour) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        Edges edges(graph, false);
        const Eigen::VectorXd values = test::message(edges.world.rank(), -1, 0, longest);
        const auto sources = edges.links.sources();
        const std::vector<std::size_t> sent(edges.links.destinations().size(), 1);
        const std::vector<std::size_t> received(sources.size(), 1);
        edges.pieces.begin({0, 0}, longest, sent, received, false);
        edges.pieces.spread(values.data(), longest);
        for (std::size_t j = 0; j < sources.size(); ++j)
            EXPECT_EQ(edges.received(j, longest),
                      test::message(edges.links.neighbours()[sources[j]], -1, 0, longest))
                << name;
    }
}

TEST(EdgePieces, GoOnlyAlongEdgesThatDoNotRest) {
    for (const int agents : test::agents_on_ranks())
        for (const bool encrypted : {false, true}) {
            const Graph graph = test::graphs_of(agents).back().graph;
            Edges edges(graph, encrypted);
            // From lower to higher numbers only.
            MessageNumbers sent, received;
            sent.assign(edges.links.outgoing(),
                        edges.links.destinations().size(),
                        false,
                        [&](const LinkEnd& end) {
                            const auto [own, other] = edges.ends(graph, end);
                            return other > own;
                        });
            received.assign(edges.links.incoming(),
                            edges.links.sources().size(),
                            false,
                            [&](const LinkEnd& end) {
                                const auto [own, other] = edges.ends(graph, end);
                                return other < own;
                            });
            edges.pieces.begin(
                {0, 0}, longest, sent.of_neighbours(), received.of_neighbours(), true);
            const Eigen::VectorXd values = test::message(edges.world.rank(), -1, 0, longest);
            std::size_t messages = 0, processes = 0;
            for (const std::size_t m : sent.of_links())
                if (m != MessageNumbers::none) {
                    edges.pieces.put(m, values.data());
                    ++messages;
                }
            for (const std::size_t count : sent.of_neighbours()) processes += count > 0 ? 1 : 0;
            edges.pieces.swap(0, longest);
            for (std::size_t e = 0; e < edges.links.incoming().size(); ++e) {
                const std::size_t m = received.of_links()[e];
                if (m == MessageNumbers::none) continue;
                const int from = edges.links.neighbours()[edges.links.incoming()[e].neighbour];
                EXPECT_EQ(edges.received(m, longest), test::message(from, -1, 0, longest));
            }
            edges.pieces.count_sent(longest, longest);
            EXPECT_EQ(edges.pieces.bytes_sent(),
                      static_cast<std::int64_t>(messages * longest * 8 +
                                                (encrypted ? 16 * processes : 0)));
        }
}

}  // namespace
}  // namespace sotto
