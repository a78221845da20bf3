#include "run/stop_vote.hpp"

#include "run/run_fixtures.hpp"

namespace sotto {
namespace {

/// Rounds until all stop, at most `most`.
long rounds_until_stop(StopVote& vote, long most) {
    for (long round = 1; round <= most; ++round)
        if (vote.after_round()) return round;
    return most + 1;
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
