#include "trust/key_ring.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sotto/core/error.hpp"
#include "trust/group_fixtures.hpp"

namespace sotto {
namespace {

using test::is_member;
using test::plan_of_all_groups;
using test::rings_of_everybody;

TEST(KeyRing, AnAgentHoldsExactlyTheSeedsOfTheGroupsItIsAMemberOf) {
    for (const int agents : {2, 3, 7, 16}) {
        const auto plan = plan_of_all_groups(agents);
        for (const auto& ring : rings_of_everybody(plan, 1))
            for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group) {
                ASSERT_EQ(ring.holds(group), is_member(plan, group, ring.agent()));
                if (ring.holds(group)) {
                    EXPECT_NO_THROW((void)ring.stream_key(group, 0));
                } else {
                    EXPECT_THROW((void)ring.stream_key(group, 0), CryptoError);
                    EXPECT_THROW((void)ring.seed(group), CryptoError);
                }
            }
    }
}

TEST(KeyRing, MembersOfAGroupShareItsStreamsAndDifferentGroupsOrIndicesDoNot) {
    const auto plan = plan_of_all_groups(5);
    const auto rings = rings_of_everybody(plan, 1);
    std::set<std::vector<std::uint8_t>> distinct;
    std::size_t streams = 0;
    for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group)
        for (const std::uint64_t index : {0, 1, 5}) {
            ++streams;
            std::set<std::vector<std::uint8_t>> of_members;
            for (const int member : plan.groups[static_cast<std::size_t>(group)].members) {
                const SecretKey key =
                    rings[static_cast<std::size_t>(member)].stream_key(group, index);
                of_members.emplace(key.bytes().begin(), key.bytes().end());
            }
            EXPECT_EQ(of_members.size(), 1U);
            distinct.insert(of_members.begin(), of_members.end());
        }
    EXPECT_EQ(distinct.size(), streams);
}

TEST(KeyRing, AStreamIsKeyedByTheKdfOfItsSeed) {
    KeyRing ring(0);
    ring.add(4, SecretKey::from_noise_seed(1, "test", 0));
    EXPECT_EQ(ring.stream_key(4, 9),
              SecretKey::from_noise_seed(1, "test", 0).derive("sottostr", 9));
}

TEST(KeyRing, ASeedIsNeverReplaced) {
    KeyRing ring(0);
    ring.add(1, SecretKey::random());
    const auto kept = ring.seed(1).clone();
    EXPECT_THROW(ring.add(1, SecretKey::random()), CryptoError);
    EXPECT_EQ(ring.seed(1), kept);
}

TEST(KeyRing, HasOneKeyOfCoins) {
    KeyRing ring(3);
    EXPECT_FALSE(ring.holds_coins());
    EXPECT_THROW((void)ring.coins(), CryptoError);
    const SecretKey key = SecretKey::random();
    ring.add_coins(key.clone());
    EXPECT_TRUE(ring.holds_coins());
    EXPECT_TRUE(ring.coins() == key);
    EXPECT_THROW(ring.add_coins(SecretKey::random()), CryptoError);
    EXPECT_TRUE(ring.groups().empty());
}

}  // namespace
}  // namespace sotto
