#include "net/mpi/long_strings.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(CheckAnnounced, RefusesMoreBytesThanThereCanBe) {
    EXPECT_NO_THROW(check_announced(0, 0, 3));
    EXPECT_NO_THROW(check_announced(141, 141, 3));
    EXPECT_EQ(test::message_of<NetworkError>([] { check_announced(3000000000, 141, 3); }),
              "rank 3 announces 3000000000 bytes where at most 141 can be; do all ranks run the "
              "same sotto, with the same options?");
}

TEST(InParts, CoverAStringOnceInOrder) {
    for (const std::size_t size : {std::size_t{0},
                                   std::size_t{1},
                                   largest_transfer_bytes,
                                   largest_transfer_bytes + 1,
                                   5 * largest_transfer_bytes - 7}) {
        std::vector<std::pair<std::size_t, int>> parts;
        in_parts(size, [&](std::size_t first, int count) { parts.emplace_back(first, count); });
        EXPECT_EQ(parts.size(), (size + largest_transfer_bytes - 1) / largest_transfer_bytes);
        std::size_t next = 0;
        for (const auto& [first, count] : parts) {
            EXPECT_EQ(first, next);
            EXPECT_GT(count, 0);
            next += static_cast<std::size_t>(count);
        }
        EXPECT_EQ(next, size);
    }
}

}  // namespace
}  // namespace sotto
