#include "agent/received_checks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

template <class Call>
std::string refusal_of(Call&& call) {
    try {
        call();
    } catch (const NetworkError& error) {
        return error.what();
    }
    return {};
}

TEST(ReceivedMessage, IsRefusedNamingSenderAndPlaceUnlessAllOfItIsInRange) {
    const ReceivedFrom from{3, 7, {12, 1}};
    EXPECT_NO_THROW(
        require_message_in_range(from, 0, std::vector<double>{1e100, -1e100, 0}, 1e100));
    for (const double bad : {not_a_number, infinity, -infinity, 1.0000001e100, -1e101})
        EXPECT_TRUE(
            refusal_of([&] {
                require_message_in_range(from, 40, std::vector<double>{1, bad, bad}, 1e100);
            })
                .starts_with("message from agent 3 to agent 7, round 12, step 1: coordinate "
                             "41 is "));
}

TEST(ReceivedSum, IsRefusedNamingTheNeighboursWhereNoHonestOnesReach) {
    const std::vector<int> neighbours{2, 5};
    constexpr std::uint64_t range = std::uint64_t{1} << 62;
    const auto refusal = [&](std::uint64_t word) {
        return refusal_of([&] {
            require_sum_in_range(4, neighbours, {9, 0}, 8, std::vector<std::uint64_t>{0, word});
        });
    };
    EXPECT_EQ(refusal(range + 2), "");
    EXPECT_EQ(refusal(0 - range - 2), "");
    for (const std::uint64_t word :
         {range + 3, 0 - range - 3, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1})
        EXPECT_TRUE(
            refusal(word).starts_with("secure sum of agent 4, round 9, step 0: coordinate 9"));
    EXPECT_NE(refusal(range + 3).find("agents 2, 5"), std::string::npos);
}

TEST(CollectedValues, AreRefusedNamingTheAgent) {
    const CollectedCheck check = require_collected_in_range("model for evaluation", 10);
    EXPECT_NO_THROW(check(1, 0, std::vector<double>{10, -10}));
    EXPECT_TRUE(refusal_of([&] {
                    check(6, 100, std::vector<double>{0, not_a_number});
                }).starts_with("model for evaluation from agent 6: coordinate 101 is nan"));
}

}  // namespace
}  // namespace sotto
