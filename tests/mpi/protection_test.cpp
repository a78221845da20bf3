// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/protection.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

constexpr int agents = 4;
constexpr AeadCipher cipher = AeadCipher::chacha20_poly1305;

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

const AgentBlocks one_each(agents, agents);

std::span<PairSecrets> of(std::vector<PairSecrets>& all, int first, int count = 1) {
    return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

TEST(OwnSecrets, AreThoseOfTheRanksAgentsAndOfNoOther) {
    auto all = test::pair_secrets(agents);
    EXPECT_NO_THROW(require_own_secrets(of(all, 2), one_each, 2));
    EXPECT_THROW(require_own_secrets(of(all, 2), one_each, 1), Error);
    EXPECT_THROW(require_own_secrets(all, one_each, 0), Error);
    EXPECT_THROW(require_own_secrets({}, one_each, 0), Error);
    const AgentBlocks two_ranks(agents, 2);
    EXPECT_NO_THROW(require_own_secrets(of(all, 2, 2), two_ranks, 1));
    EXPECT_THROW(require_own_secrets(of(all, 1, 2), two_ranks, 1), Error);
    EXPECT_THROW(require_own_secrets(of(all, 2), two_ranks, 1), Error);
}

TEST(ProcessCiphers, FitThoseOfTheNeighbour) {
    auto all = test::pair_secrets(agents);
    const int of_1[] = {0, 3}, of_3[] = {1, 2};
    const auto ciphers = [&](int own, std::span<const int> others, std::uint32_t epoch) {
        return process_ciphers(of(all, own), one_each, others, epoch, LinkUse::exchange, cipher);
    };
    const auto from_3 = ciphers(3, of_3, 7);
    EXPECT_EQ(from_3.size(), 2U);
    EXPECT_TRUE(fit(std::move(ciphers(1, of_1, 7)[1]), from_3[0]));
    EXPECT_FALSE(fit(std::move(ciphers(1, of_1, 7)[0]), from_3[0]));
    EXPECT_FALSE(fit(std::move(ciphers(1, of_1, 8)[1]), from_3[0]));
}

TEST(ProcessCiphers, OfSeveralAgentsNeedTheSecretsOfAllOfThem) {
    auto all = test::pair_secrets(7);
    auto stolen = test::pair_secrets(7);
    auto other_run = test::pair_secrets(7, 2);
    const AgentBlocks blocks(7, 3);  // 0 1 | 2 3 | 4 5 6
    const int low[] = {0}, high[] = {2};
    const auto with = [&](std::span<PairSecrets> own, const int(&process)[1]) {
        return std::move(
            process_ciphers(own, blocks, process, 0, LinkUse::exchange, cipher).front());
    };
    EXPECT_TRUE(fit(with(of(all, 0, 2), high), with(of(all, 4, 3), low)));
    EXPECT_TRUE(fit(with(of(all, 4, 3), low), with(of(all, 0, 2), high)));
    for (int lacking = 4; lacking < 7; ++lacking) {
        std::vector<PairSecrets> partly;
        for (int u = 4; u < 7; ++u)
            partly.push_back(
                std::move((u == lacking ? other_run : stolen)[static_cast<std::size_t>(u)]));
        EXPECT_FALSE(fit(with(partly, low), with(of(all, 0, 2), high))) << lacking;
        stolen = test::pair_secrets(7);
        other_run = test::pair_secrets(7, 2);
    }
}

TEST(CollectionCiphers, JoinEveryProcessWithProcess0) {
    for (const int processes : {4, 3, 2}) {
        auto all = test::pair_secrets(agents);
        const AgentBlocks blocks(agents, processes);
        const auto collector = collection_ciphers(of(all, 0, blocks.size(0)), blocks, 7, cipher);
        EXPECT_EQ(collector.size(), static_cast<std::size_t>(processes - 1));
        for (int p = 1; p < processes; ++p) {
            const auto own = of(all, blocks.first(p), blocks.size(p));
            auto ciphers = collection_ciphers(own, blocks, 7, cipher);
            const auto& theirs = collector[static_cast<std::size_t>(p - 1)];
            EXPECT_EQ(ciphers.size(), 1U);
            EXPECT_TRUE(fit(std::move(ciphers.front()), theirs));
            // Not with the keys of the exchange between the same two.
            const int process_0[] = {0};
            EXPECT_FALSE(fit(
                std::move(
                    process_ciphers(own, blocks, process_0, 7, LinkUse::exchange, cipher).front()),
                theirs));
        }
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
    EXPECT_FALSE(network->encryption().has_value());
    network->protect({&all[u], 1}, 0);
    EXPECT_TRUE(network->encryption().has_value());
}

}  // namespace
}  // namespace sotto
