#include "sums/secure_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

using Words = std::vector<std::uint64_t>;

/// Whether the honest neighbours' mask graph is connected.
bool connected(int neighbours, int per_side, const std::set<int>& colluding) {
    std::set<int> reached;
    std::vector<int> open;
    for (int place = 0; place < neighbours && open.empty(); ++place)
        if (!colluding.contains(place)) open.push_back(place);
    reached.insert(open.begin(), open.end());
    while (!open.empty()) {
        const int place = open.back();
        open.pop_back();
        for (const int partner : mask_partners(neighbours, place, per_side))
            if (!colluding.contains(partner) && reached.insert(partner).second)
                open.push_back(partner);
    }
    return reached.size() + colluding.size() == static_cast<std::size_t>(neighbours);
}

TEST(MaskPartners, AreSymmetricAndAsManyAsPromised) {
    for (int neighbours = 1; neighbours < 40; ++neighbours)
        for (const int per_side : {1, 2, 5, 16, 100})
            for (int place = 0; place < neighbours; ++place) {
                const auto partners = mask_partners(neighbours, place, per_side);
                EXPECT_EQ(static_cast<int>(partners.size()),
                          std::min(2 * per_side, neighbours - 1));
                for (const int partner : partners) {
                    const auto back = mask_partners(neighbours, partner, per_side);
                    EXPECT_NE(std::ranges::find(back, place), back.end());
                    EXPECT_NE(partner, place);
                }
            }
}

TEST(MaskPartners, KeepHonestNeighboursJoinedForEveryCoalitionBelowTwicePerSide) {
    constexpr int neighbours = 11;
    for (const int per_side : {1, 2}) {
        bool cut_by_more = false;
        for (unsigned mask = 0; mask < 1U << neighbours; ++mask) {
            std::set<int> colluding;
            for (int place = 0; place < neighbours; ++place)
                if ((mask >> place & 1U) != 0) colluding.insert(place);
            const int size = static_cast<int>(colluding.size());
            if (size < 2 * per_side) {
                EXPECT_TRUE(connected(neighbours, per_side, colluding)) << mask;
            } else if (size == 2 * per_side) {
                cut_by_more = cut_by_more || !connected(neighbours, per_side, colluding);
            }
        }
        EXPECT_TRUE(cut_by_more);  // the promise is not too modest
    }
}

TEST(SumMask, WordsAreNeverRepeated) {
    auto secrets = test::pair_secrets(5);
    std::unordered_set<std::uint64_t> seen;
    std::size_t count = 0;
    Words scratch(64);
    for (const int peer : {1, 2})
        for (const int receiver : {3, 4})
            for (const std::uint32_t epoch : {0U, 1U})
                for (const std::int64_t round : {0, 1, 256, 65536})
                    for (const std::int64_t step : {0, 1, 256}) {
                        Words words(500, 0);
                        SumMask(secrets[0], peer, receiver, epoch)
                            .apply(round, step, 0, words, scratch);
                        seen.insert(words.begin(), words.end());
                        count += words.size();
                    }
    // 96 000 words repeat by chance with probability 3e-10.
    EXPECT_EQ(seen.size(), count);
}

TEST(SumMask, IsTheSameAtBothEndsWithOppositeSigns) {
    auto secrets = test::pair_secrets(5);
    Words words(1000, 0);
    Words scratch(8);
    SumMask(secrets[1], 3, 0, 7).apply(4, 2, 64, words, scratch);
    EXPECT_TRUE(std::ranges::any_of(words, [](std::uint64_t word) { return word != 0; }));
    SumMask(secrets[3], 1, 0, 7).apply(4, 2, 64, words, scratch);
    EXPECT_EQ(words, Words(1000, 0));
}

TEST(SumMask, HasTheSameWordsInPiecesAndWithAnyScratch) {
    auto secrets = test::pair_secrets(3);
    const SumMask mask(secrets[0], 1, 2, 0);
    Words whole(3000, 0), scratch(mask_piece);
    mask.apply(5, 1, 16, whole, scratch);
    Words pieces(3000, 0), small(11);
    for (std::size_t first = 0; first < pieces.size(); first += 1000)
        mask.apply(5,
                   1,
                   16 + static_cast<std::int64_t>(first),
                   std::span(pieces).subspan(first, 1000),
                   small);
    EXPECT_EQ(pieces, whole);
}

