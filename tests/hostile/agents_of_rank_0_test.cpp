// What rank 0 says about the number of agents, when a run is resumed.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/bytes.hpp"
#include "hostile/deviating_network.hpp"
#include "net/memory_network.hpp"
#include "sotto/core/error.hpp"
#include "training/job.hpp"

namespace sotto {
namespace {

int agents_where_rank_0_says(const std::string& bytes) {
    const test::Deviation rank_0{.name = "says how many agents there are",
                                 .broadcast = [&](std::string& said) { said = bytes; }};
    const auto network = test::make_deviating_network(make_memory_network(2, 1), rank_0);
    return agents_of_rank_0(*network, 1);
}

std::string bytes_of(std::int32_t number) {
    ByteWriter writer;
    writer.put(number);
    return writer.take();
}

TEST(AgentsOfRank0, AreTakenWhereTheyArePossible) {
    for (const std::int32_t agents : {1, 7, 100000})
        EXPECT_EQ(agents_where_rank_0_says(bytes_of(agents)), agents);
}

// Memory is taken for every one.
TEST(AgentsOfRank0, AreRefusedWhereTheyAreNot) {
    for (const std::int32_t agents : {0, -1, INT32_MIN, INT32_MAX, 100001})
        EXPECT_THROW((void)agents_where_rank_0_says(bytes_of(agents)), NetworkError) << agents;
    for (const char* bytes : {"", "x", "abc"})
        EXPECT_THROW((void)agents_where_rank_0_says(bytes), Error) << bytes;
}

}  // namespace
}  // namespace sotto
