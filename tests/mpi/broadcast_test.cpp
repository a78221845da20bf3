// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/broadcast.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mpi/mpi_main.hpp"
#include "mpi/string_samples.hpp"

namespace sotto {
namespace {

TEST(Broadcast, GivesTheStringOfProcess0ToAll) {
    const auto network = test::mpi_network();
    for (int kind = 0; kind < test::string_kinds; ++kind)
        EXPECT_TRUE(network->broadcast(test::sample(kind, network->process())) ==
                    test::sample(kind, 0))
            << "kind " << kind;
}

TEST(BroadcastFrom, GivesTheStringOfAnyProcessToAll) {
    MpiWorld world;
    for (int root = 0; root < world.ranks(); ++root)
        for (int kind = 0; kind < test::string_kinds; ++kind) {
            EXPECT_TRUE(broadcast_from(world, root, test::sample(kind, world.rank())) ==
                        test::sample(kind, root))
                << "kind " << kind;
            std::string known = test::sample(kind, root);
            if (world.rank() != root) known.assign(known.size(), 'x');
            broadcast_known(world, root, known);
            EXPECT_TRUE(known == test::sample(kind, root)) << "kind " << kind;
        }
}

}  // namespace
}  // namespace sotto
