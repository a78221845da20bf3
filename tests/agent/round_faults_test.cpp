#include "agent/round_faults.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(RoundFaults, AreReadAndWritten) {
    const RoundFaults faults = parse_round_faults("--faults", "silent:0.2,slow:3:10,slow:0:2.5");
    EXPECT_EQ(faults.silent, 0.2);
    EXPECT_EQ(faults.times_as_long(3), 10);
    EXPECT_EQ(faults.times_as_long(0), 2.5);
    EXPECT_EQ(faults.times_as_long(1), 1);
    EXPECT_EQ(name_of(faults), "silent:0.2,slow:3:10,slow:0:2.5");
    EXPECT_EQ(parse_round_faults("--faults", name_of(faults)), faults);
    EXPECT_TRUE(parse_round_faults("--faults", "").none());
    EXPECT_EQ(name_of(RoundFaults{}), "");
}

TEST(RoundFaults, OfOtherKindsAreRefused) {
    for (const char* text : {"silent",
                             "silent:1",
                             "silent:-0.1",
                             "silent:nan",
                             "slow:3",
                             "slow:-1:2",
                             "slow:1:0.5",
                             "late:1",
                             ",",
                             "slow:1:2:3",
                             "silent:0.1,"})
        EXPECT_THROW((void)parse_round_faults("--faults", text), ConfigError) << text;
}

TEST(RoundFaults, SilenceIsIndependentOverAgentsAndRoundsAndFollowsFromTheSeed) {
    RoundFaults faults;
    EXPECT_FALSE(faults.is_silent(1, 0, 0));
    faults.silent = 0.2;
    int silent = 0, both = 0, again = 0, with_other_seed = 0;
    constexpr int rounds = 2000, agents = 10;
    for (int t = 0; t < rounds; ++t)
        for (int u = 0; u < agents; ++u) {
            if (!faults.is_silent(1, t, u)) continue;
            ++silent;
            both += faults.is_silent(1, t, (u + 1) % agents) ? 1 : 0;
            again += faults.is_silent(1, t + 1, u) ? 1 : 0;
            with_other_seed += faults.is_silent(2, t, u) ? 1 : 0;
        }
    // Five standard deviations of 20000 and of 4000 draws.
    EXPECT_NEAR(silent, 4000, 283);
    for (const int of_silent : {both, again, with_other_seed}) EXPECT_NEAR(of_silent, 800, 140);
}

}  // namespace
}  // namespace sotto
