#include "training/stop_vote.hpp"

#include <chrono>
#include <cmath>
#include <thread>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
