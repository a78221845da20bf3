#include "training/stop_signal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <thread>

#include "config/run_fixtures.hpp"
#include "core/stopwatch.hpp"

namespace sotto {
namespace {

TEST(StopSignal, AsksForAStopOnceAndThenEndsTheProcess) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            if (stop_requested()) std::_Exit(1);
            std::raise(SIGTERM);
            if (!stop_requested()) std::_Exit(2);
            std::raise(SIGTERM);
            std::_Exit(3);
        },
        testing::KilledBySignal(SIGTERM),
        "");
}

TEST(StopSignal, ThatALauncherRepeatsAsksAndEndsNothing) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            std::raise(SIGUSR1);
            if (!stop_requested()) std::_Exit(1);
            std::raise(SIGUSR1);
            std::_Exit(3);
        },
        testing::ExitedWithCode(3),
        "");
}

TEST(StopSignal, EndsAtOnceWhereNoStopIsNear) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            end_when_stopped();  // nothing was asked
            if (stop_requested()) std::_Exit(1);
            std::raise(SIGTERM);
            std::_Exit(3);
        },
        testing::KilledBySignal(SIGTERM),
        "");
    EXPECT_EXIT(
        {
            watch_for_stop();
            std::raise(SIGINT);
            end_when_stopped();
            std::_Exit(3);
        },
        testing::KilledBySignal(SIGINT),
        "");
}

