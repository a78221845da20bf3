#include "run/data_sizes.hpp"

#include <gtest/gtest.h>

#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

// What peers may announce: tests/hostile/peer_bytes.cpp.
TEST(LargestSizes, AreItsOwnWhereThereIsNobodyElse) {
    const auto network = make_memory_network(3, 1);
    const DataSizes sizes = largest_sizes(*network, {5000000, 3000});
    EXPECT_EQ(sizes.features, 5000000);
    EXPECT_EQ(sizes.classes, 3000);
}

}  // namespace
}  // namespace sotto
