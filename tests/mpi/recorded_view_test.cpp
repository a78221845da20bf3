// Under mpiexec, any number of ranks: recordings of a run on MPI, each file written by the rank of
// its agent. Every rank calls every collective, so nothing between collectives may leave a test
// early: EXPECT only.

#include <gtest/gtest.h>

#include <numeric>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "mpi/mpi_main.hpp"
#include "mpi/recording_fixtures.hpp"
#include "net/memory_network.hpp"

namespace sotto {
namespace {

/// Large enough to travel in pieces.
test::NoiseRun run_of(bool encrypted) {
    test::NoiseRun run;
    run.rounds = 4;
    run.dimension = 20000;
    run.encrypted = encrypted;
    return run;
}

class Recordings : public ::testing::TestWithParam<test::RecordedCase> {};

TEST_P(Recordings, OfAllRanksAgreeAndAreThoseOfOneProcess) {
    const test::TemporaryFolder own;
    for (const bool encrypted : {false, true}) {
        const auto network = make_mpi_network(test::mpi_session());
        // All ranks are on this machine.
        const std::filesystem::path folder =
            network->broadcast(own.path(encrypted ? "encrypted" : "plain"), most_line_bytes);
        const test::RecordedRun made =
            test::record_run(*network, GetParam(), folder, run_of(encrypted));
        (void)network->maximum(0);  // all files are written
        EXPECT_EQ(test::wrong_recordings(network->local_agents(), folder, made), "");

        const auto inside = make_memory_network(network->agents(), 1);
        const std::filesystem::path there = own.path(encrypted ? "inside-encrypted" : "inside");
        (void)test::record_run(*inside, GetParam(), there, run_of(false));
        const int agent = network->process();
        EXPECT_TRUE(read_file(test::view_file(folder, agent)) ==
                    read_file(test::view_file(there, agent)));
        const bool on_wire = made.plan.aggregation == Aggregation::gossip;
        EXPECT_TRUE(!on_wire || read_file(test::wire_file(folder, agent)) ==
                                    read_file(test::wire_file(there, agent)));
        (void)network->maximum(0);  // nobody reads them any more
    }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Recordings,
                         ::testing::ValuesIn(test::recorded_cases()),
                         [](const auto& entry) { return entry.param.label; });

}  // namespace
}  // namespace sotto
