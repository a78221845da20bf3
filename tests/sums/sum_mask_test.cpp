#include "sotto/sums/sum_mask.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <vector>

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

}  // namespace
}  // namespace sotto
