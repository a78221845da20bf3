// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/broadcast.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/test_support.hpp"
#include "mpi/mpi_main.hpp"
#include "mpi/string_samples.hpp"

namespace sotto {
namespace {

TEST(Broadcast, GivesTheStringOfProcess0ToAll) {
    const auto network = test::mpi_network();
    for (int kind = 0; kind < test::string_kinds; ++kind)
        EXPECT_TRUE(network->broadcast(test::sample(kind, network->process()),
                                       std::uint64_t{1} << 40) == test::sample(kind, 0))
            << "kind " << kind;
}

TEST(Broadcast, OfMoreBytesThanThereCanBeFailsOnEveryRank) {
    const auto network = test::mpi_network();
    EXPECT_EQ(test::message_of<NetworkError>([&] { (void)network->broadcast("four", 3); }),
              "rank 0 announces 4 bytes where at most 3 can be; do all ranks run the same sotto, "
              "with the same options?");
    EXPECT_TRUE(network->failed_together());
    EXPECT_EQ(network->broadcast("four", 4), "four");
}

TEST(BroadcastKnown, GivesTheStringOfAnyProcessToAll) {
    MpiWorld world;
    for (int root = 0; root < world.ranks(); ++root)
        for (int kind = 0; kind < test::string_kinds; ++kind) {
            EXPECT_EQ(size_at(world, root, test::sample(kind, world.rank()).size()),
                      test::sample(kind, root).size());
            std::string known = test::sample(kind, root);
            if (world.rank() != root) known.assign(known.size(), 'x');
            broadcast_known(world, root, known);
            EXPECT_TRUE(known == test::sample(kind, root)) << "kind " << kind;
        }
}

}  // namespace
}  // namespace sotto
