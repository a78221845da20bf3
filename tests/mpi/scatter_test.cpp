// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "mpi/string_samples.hpp"

namespace sotto {
namespace {

TEST(Scatter, GivesEveryProcessItsString) {
    const auto network = test::mpi_network();
    for (int kind = 0; kind < test::string_kinds; ++kind) {
        // What the other processes pass must not matter.
        const std::vector<std::string> ignored{"ignored"};
        const auto all = test::samples(kind, network->processes());
        EXPECT_TRUE(
            network->scatter(network->process() == 0 ? all : ignored, std::uint64_t{1} << 32) ==
            test::sample(kind, network->process()))
            << "kind " << kind;
    }
}

TEST(Scatter, OfTheWrongSizeFailsOnEveryRank) {
    const auto network = test::mpi_network();
    const std::vector<std::string> wrong(static_cast<std::size_t>(network->processes()) + 1);
    EXPECT_THROW((void)network->scatter(wrong, 1), Error);
    EXPECT_EQ(network->broadcast("still in step", most_line_bytes), "still in step");
}

TEST(Scatter, OfMoreBytesThanThereCanBeFailsOnEveryRank) {
    const auto network = test::mpi_network();
    std::vector<std::string> all(static_cast<std::size_t>(network->processes()), "one");
    all.back() = "four";
    EXPECT_THROW((void)network->scatter(all, 3), NetworkError);
    EXPECT_TRUE(network->failed_together());
}

}  // namespace
}  // namespace sotto
