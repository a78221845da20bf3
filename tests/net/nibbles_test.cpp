#include "net/nibbles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

struct PackedCodes {
    std::vector<std::byte> block;
    std::vector<std::int32_t> rest;
};

PackedCodes packed(const std::vector<double>& codes) {
    PackedCodes result;
    result.block.resize(nibble_block_bytes(codes.size()));
    pack_nibbles(codes, result.block, result.rest);
    return result;
}

std::vector<double> unpacked(const PackedCodes& from, std::size_t count) {
    std::vector<double> codes(count);
    unpack_nibbles(from.block, from.rest, codes);
    return codes;
}

void set_head(PackedCodes& packed, std::uint32_t said) {
    std::memcpy(packed.block.data(), &said, sizeof said);
}

/// What unpacking refuses; empty: nothing.
std::string refusal(const PackedCodes& from, std::size_t count) {
    try {
        (void)unpacked(from, count);
    } catch (const DataError& error) {
        return error.what();
    }
    return {};
}

TEST(Nibbles, ComeBackAsTheyWere) {
    SeededRandom random(3, "test.net.nibbles");
    for (const std::size_t count : {1U, 2U, 3U, 63U, 64U, 65U, 124U, 7850U, 65536U})
        for (const double deviation : {0.0, 2.0, 5.0, 1e6}) {
            std::vector<double> codes(count);
            for (double& code : codes) code = std::nearbyint(deviation * random.normal());
            const PackedCodes sent = packed(codes);
            EXPECT_EQ(sent.rest.size() * sizeof(std::int32_t), nibble_rest_bytes(codes));
            EXPECT_EQ(nibbles_after(sent.block, count), sent.rest.size());
            EXPECT_EQ(unpacked(sent, count), codes) << count << " of deviation " << deviation;
        }
}

TEST(Nibbles, HoldTheEndsOfTheirRange) {
    const std::vector<double> codes{-8, 8, -7, 7, -largest_code, largest_code, 0, -0.0};
    EXPECT_EQ(unpacked(packed(codes), codes.size()), codes);
    EXPECT_EQ(packed(codes).rest.size(), 2U);
}

TEST(Nibbles, AreASixteenthOfDoubles) {
    // Differences of a normal distribution, whose step is half their deviation.
    SeededRandom random(4, "test.net.nibbles");
    std::vector<double> codes(7850);
    for (double& code : codes) code = std::nearbyint(2 * random.normal());
    const PackedCodes sent = packed(codes);
    EXPECT_TRUE(sent.rest.empty());
    const double ratio =
        static_cast<double>(codes.size() * sizeof(double)) / static_cast<double>(sent.block.size());
    EXPECT_GT(ratio, 15.5);
    EXPECT_LT(ratio, 16);
}

TEST(Nibbles, RefuseWhatNoSenderPacks) {
    std::vector<double> codes(100, 3);
    codes[17] = 1000;
    const PackedCodes good = packed(codes);
    PackedCodes more = good, fewer = good, many = good, beyond = good;
    set_head(more, 2);
    EXPECT_EQ(refusal(more, 100), "1 values have 32 bits, and the message says that 2 have");
    set_head(fewer, 0);
    EXPECT_EQ(refusal(fewer, 100), "1 values have 32 bits, and the message says that 0 have");
    set_head(many, 101);
    EXPECT_THROW((void)nibbles_after(many.block, 100), DataError);
    const std::int32_t least = std::numeric_limits<std::int32_t>::min();
    std::memcpy(beyond.block.data() + sizeof(std::uint32_t), &least, sizeof least);
    EXPECT_EQ(refusal(beyond, 100),
              "coordinate 17 moves by -2147483648 steps (allowed: -2147483647 to 2147483647)");
}

TEST(Nibbles, OfAnyBytesAreReadOrRefused) {
    SeededRandom random(5, "test.net.nibbles");
    int read = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        const std::size_t count = 1 + random.below(150);
        PackedCodes bytes;
        bytes.block.resize(nibble_block_bytes(count));
        for (std::byte& byte : bytes.block) byte = static_cast<std::byte>(random.below(256));
        set_head(bytes, static_cast<std::uint32_t>(random.below(count + 1)));
        bytes.rest.resize(nibbles_after(bytes.block, count));
        for (std::int32_t& code : bytes.rest) code = static_cast<std::int32_t>(random());
        if (refusal(bytes, count).empty()) {
            ++read;
            for (const double code : unpacked(bytes, count))
                EXPECT_LE(std::abs(code), largest_code);
        }
    }
    EXPECT_GT(read, 30);
}

}  // namespace
}  // namespace sotto
