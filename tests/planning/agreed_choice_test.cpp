#include "planning/agreed_choice.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "fuzz/support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

constexpr OpenChoice choice_of_k{"K", "--gossip-steps auto", "--gossip-steps K"};

/// What process `process` of two makes of process 0's word.
std::string heard(int process, const std::string& said, bool open, const std::string& own) {
    fuzz::ScriptedNetwork network(
        2, process, said, [](int) { return std::vector<std::string>(2); });
    return agree_on_choice(network, choice_of_k, open, own);
}

TEST(AgreedChoice, IsProcessZerosForAllWhoLeaveItOpen) {
    EXPECT_EQ(heard(0, "", true, "4"), "4");
    EXPECT_EQ(heard(1, "4", true, "4"), "4");
    EXPECT_EQ(heard(1, "4", true, ""), "4");
    EXPECT_EQ(heard(1, "4", false, ""), "");
    EXPECT_EQ(heard(0, "", false, ""), "");
}

TEST(AgreedChoice, RefusesSilenceAndAnotherChoice) {
    expect_contains(message_of<NetworkError>([] { (void)heard(1, "", true, "4"); }),
                    "rank 1 leaves K of --gossip-steps auto to rank 0, which says none");
    expect_contains(message_of<NetworkError>([] { (void)heard(1, "8", true, "4"); }),
                    "rank 1 chose K = 4 for --gossip-steps auto, rank 0 8; start all ranks");
    EXPECT_THROW((void)heard(1, std::string(65, '1'), true, ""), NetworkError);
}

}  // namespace
}  // namespace sotto