TEST(SumMask, RefusesWordsItsCounterCannotReach) {
    EXPECT_NO_THROW(check_mask_range(0, 100));
    EXPECT_NO_THROW(check_mask_range((std::int64_t{1} << 35) - 8, 8));
    EXPECT_THROW(check_mask_range((std::int64_t{1} << 35) - 8, 9), Error);
    EXPECT_THROW(check_mask_range(4, 8), Error);
    EXPECT_THROW(check_mask_range(-8, 8), Error);
    auto secrets = test::pair_secrets(3);
    Words words(8), scratch(7);
    EXPECT_THROW(SumMask(secrets[0], 1, 2, 0).apply(0, 0, 0, words, scratch), Error);
}

using Words = std::vector<std::uint64_t>;

Graph complete(int agents) {
    std::vector<Edge> edges;
    for (int u = 0; u < agents; ++u)
        for (int v = u + 1; v < agents; ++v) edges.emplace_back(u, v);
    return Graph::from_edges(agents, edges);
}

/// Agent 0 in the middle of all others.
Graph star(int agents) {
    std::vector<Edge> edges;
    for (int v = 1; v < agents; ++v) edges.emplace_back(0, v);
    return Graph::from_edges(agents, edges);
}

/// Everybody's messages and parts in the sums on one graph.
struct Parties {
    Parties(const Graph& g, std::size_t dimension, int per_side = 16, std::uint32_t epoch = 0)
        : graph(g), secrets(test::pair_secrets(g.agents())) {
        SeededRandom random(5, "test.secure-sum");
        for (int u = 0; u < g.agents(); ++u) {
            sums.emplace_back(graph, secrets[static_cast<std::size_t>(u)], epoch, per_side);
            auto& message = messages.emplace_back(dimension);
            for (double& value : message) value = 10 * random.normal();
        }
    }
    static double weight(int receiver, int sender) {
        return 0.01 * (1 + (3 * receiver + 5 * sender) % 7);
    }
    void begin(std::int64_t round, std::int64_t step = 0) {
        for (int v = 0; v < graph.agents(); ++v) {
            std::vector<double> weights;
            for (const int a : graph.neighbours(v)) weights.push_back(weight(a, v));
            sums[at(v)].begin(round, step, messages[at(v)], weights);
        }
    }
    /// What `sender` sends to `receiver`, in pieces of the given length.
    Words share(int sender, int receiver, std::size_t piece = 1 << 20) const {
        const auto around = graph.neighbours(sender);
        const auto place =
            static_cast<std::size_t>(std::ranges::lower_bound(around, receiver) - around.begin());
        Words words(messages[at(sender)].size());
        for (std::size_t first = 0; first < words.size(); first += piece)
            sums[at(sender)].share(
                place,
                static_cast<std::int64_t>(first),
                std::span(words).subspan(first, std::min(piece, words.size() - first)));
        return words;
    }
    /// round(w m 2^40), as words.
    Words plain(int sender, int receiver) const {
        Words words;
        for (const double value : messages[at(sender)])
            words.push_back(
                static_cast<std::uint64_t>(std::llrint(weight(receiver, sender) * value * 0x1p40)));
        return words;
    }
    static std::size_t at(int agent) { return static_cast<std::size_t>(agent); }

    Graph graph;
    std::vector<PairSecrets> secrets;
    std::vector<SecureSum> sums;
    std::vector<std::vector<double>> messages;
};

void add(Words& sum, const Words& words) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += words[i];
}
Words sum_of(const std::vector<Words>& all) {
    Words sum(all.front().size(), 0);
    for (const Words& words : all) add(sum, words);
    return sum;
}

/// Chi-squared of the bytes against the uniform distribution has 255 degrees of freedom: mean 255,
/// standard deviation sqrt(510) = 22.6. Within 5 of them.
bool looks_uniform(const Words& words) {
    std::array<double, 256> counts{};
    for (const std::uint64_t word : words)
        for (int byte = 0; byte < 8; ++byte) ++counts[(word >> (8 * byte)) & 0xff];
    const double expected = static_cast<double>(words.size()) * 8 / 256;
    double chi2 = 0;
    for (const double count : counts) chi2 += (count - expected) * (count - expected) / expected;
    return std::abs(chi2 - 255) < 5 * std::sqrt(510.0);
}

