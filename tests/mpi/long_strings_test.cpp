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

TEST(CheckAnnounced, RefusesMoreBytesThanAnyMessageOfSetUpHas) {
    EXPECT_NO_THROW(check_announced(0, 3));
    EXPECT_NO_THROW(check_announced(std::uint64_t{1} << 34, 3));
    EXPECT_EQ(test::message_of<NetworkError>([] { check_announced((1ULL << 34) + 1, 3); }),
              "rank 3 announces 17179869185 bytes; at most 17179869184 are accepted");
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
