#include "core/bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "core/test_support.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

TEST(Bytes, AreTakenApartAsTheyWerePutTogether) {
    ByteWriter writer;
    writer.put(std::uint8_t{7});
    writer.put(-0.0);
    writer.put_text("");
    writer.put_text(std::string_view("a\0b", 3));
    writer.put(std::numeric_limits<std::int64_t>::min());
    const std::string bytes = writer.take();
    EXPECT_EQ(bytes.size(), 1U + 8 + 8 + 8 + 3 + 8);
    ByteReader reader(bytes, "a message");
    EXPECT_EQ(reader.get<std::uint8_t>(), 7);
    EXPECT_TRUE(std::signbit(reader.get<double>()));
    EXPECT_EQ(reader.get_text(), "");
    EXPECT_EQ(reader.get_text(), std::string_view("a\0b", 3));
    EXPECT_FALSE(reader.done());
    EXPECT_EQ(reader.get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
    EXPECT_TRUE(reader.done());
    EXPECT_NO_THROW(reader.require_done());
}

TEST(Bytes, StandLowestFirst) {
    ByteWriter writer;
    writer.put(std::uint32_t{0x01020304});
    EXPECT_EQ(writer.take(), "\x04\x03\x02\x01");
}

TEST(ByteReader, RefusesBytesThatEndTooEarly) {
    ByteWriter writer;
    writer.put(std::uint64_t{5});
    writer.put_text("four");
    const std::string whole = writer.take();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        ByteReader reader(std::string_view(whole).substr(0, size), "the note of rank 3");
        const std::string message = message_of<NetworkError>([&] {
            (void)reader.get<std::uint64_t>();
            (void)reader.get_text();
        });
        EXPECT_TRUE(contains(message, "the note of rank 3 is damaged")) << size;
    }
}

TEST(ByteReader, RefusesLengthsAndCountsBeyondTheEnd) {
    for (const std::uint64_t claimed :
         {std::uint64_t{4}, std::uint64_t{1} << 32, std::numeric_limits<std::uint64_t>::max()}) {
        ByteWriter writer;
        writer.put(claimed);
        writer.put(std::array<char, 3>{'a', 'b', 'c'});
        const std::string bytes = writer.take();
        EXPECT_THROW((void)ByteReader(bytes, "x").get_text(), NetworkError) << claimed;
        EXPECT_THROW((void)ByteReader(bytes, "x").get_count(1), NetworkError) << claimed;
    }
}

TEST(ByteReader, CountsItemsThatFit) {
    ByteWriter writer;
    writer.put(std::uint64_t{3});
    writer.put(std::array<double, 3>{});
    const std::string bytes = writer.take();
    EXPECT_EQ(ByteReader(bytes, "x").get_count(8), 3U);
    EXPECT_THROW((void)ByteReader(bytes, "x").get_count(9), NetworkError);
}

TEST(ByteReader, RefusesWhatIsLeft) {
    ByteReader reader("ab", "x");
    (void)reader.get<char>();
    EXPECT_THROW(reader.require_done(), NetworkError);
}

}  // namespace
}  // namespace sotto
