// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <string>

#include "mpi/mpi_main.hpp"
#include "mpi/string_samples.hpp"

namespace sotto {
namespace {

TEST(AllGather, GivesTheStringsOfAllProcessesInTheirOrder) {
    const auto network = test::mpi_network();
    for (int kind = 0; kind < test::string_kinds; ++kind)
        EXPECT_TRUE(network->all_gather(test::sample(kind, network->process())) ==
                    test::samples(kind, network->processes()))
            << "kind " << kind;
}

}  // namespace
}  // namespace sotto
