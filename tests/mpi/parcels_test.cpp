// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/parcels.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "mpi/string_samples.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t enough = std::uint64_t{1} << 32;

TEST(Parcels, ReachWhomTheyAreForInTheOrderOfTheirSenders) {
    const auto network = test::mpi_network();
    const int processes = network->processes(), own = network->process();
    for (int kind = 0; kind < test::string_kinds; ++kind)
        for (const int ahead : {0, 1, processes - 1}) {
            std::vector<int> next;
            for (int p = 0; p < processes; ++p) next.push_back((p + ahead) % processes);
            const auto came = network->send_parcels(test::sample(kind, own), next, enough);
            const int sender = (own + processes - ahead) % processes;
            EXPECT_TRUE(came == std::vector{test::sample(kind, sender)})
                << "kind " << kind << ", " << ahead << " ahead";
        }
}

TEST(Parcels, OfManyMayGoToOneAndOfSomeToNobody) {
    const auto network = test::mpi_network();
    const int processes = network->processes();
    std::vector<int> to_last(static_cast<std::size_t>(processes), processes - 1);
    to_last.front() = -1;
    const auto came = network->send_parcels(test::sample(3, network->process()), to_last, enough);
    std::vector<std::string> all = test::samples(3, processes);
    all.erase(all.begin());
    if (network->process() < processes - 1) all.clear();
    EXPECT_TRUE(came == all);
}

TEST(Parcels, ToProcessesThatDoNotExistFailOnEveryRank) {
    const auto network = test::mpi_network();
    std::vector<int> receivers(static_cast<std::size_t>(network->processes()), 0);
    receivers.back() = network->processes();
    EXPECT_THROW((void)network->send_parcels("one", receivers, enough), Error);
    receivers.pop_back();
    EXPECT_THROW((void)network->send_parcels("one", receivers, enough), Error);
    EXPECT_EQ(network->broadcast("still in step", most_line_bytes), "still in step");
}

TEST(Parcels, OfMoreBytesThanThereCanBeFailOnEveryRank) {
    const auto network = test::mpi_network();
    const std::vector<int> receivers(static_cast<std::size_t>(network->processes()), 0);
    const bool last = network->process() == network->processes() - 1;
    EXPECT_THROW((void)network->send_parcels(last ? "four" : "one", receivers, 3), NetworkError);
    EXPECT_TRUE(network->failed_together());
}

}  // namespace
}  // namespace sotto