/// What a = 0 mixes: w_aa m_a + sum_v w_av m_v, by the plain rule in long double.
TEST(SecureSum, IsThePlainMixtureWithinTheFixedPointStep) {
    for (const Graph& graph : {complete(2), complete(5), star(9), complete(40)}) {
        Parties parties(graph, 1003);
        parties.begin(0);
        for (int a = 0; a < std::min(graph.agents(), 4); ++a) {
            std::vector<Words> shares;
            for (const int v : graph.neighbours(a)) shares.push_back(parties.share(v, a));
            std::vector<double> mixed(1003);
            const auto& own = parties.messages[Parties::at(a)];
            SecureSum::finish(sum_of(shares), 0.3, own, mixed);
            for (std::size_t i = 0; i < mixed.size(); ++i) {
                long double exact = 0.3L * own[i];
                long double size = std::abs(exact);
                for (const int v : graph.neighbours(a)) {
                    const long double term = static_cast<long double>(Parties::weight(a, v)) *
                                             parties.messages[Parties::at(v)][i];
                    exact += term;
                    size += std::abs(term);
                }
                // Half a step a neighbour; one rounding of each product, of the decoded sum, and of
                // the last addition.
                const long double bound =
                    0x1p-41L * static_cast<long double>(graph.degree(a)) + 4 * 0x1p-53L * size;
                EXPECT_LE(std::abs(mixed[i] - exact), bound) << "agent " << a << ", " << i;
            }
        }
    }
}

TEST(SecureSum, LeavesTheExactSumOfTheFixedPointValues) {
    for (const int per_side : {1, 2, 16}) {
        Parties parties(star(10), 100, per_side);
        parties.begin(3, 1);
        std::vector<Words> shares;
        std::vector<Words> plain;
        for (int v = 1; v < 10; ++v) {
            shares.push_back(parties.share(v, 0));
            plain.push_back(parties.plain(v, 0));
        }
        EXPECT_EQ(sum_of(shares), sum_of(plain));
        Words missing = sum_of(shares);
        const Words one = shares[4];
        for (std::size_t i = 0; i < missing.size(); ++i) missing[i] -= one[i];
        // Without one share the rest is noise of the size of the modulus.
        int small = 0;
        for (const std::uint64_t word : missing)
            small +=
                std::abs(static_cast<double>(static_cast<std::int64_t>(word))) < 0x1p56 ? 1 : 0;
        EXPECT_LE(small, 5);  // expected 100 * 2^-7
    }
}

TEST(SecureSum, HasTheSameWordsInPiecesOfAnyLength) {
    Parties parties(complete(5), 5000);
    parties.begin(0);
    const Words whole = parties.share(1, 3);
    for (const std::size_t piece : {8UL, 24UL, 1000UL, 1024UL, 2048UL, 4992UL})
        EXPECT_EQ(parties.share(1, 3, piece), whole) << piece;
    Words words(8);
    EXPECT_THROW(parties.sums[1].share(0, 4, words), Error);     // not a multiple of 8
    EXPECT_THROW(parties.sums[1].share(0, 5000, words), Error);  // beyond the end
    EXPECT_THROW(parties.sums[1].share(9, 0, words), Error);     // no such neighbour
}

TEST(SecureSum, SharesLookUniformAndDifferInEveryRoundStepEpochAndReceiver) {
    constexpr std::size_t dimension = 20000;
    std::vector<Words> seen;
    for (const std::uint32_t epoch : {0U, 1U})
        for (const std::int64_t round : {0, 1})
            for (const std::int64_t step : {0, 1}) {
                Parties parties(complete(4), dimension, 16, epoch);
                parties.begin(round, step);
                for (const int receiver : {0, 3}) seen.push_back(parties.share(1, receiver));
            }
    for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_TRUE(looks_uniform(seen[i])) << i;
        for (std::size_t j = 0; j < i; ++j) {
            Words difference = seen[i];
            for (std::size_t k = 0; k < dimension; ++k) difference[k] -= seen[j][k];
            EXPECT_TRUE(looks_uniform(difference)) << i << " and " << j;
        }
    }
    Parties parties(complete(4), dimension);
    EXPECT_FALSE(looks_uniform(parties.plain(1, 0)));  // the test can fail
}

TEST(SecureSum, OfOneNeighbourIsItsMessage) {
    Parties parties(complete(2), 50);
    parties.begin(0);
    EXPECT_EQ(parties.sums[0].masks(), 0);
    EXPECT_EQ(parties.share(1, 0), parties.plain(1, 0));
}

