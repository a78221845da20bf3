// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "mpi/mpi_main.hpp"

namespace sotto {
namespace {

/// Runs a step that fails on the given ranks and returns what was thrown here.
std::optional<Error> agreed_failure(Network& network, std::span<const int> failing) {
    try {
        network.agree([&] {
            for (const int rank : failing)
                if (rank == network.process()) {
                    const std::string message = "rank " + std::to_string(rank) + " has no data";
                    if (rank % 2 == 0) throw DataError(message);
                    throw PrivacyError(message);
                }
        });
    } catch (const Error& error) {
        EXPECT_EQ(dynamic_cast<const DataError*>(&error) != nullptr,
                  error.exit_code() == ExitCode::data);
        return error;
    }
    return std::nullopt;
}

TEST(Agree, AgreesOnTheFailureOfTheLowestFailingRank) {
    const auto network = test::mpi_network();
    const int n = network->processes();
    EXPECT_FALSE(agreed_failure(*network, {}).has_value());
    for (int lowest = 0; lowest < n; ++lowest)
        for (int other = lowest; other < n; ++other) {
            const int failing[] = {other, lowest};
            const auto failure = agreed_failure(*network, failing);
            EXPECT_TRUE(failure.has_value());
            if (!failure) continue;
            EXPECT_EQ(failure->what(), "rank " + std::to_string(lowest) + " has no data");
            EXPECT_EQ(failure->exit_code(), lowest % 2 == 0 ? ExitCode::data : ExitCode::privacy);
        }
    EXPECT_FALSE(agreed_failure(*network, {}).has_value());
}

TEST(Agree, AgreesOnErrorsThatAreNotItsOwn) {
    const auto network = test::mpi_network();
    const int last = network->processes() - 1;
    std::string message;
    ExitCode code = ExitCode::ok;
    try {
        network->agree([&] {
            if (network->process() == last) throw std::runtime_error("out of luck");
        });
    } catch (const Error& error) {
        message = error.what();
        code = error.exit_code();
    }
    EXPECT_EQ(message, last == 0 ? "out of luck" : fmt::format("rank {}: out of luck", last));
    EXPECT_EQ(code, ExitCode::other);
}

TEST(Agree, SaysWhoSaysWhatAndNoMoreThan4096BytesOfIt) {
    const auto network = test::mpi_network();
    const int last = network->processes() - 1;
    std::string message;
    try {
        network->agree([&] {
            if (network->process() == last)
                throw NetworkError("rank 0 cheats " + std::string(10000, 'x'));
        });
    } catch (const NetworkError& error) {
        message = error.what();
    }
    const std::string said =
        last == 0 ? "rank 0 cheats" : fmt::format("rank {}: rank 0 cheats", last);
    EXPECT_TRUE(message.starts_with(said)) << message.substr(0, 100);
    EXPECT_TRUE(message.ends_with("x ..."));
    EXPECT_LT(message.size(), 4110U);
}

}  // namespace
}  // namespace sotto
