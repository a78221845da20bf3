#include "agent/round_faults.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(RoundFaults, AreWrittenAsTheyAreRead) {
    for (const std::string text : {"",
                                   "silent:0.25",
                                   "silent:0.1,slow:3:2.5,slow:4:10",
                                   "lie:little:2+5+7",
                                   "slow:1:2,lie:sign-flip:0:1.5,lie:wrong-sign:3"})
        EXPECT_EQ(name_of(parse_round_faults("faults", text)), text);
    EXPECT_TRUE(parse_round_faults("faults", "").none());
    EXPECT_FALSE(parse_round_faults("faults", "lie:noise:0").none());
}

TEST(RoundFaults, SayWhoLiesAndHow) {
    const RoundFaults faults =
        parse_round_faults("faults", "lie:noise:7+2:5,lie:inner-product:4");
    EXPECT_EQ(faults.liars(), (std::vector<int>{2, 4, 7}));
    ASSERT_NE(faults.lie_of(2), nullptr);
    EXPECT_EQ(faults.lie_of(2)->kind, LieKind::noise);
    EXPECT_EQ(faults.lie_of(2)->strength, 5);
    EXPECT_EQ(faults.lie_of(4)->strength, usual_strength(LieKind::inner_product));
    EXPECT_EQ(faults.lie_of(3), nullptr);
}

TEST(RoundFaults, AreSilentAsOftenAsTheySayAndAlikeOnEveryProcess) {
    const RoundFaults faults = parse_round_faults("faults", "silent:0.25,slow:3:2");
    int silent = 0;
    for (long round = 0; round < 1000; ++round)
        for (int agent = 0; agent < 4; ++agent) {
            silent += faults.is_silent(7, round, agent) ? 1 : 0;
            EXPECT_EQ(faults.is_silent(7, round, agent), faults.is_silent(7, round, agent));
        }
    EXPECT_NEAR(silent, 1000, 150);
    EXPECT_EQ(faults.times_as_long(3), 2);
    EXPECT_EQ(faults.times_as_long(2), 1);
    EXPECT_FALSE(RoundFaults{}.is_silent(7, 0, 0));
}

TEST(RoundFaults, AreRefusedNamingTheOption) {
    for (const std::string text : {"silent:1",
                                   "silent",
                                   "slow:1:0.5",
                                   "slow:-1:2",
                                   "lie:noise",
                                   "lie:rumour:1",
                                   "lie:noise:x",
                                   "lie:noise:1:0",
                                   "lie:noise:1,lie:little:1",
                                   "lie:noise:2+2"})
        try {
            (void)parse_round_faults("faults", text);
            ADD_FAILURE() << text;
        } catch (const ConfigError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("faults")) << error.what();
        }
}

TEST(RoundFaults, OfOtherKindsThanThereAreAreRefused) {
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
