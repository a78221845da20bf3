// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/protection.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

constexpr int agents = 4;

/// Whether one end opens what the other sealed.
bool fit(LinkCipher sender, const LinkCipher& receiver) {
    const std::vector<std::uint8_t> plain{1, 2, 3, 4, 5};
    std::vector<std::uint8_t> sealed(plain.size() + LinkCipher::tag_size), opened(plain.size());
    sender.seal({0, 0, 0}, plain, sealed);
    try {
        receiver.open({0, 0, 0}, sealed, opened);
    } catch (const CryptoError&) {
        return false;
    }
    return opened == plain;
}

TEST(OwnSecrets, AreThoseOfTheRankAndOfNoOther) {
    auto all = test::pair_secrets(agents);
    EXPECT_EQ(own_secrets({&all[2], 1}, 2).agent(), 2);
    EXPECT_THROW((void)own_secrets({&all[2], 1}, 1), Error);
    EXPECT_THROW((void)own_secrets(all, 0), Error);
    EXPECT_THROW((void)own_secrets({}, 0), Error);
}

TEST(EdgeCiphers, FitThoseOfTheNeighbour) {
    auto all = test::pair_secrets(agents);
    const int of_1[] = {0, 3}, of_3[] = {1, 2};
    const auto from_3 = edge_ciphers(all[3], of_3, 7);
    EXPECT_EQ(from_3.size(), 2U);
    const auto from_1 = [&](std::size_t j, std::uint32_t epoch) {
        return std::move(edge_ciphers(all[1], of_1, epoch)[j]);
    };
    EXPECT_TRUE(fit(from_1(1, 7), from_3[0]));
    EXPECT_FALSE(fit(from_1(0, 7), from_3[0]));
    EXPECT_FALSE(fit(from_1(1, 8), from_3[0]));
}

TEST(CollectionCiphers, JoinEveryProcessWithProcess0) {
    auto all = test::pair_secrets(agents);
    const auto collector = collection_ciphers(all[0], agents, 7);
    EXPECT_EQ(collector.size(), static_cast<std::size_t>(agents - 1));
    for (std::size_t u = 1; u < static_cast<std::size_t>(agents); ++u) {
        auto ciphers = collection_ciphers(all[u], agents, 7);
        EXPECT_EQ(ciphers.size(), 1U);
        EXPECT_TRUE(fit(std::move(ciphers.front()), collector[u - 1]));
        // Not with the keys of the edge between the same two agents.
        const int process_0[] = {0};
        EXPECT_FALSE(fit(std::move(edge_ciphers(all[u], process_0, 7).front()), collector[u - 1]));
    }
}

TEST(WireSize, IsEightBytesAValueAndATag) {
    EXPECT_EQ(wire_size(0, false), 0U);
    EXPECT_EQ(wire_size(1000, false), 8000U);
    EXPECT_EQ(wire_size(1000, true), 8016U);
}

TEST(Protect, NeedsTheOwnSecretsAndAConnectedNetwork) {
    auto all = test::pair_secrets(test::mpi_session().ranks());
    const auto u = static_cast<std::size_t>(test::mpi_session().rank());
    const auto network = test::mpi_network();
    EXPECT_THROW(network->protect({&all[u], 1}, 0), Error);
    network->connect(test::graphs_of(network->agents()).back().graph);
    EXPECT_THROW(network->protect({}, 0), Error);
    const std::size_t other = (u + 1) % all.size();
    if (other != u) {
        EXPECT_THROW(network->protect({&all[other], 1}, 0), Error);
    }
    EXPECT_FALSE(network->encrypted());
    network->protect({&all[u], 1}, 0);
    EXPECT_TRUE(network->encrypted());
}

}  // namespace
}  // namespace sotto