/// Takes the masks that the agents in `known` share with `sender` off its share for `receiver`.
Words without_masks_of(
    Parties& parties, Words share, int sender, int receiver, const std::vector<int>& known) {
    Words scratch(1024);
    for (const int colluder : known) {
        // The colluder's own side of the pair: what it adds, the sender subtracts.
        const SumMask mask(parties.secrets[Parties::at(colluder)], sender, receiver, 0);
        mask.apply(0, 0, 0, share, scratch);
    }
    return share;
}

TEST(SecureSum, ColludingNeighboursLearnOnlyTheSumOfTheHonestOnes) {
    Parties parties(star(5), 20000);
    parties.begin(0);
    // Agent 0 colludes with 3 and 4: it knows what they sent, and their masks with 1 and 2.
    const Words first = without_masks_of(parties, parties.share(1, 0), 1, 0, {3, 4});
    const Words second = without_masks_of(parties, parties.share(2, 0), 2, 0, {3, 4});
    EXPECT_TRUE(looks_uniform(first));
    EXPECT_TRUE(looks_uniform(second));
    EXPECT_EQ(sum_of({first, second}), sum_of({parties.plain(1, 0), parties.plain(2, 0)}));
    // With a third colluder only one honest neighbour is left, and the sum is its message.
    EXPECT_EQ(without_masks_of(parties, parties.share(1, 0), 1, 0, {2, 3, 4}), parties.plain(1, 0));
}

TEST(SecureSum, WithFewPartnersWithstandsOneColluderLessThanPartners) {
    constexpr int per_side = 2;  // four partners
    Parties parties(star(12), 20000, per_side);
    parties.begin(0);
    const auto partners = mask_partners(11, 5, per_side);  // of agent 6, the one at place 5
    ASSERT_EQ(partners, (std::vector<int>{3, 4, 6, 7}));
    const std::vector<int> three{4, 5, 7};
    EXPECT_TRUE(looks_uniform(without_masks_of(parties, parties.share(6, 0), 6, 0, three)));
    const std::vector<int> all{4, 5, 7, 8};
    EXPECT_EQ(without_masks_of(parties, parties.share(6, 0), 6, 0, all), parties.plain(6, 0));
}

TEST(SecureSum, RefusesValuesOutOfRangeNamingAgentCoordinateValueAndRange) {
    const Graph graph = star(5);  // agent 0 has 4 neighbours: each may send 2^22 / 4
    auto secrets = test::pair_secrets(5);
    SecureSum sum(graph, secrets[2], 0, 16);
    const std::array<double, 1> weight{0.25};
    std::vector<double> message(20, 1.0);
    message[13] = 4 * 0x1p20;
    sum.begin(0, 0, message, weight);  // exactly the largest
    for (const double bad : {4 * 0x1p20 * (1 + 0x1p-50), -4.2e6 * 4, infinity, not_a_number}) {
        message[13] = bad;
        try {
            sum.begin(1, 0, message, weight);
            ADD_FAILURE() << bad << " was accepted";
        } catch (const Error& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("agent 2, coordinate 13, round 1"), std::string::npos) << text;
            EXPECT_NE(text.find("1048576"), std::string::npos) << text;
        }
    }
}

TEST(SecureSum, AtTheEndsOfTheRangeDoesNotWrap) {
    for (const int agents : {3, 6, 34}) {
        Parties parties(star(agents), 16);
        const double range = sum_range(agents - 1);
        for (const double sign : {1.0, -1.0}) {
            std::vector<Words> shares;
            std::vector<double> message(16, sign * range);
            const std::array<double, 1> weight{1};
            for (int v = 1; v < agents; ++v) {
                parties.sums[Parties::at(v)].begin(sign > 0 ? 0 : 1, 0, message, weight);
                Words words(16);
                parties.sums[Parties::at(v)].share(0, 0, words);
                shares.push_back(words);
            }
            std::vector<double> decoded(16);
            SecureSum::decode(sum_of(shares), decoded);
            for (const double value : decoded)
                EXPECT_NEAR(value, sign * 0x1p22, 0x1p-41 * agents + 1e-9);
        }
    }
}

TEST(SecureSum, NeverUsesAMaskTwice) {
    Parties parties(complete(3), 16);
    parties.begin(5, 1);
    EXPECT_THROW(parties.begin(5, 1), CryptoError);
    EXPECT_THROW(parties.begin(5, 0), CryptoError);
    EXPECT_THROW(parties.begin(4, 2), CryptoError);
    parties.begin(5, 2);
    parties.begin(6, 0);
    EXPECT_THROW(parties.begin(std::int64_t{1} << 48, 0), CryptoError);
}

}  // namespace
}  // namespace sotto