/// What ends the process where it is asked before or during work that lasts.
void ask_during_long_work(bool before) {
    watch_for_stop();
    if (before) std::raise(SIGTERM);
    end_soon_when_stopped();
    if (!before) std::raise(SIGTERM);
    for (int i = 0; i < 1000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::_Exit(3);
}

TEST(StopSignal, EndsWorkThatLastsAfterALittlePatience) {
    for (const bool before : {true, false}) {
        const auto start = Clock::now();
        EXPECT_EXIT(ask_during_long_work(before), testing::KilledBySignal(SIGTERM), "");
        EXPECT_GT(seconds_since(start), 0.4);
        EXPECT_LT(seconds_since(start), 10);
    }
}

TEST(StopSignal, OfWorkThatEndsSoonIsAnsweredAfterIt) {
    EXPECT_EXIT(
        {
            watch_for_stop();
            end_soon_when_stopped();
            std::raise(SIGTERM);
            watch_on();
            std::this_thread::sleep_for(std::chrono::seconds(1));
            std::_Exit(stop_requested() ? 0 : 3);
        },
        testing::ExitedWithCode(0),
        "");
}

TEST(StopSignal, ThatTheProcessWasStartedToIgnoreAsksForNothing) {
    EXPECT_EXIT(
        {
            std::signal(SIGINT, SIG_IGN);
            watch_for_stop();
            std::raise(SIGINT);
            std::_Exit(stop_requested() ? 3 : 0);
        },
        testing::ExitedWithCode(0),
        "");
}

TEST(StopSignal, LeavesAProcessThatDoesNotWatchAlone) { EXPECT_FALSE(stop_requested()); }

/// Rounds until all stop, at most `most`.
long rounds_until_stop(StopVote& vote, long most) {
    for (long round = 1; round <= most; ++round)
        if (vote.after_round()) return round;
    return most + 1;
}

TEST(VotePace, IsATwentiethOfASecondWhereNobodyWaits) {
    VotePace pace;
    EXPECT_EQ(pace.rounds_after(0.01, false), 5);
    EXPECT_EQ(pace.rounds_after(10, false), 1);
    EXPECT_EQ(pace.rounds_after(1e-9, false), 256);
    EXPECT_TRUE(pace.is_long(0.003));
    EXPECT_FALSE(pace.is_long(0.002));
}

TEST(VotePace, SlowsDownUntilNobodyWaitsOrAFifthOfASecondHasPassed) {
    VotePace pace;
    EXPECT_EQ(pace.rounds_after(0.01, true), 10);
    EXPECT_FALSE(pace.is_long(0.004));
    EXPECT_EQ(pace.rounds_after(0.01, false), 10);
    EXPECT_EQ(pace.rounds_after(0.01, true), 20);
    EXPECT_EQ(pace.rounds_after(0.01, true), 20);
}

TEST(VotePace, TakesWhateverPeersSay) {
    for (const double said : {std::nan(""), HUGE_VAL, -1.0}) {
        VotePace pace;
        const long rounds = pace.rounds_after(said, true);
        EXPECT_GE(rounds, 1);
        EXPECT_LE(rounds, 256);
    }
}

TEST(StopVote, NeverStopsUnlessSomebodyAsks) {
    const auto network = make_memory_network(2, 1);
    const std::function<bool()> never = [] { return false; };
    StopVote vote(*network, never);
    EXPECT_EQ(rounds_until_stop(vote, 5000), 5001);
    vote.finish();
}

TEST(StopVote, StopsOnceAVoteHasTravelled) {
    const auto network = make_memory_network(2, 1);
    bool asked = false;
    const std::function<bool()> requested = [&] { return asked; };
    StopVote vote(*network, requested);
    EXPECT_EQ(rounds_until_stop(vote, 1000), 1001);
    asked = true;
    // At most one distance until the flag is raised, and one until it is collected.
    const long rounds = rounds_until_stop(vote, 1000);
    EXPECT_GT(rounds, 1);
    EXPECT_LE(rounds, 2 * 256);
    vote.finish();
}

TEST(StopVote, KnowsHowLongAStopMayTake) {
    const auto network = make_memory_network(2, 1);
    const std::function<bool()> never = [] { return false; };
    StopVote vote(*network, never);
    EXPECT_EQ(vote.seconds_to_stop(), 0);
    // A vote each 0.05 s or each round.
    for (const double round_seconds : {0.06, 0.06}) {
        std::this_thread::sleep_for(std::chrono::duration<double>(round_seconds));
        (void)vote.after_round();
    }
    EXPECT_GE(vote.seconds_to_stop(), 2 * 0.06);
    EXPECT_LT(vote.seconds_to_stop(), 10);
    vote.finish();
}

TEST(StopVote, LeavesNoVoteUnderWay) {
    const auto network = make_memory_network(2, 1);
    const std::function<bool()> never = [] { return false; };
    StopVote vote(*network, never);
    EXPECT_FALSE(vote.after_round());
    vote.finish();
    vote.finish();
    // One at a time: another can begin.
    const std::vector<double> value{3};
    network->begin_maximum(value);
    EXPECT_EQ(network->end_maximum(), value);
}

TEST(StopGrace, AdvisesOnceWhereTheTimeIsShortTwiceInARow) {
    StopGrace grace(1);
    EXPECT_FALSE(grace.advice(0.5, 0.4));
    EXPECT_FALSE(grace.advice(3, 0));  // one evaluation, say
    EXPECT_FALSE(grace.advice(0.5, 0.4));
    EXPECT_FALSE(grace.advice(0.8, 0.4));
    const auto advice = grace.advice(0.8, 0.4);
    ASSERT_TRUE(advice);
    EXPECT_NE(advice->find("up to 1.2 s"), std::string::npos) << *advice;
    EXPECT_NE(advice->find("after 1 s"), std::string::npos) << *advice;
    EXPECT_NE(advice->find("OMPI_MCA_odls_base_sigkill_timeout=3"), std::string::npos) << *advice;
    EXPECT_FALSE(grace.advice(0.8, 0.4));
}

TEST(StopGrace, AdvisesBeforeTheFirstRoundWhereComputingAloneTakesTooLong) {
    StopGrace grace(1);
    EXPECT_FALSE(grace.advice_before(0.5));
    const auto advice = grace.advice_before(0.6);
    ASSERT_TRUE(advice);
    EXPECT_NE(advice->find("up to 1.2 s"), std::string::npos) << *advice;
    EXPECT_FALSE(grace.advice_before(0.6));
    EXPECT_FALSE(grace.advice(9, 9)) << "said already";
    EXPECT_FALSE(grace.advice(9, 9)) << "said already";
    EXPECT_FALSE(StopGrace(1).advice_before(std::nan("")));
    EXPECT_FALSE(StopGrace(std::nullopt).advice_before(9));
}

TEST(StopGrace, SaysNothingWhereNobodyKillsOrTheTimeIsNoNumber) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(StopGrace(std::nullopt).advice(100, 100));
        StopGrace grace(1);
        EXPECT_FALSE(grace.advice(std::nan(""), 0));
        EXPECT_FALSE(grace.advice(std::nan(""), 0));
    }
    // A peer that says it takes for ever.
    StopGrace grace(1);
    EXPECT_FALSE(grace.advice(std::numeric_limits<double>::infinity(), 0));
    EXPECT_TRUE(grace.advice(std::numeric_limits<double>::infinity(), 0));
}

TEST(StallLimitsOfATraining, AreThoseOfItsOptions) {
    const StallLimits once = stall_limits(60, "rank 3 (node1)");
    EXPECT_EQ(once.warn_seconds, 6);
    EXPECT_EQ(once.abort_seconds, 60);
    EXPECT_EQ(once.abort_setting, "--stall-abort 60");
    const StallLimits patient = stall_limits(60, "rank 3 (node1)", 10);
    EXPECT_EQ(patient.warn_seconds, 30);
    EXPECT_EQ(patient.abort_seconds, 600);
    EXPECT_EQ(patient.abort_setting, "10 times --stall-abort 60");
    ::testing::internal::CaptureStderr();
    once.report("waits for rank 2");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "sotto: rank 3 (node1): waits for rank 2\n");
    EXPECT_EQ(stall_limits(300, "rank 0").warn_seconds, 30);
    EXPECT_EQ(stall_limits(1e6, "rank 0").warn_seconds, 30) << "nobody waits longer for a name";
    EXPECT_EQ(stall_limits(0, "rank 0").warn_seconds, 30)
        << "who is silent is named, never given up";
}

}  // namespace
}  // namespace sotto
