// The harness itself: it repeats what it did, and finds what is put in the program's way. The
// schedules are run by sotto_simulation.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <string>

#include "core/linear_algebra.hpp"
#include "simulation/run_schedule.hpp"
#include "simulation/schedule.hpp"

namespace sotto::simulation {
namespace {

class Simulation : public testing::Test {
  protected:
    static void SetUpTestSuite() { end_blas_threads(); }
    static ScheduleResult run(std::uint64_t seed, const RunOptions& options = {}) {
        return run_schedule(
            seed,
            fmt::format(
                "{}/sotto-simulation-test-{}", testing::TempDir(), static_cast<int>(::getpid())),
            options);
    }
    /// A fault at every so many calls of a rank: nothing is violated.
    /// @return how many ranks stopped cleanly.
    static long strike_everywhere(FaultKind kind, int rank) {
        const std::uint64_t seed = seed_with([](const Schedule& schedule) {
            return schedule.shared_disk() && schedule.mechanism() == "pairs";
        });
        long struck = 0, stopped = 0;
        for (const bool exchanged : {false, true})
            for (long call = 0; call < (exchanged ? 120 : 320); call += exchanged ? 5 : 20) {
                const ScheduleResult result =
                    run(seed, {.faults = std::vector<Fault>{{kind, rank, 0, exchanged, call, 1}}});
                EXPECT_EQ(result.violations, std::vector<std::string>{})
                    << "call " << call << (exchanged ? " from the first exchange on" : "");
                struck += result.fired[static_cast<std::size_t>(kind)];
                stopped += result.endings[static_cast<std::size_t>(Ending::stopped_cleanly)];
            }
        EXPECT_GT(struck, 30);
        return stopped;
    }
    /// The first seed from `seed` on whose schedule is as wanted.
    template <class Wanted>
    static std::uint64_t seed_with(Wanted&& wanted, std::uint64_t seed = 1) {
        while (!wanted(Schedule(seed))) ++seed;
        return seed;
    }
    static testing::AssertionResult finds(Planted planted, const std::string& what) {
        const std::uint64_t seed = seed_with([](const Schedule& schedule) {
            return schedule.link_encryption() && schedule.mechanism() == "pairs";
        });
        const ScheduleResult result = run(seed, {.planted = planted});
        for (const std::string& violation : result.violations)
            if (violation.find(what) != std::string::npos) return testing::AssertionSuccess();
        auto failure = testing::AssertionFailure() << "seed " << seed << ": not found; but";
        for (const std::string& violation : result.violations) failure << " " << violation << ";";
        return failure;
    }
};

TEST_F(Simulation, DoesTheSameForTheSameSeed) {
    std::set<std::uint64_t> digests;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const ScheduleResult once = run(seed), again = run(seed);
        EXPECT_EQ(once.digest, again.digest) << "seed " << seed;
        EXPECT_EQ(once.lines, again.lines) << "seed " << seed;
        EXPECT_EQ(once.violations, std::vector<std::string>{}) << "seed " << seed;
        digests.insert(once.digest);
    }
    EXPECT_EQ(digests.size(), 12U);
}

TEST_F(Simulation, WithoutFaultsEndsWithTheModelsOfOneProcess) {
    long compared = 0;
    for (std::uint64_t seed = 1; compared < 5; ++seed) {
        seed = seed_with([](const Schedule& schedule) { return schedule.faultless(); }, seed);
        const ScheduleResult result = run(seed);
        EXPECT_EQ(result.violations, std::vector<std::string>{}) << "seed " << seed;
        compared += result.compared && result.completed ? 1 : 0;
    }
}

TEST_F(Simulation, RoundsGoOnWithoutWhatIsLateAndWithLies) {
    for (const auto part : {&Schedule::has_deadline, &Schedule::has_lies}) {
        long faultless = 0, others = 0;
        for (std::uint64_t seed = 1; faultless < 2 || others < 6; ++seed) {
            seed = seed_with([&](const Schedule& schedule) { return (schedule.*part)(); }, seed);
            const bool without = Schedule(seed).faultless();
            if ((without ? faultless : others) >= (without ? 2 : 6)) continue;
            const ScheduleResult result = run(seed);
            EXPECT_EQ(result.violations, std::vector<std::string>{}) << "seed " << seed;
            if (without) {
                EXPECT_TRUE(result.completed && result.compared) << "seed " << seed;
            }
            ++(without ? faultless : others);
        }
    }
}

TEST_F(Simulation, NobodyWaitsForARankThatStopsAnywhere) {
    (void)strike_everywhere(FaultKind::stop, 1);
    (void)strike_everywhere(FaultKind::stop, 0);
}

TEST_F(Simulation, StopsCleanlyEvenIfItIsStartedInTheBackground) {
    // Where shells let processes ignore interrupts.
    const auto before = std::signal(SIGINT, SIG_IGN);
    EXPECT_GT(strike_everywhere(FaultKind::interrupt, 1), 30);
    std::signal(SIGINT, before);
}

TEST_F(Simulation, WhatLeftIsCountedWhereverPowerIsLost) {
    (void)strike_everywhere(FaultKind::power_loss, 0);
    (void)strike_everywhere(FaultKind::power_loss, 1);
}

// Each in turn, rank 0's too, after a rank has crashed: others keep copies.
TEST_F(Simulation, AHostThatHasLostItsDiskTakesPartAgain) {
    const auto wanted = [](const Schedule& schedule) {
        return schedule.identities() && !schedule.shared_disk();
    };
    for (const int host : {0, 1, 2}) {
        long came_back = 0;
        for (std::uint64_t seed = 0, tries = 0; came_back < 2 && tries < 30; ++tries) {
            seed = seed_with(wanted, seed + 1);
            const std::vector<Fault> crash{{FaultKind::crash, 1, 0, false, 330, 0}};
            const ScheduleResult result = run(seed, {.faults = crash, .lost = {host}});
            EXPECT_EQ(result.violations, std::vector<std::string>{}) << "seed " << seed;
            came_back += result.came_back;
        }
        EXPECT_GE(came_back, 2) << "host " << host;
    }
}

// All disks come back as they were at an earlier time, and rounds that had left are done again.
TEST_F(Simulation, AsksNobodyToRememberWhatAllDisksHaveForgotten) {
    const ScheduleResult result = run(346);
    EXPECT_GT(result.old_disks, 0);
    EXPECT_EQ(result.violations, std::vector<std::string>{});
}

// A peer's mark of 2^60 rounds; rank 0 crashes before it tells what all have found.
TEST_F(Simulation, HoldsInSchedulesThatFoundSomething) {
    for (const std::uint64_t seed : {44120, 75915, 86461, 94950})
        EXPECT_EQ(run(seed).violations, std::vector<std::string>{}) << "seed " << seed;
}

TEST_F(Simulation, FindsNoiseThatIsUsedTwice) {
    EXPECT_TRUE(finds(Planted::noise_again, "a round of noise of rank"));
}

TEST_F(Simulation, FindsMessagesInTheClear) {
    EXPECT_TRUE(finds(Planted::plain_text, "sends a secret to rank"));
}

TEST_F(Simulation, FindsALedgerThatCountsTooLittle) {
    EXPECT_TRUE(finds(Planted::small_ledger, "the ledger counts 0 rounds"));
}

TEST_F(Simulation, FindsARankThatWaitsForEver) {
    EXPECT_TRUE(finds(Planted::endless_wait, "still waits"));
}

TEST_F(Simulation, FindsAnEndWithoutAReason) {
    EXPECT_TRUE(finds(Planted::silent_end, "nobody says why"));
}

}  // namespace
}  // namespace sotto::simulation
