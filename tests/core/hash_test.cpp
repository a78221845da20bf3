#include "sotto/core/hash.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace sotto {
namespace {

using Step = std::function<void(Hasher&)>;

std::string digest_of(const Step& absorb, std::string_view purpose = "sotto.test.v1") {
    Hasher hasher(purpose);
    absorb(hasher);
    return to_hex(hasher.finish());
}

TEST(Hasher, GivesTheBlake2bDigestOfItsTaggedInput) {
    // Computed by Python's hashlib.blake2b(digest_size=32) from tags, lengths and values.
    const std::vector<double> values{1.0, 2.0};
    const std::vector<std::uint8_t> bytes{1, 2, 3};
    EXPECT_EQ(digest_of([&](Hasher& h) {
                  h.add("abc").add(std::int64_t{-1}).add(0.5).add(values).add_bytes(bytes);
              }),
              "7c68273cbab6d326888128722a8c280e5758c12379b20e3ed55859a782fe30df");
}

TEST(Hasher, GivesEqualDigestsToEqualInput) {
    const Step absorb = [](Hasher& h) { h.add("graph").add(std::int64_t{3}).add(1.5); };
    EXPECT_EQ(digest_of(absorb), digest_of(absorb));
}

TEST(Hasher, NeverCollidesByConcatenation) {
    using V = std::vector<double>;
    using B = std::vector<std::uint8_t>;
    const double as_double = 0.0;
    const std::vector<Step> inputs{
        [](Hasher&) {},
        [](Hasher& h) { h.add(""); },
        [](Hasher& h) { h.add("").add(""); },
        [](Hasher& h) { h.add("ab").add("c"); },
        [](Hasher& h) { h.add("a").add("bc"); },
        [](Hasher& h) { h.add("abc"); },
        [](Hasher& h) { h.add("abc").add(""); },
        [](Hasher& h) { h.add("").add("abc"); },
        [](Hasher& h) {
            h.add_bytes(B{'a', 'b', 'c'});
        },
        [](Hasher& h) { h.add_bytes(B{}); },
        [](Hasher& h) { h.add(V{}); },
        [](Hasher& h) {
            h.add(V{1.0, 2.0});
        },
        [](Hasher& h) { h.add(V{1.0}).add(V{2.0}); },
        [](Hasher& h) { h.add(1.0).add(2.0); },
        [](Hasher& h) { h.add(V{1.0}).add(2.0); },
        [](Hasher& h) { h.add(V{0.0}); },
        [&](Hasher& h) { h.add(as_double); },
        [](Hasher& h) { h.add(-0.0); },
        [](Hasher& h) { h.add(std::int64_t{0}); },
        [](Hasher& h) { h.add(std::int64_t{0}).add(std::int64_t{0}); },
        [](Hasher& h) { h.add_bytes(B(8, 0)); },
        [](Hasher& h) { h.add(std::string(8, '\0')); },
    };
    std::set<std::string> digests;
    for (const auto& absorb : inputs) digests.insert(digest_of(absorb));
    EXPECT_EQ(digests.size(), inputs.size());
}

TEST(Hasher, TakesPartsForTheTextTheyMake) {
    const std::vector<std::string_view> parts{"ab", "", "c"};
    EXPECT_EQ(digest_of([&](Hasher& h) { h.add(parts); }),
              digest_of([](Hasher& h) { h.add("abc"); }));
    EXPECT_NE(digest_of([&](Hasher& h) { h.add(parts); }),
              digest_of([](Hasher& h) { h.add("ab").add("").add("c"); }));
}

TEST(Hasher, SeparatesPurposes) {
    const Step absorb = [](Hasher& h) { h.add("abc"); };
    EXPECT_NE(digest_of(absorb, "sotto.graph.v1"), digest_of(absorb, "sotto.plan.v1"));
    // The purpose is not simply the first text.
    EXPECT_NE(digest_of([](Hasher& h) { h.add("b").add("c"); }, "a"),
              digest_of([](Hasher& h) { h.add("c"); }, "ab"));
}

TEST(Hasher, SeesTheLastBitOfADouble) {
    const double next = std::nextafter(1.0, 2.0);
    EXPECT_NE(digest_of([](Hasher& h) { h.add(1.0); }), digest_of([&](Hasher& h) { h.add(next); }));
}

TEST(ToHex, WritesTwoLowercaseDigitsAByte) {
    const std::vector<std::uint8_t> bytes{0x00, 0x0f, 0xa0, 0xff};
    EXPECT_EQ(to_hex(bytes), "000fa0ff");
    EXPECT_EQ(to_hex({}), "");
}

TEST(FromHex, TakesExactlyTheDigitsThatFillTheBytes) {
    std::vector<std::uint8_t> bytes(4);
    EXPECT_TRUE(from_hex("000fA0ff", bytes));
    EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0x00, 0x0f, 0xa0, 0xff}));
    for (const char* wrong : {"", "000fa0f", "000fa0f ", "000fa0fff", "000fa0ffff", "0x0fa0ff"})
        EXPECT_FALSE(from_hex(wrong, bytes)) << wrong;
    EXPECT_TRUE(from_hex("", {}));
}

}  // namespace
}  // namespace sotto
