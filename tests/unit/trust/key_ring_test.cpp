#include "sotto/trust/key_ring.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// A group per agent, one per pair, and one of everybody: what the mechanisms use, together.
NoisePlan plan_of_all_groups(int agents) {
    NoisePlan plan;
    plan.agents = agents;
    std::vector<int> everybody;
    for (int a = 0; a < agents; ++a) {
        plan.groups.push_back({{a}});
        everybody.push_back(a);
        for (int b = a + 1; b < agents; ++b) plan.groups.push_back({{a, b}});
    }
    plan.groups.push_back({everybody});
    return plan;
}

bool is_member(const NoisePlan& plan, int group, int agent) {
    const auto& members = plan.groups[static_cast<std::size_t>(group)].members;
    return std::count(members.begin(), members.end(), agent) > 0;
}

/// The whole bootstrap in one place.
std::vector<KeyRing> bootstrap(const NoisePlan& plan, const std::uint64_t* noise_seed) {
    const auto dealt = draw_dealt_seeds(plan, noise_seed);
    std::vector<KeyRing> rings;
    for (int agent = 0; agent < plan.agents; ++agent) {
        const EphemeralKeyPair pair;
        KeyRing ring(agent);
        draw_own_seeds(plan, noise_seed, ring);
        open_seeds(plan, seal_seeds(plan, dealt, agent, pair.public_key()), pair, ring);
        rings.push_back(std::move(ring));
    }
    return rings;
}

std::vector<double> first_normals(const NormalStream& stream) {
    std::vector<double> z(70);
    stream.fill(0, 0, 0, z);
    return z;
}

TEST(KeyRing, AnAgentHoldsExactlyTheSeedsOfTheGroupsItIsAMemberOf) {
    for (const int agents : {2, 3, 7, 16}) {
        const auto plan = plan_of_all_groups(agents);
        const auto rings = bootstrap(plan, nullptr);
        for (const auto& ring : rings)
            for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group) {
                ASSERT_EQ(ring.holds(group), is_member(plan, group, ring.agent()));
                if (ring.holds(group)) {
                    EXPECT_NO_THROW((void)ring.stream(group, 0));
                } else {
                    EXPECT_THROW((void)ring.stream(group, 0), CryptoError);
                    EXPECT_THROW((void)ring.seed(group), CryptoError);
                }
            }
    }
}

TEST(KeyRing, TheDealerDrawsNoSeedOfAGroupOfOne) {
    const auto plan = plan_of_all_groups(5);
    const auto dealt = draw_dealt_seeds(plan, nullptr);
    for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group)
        EXPECT_EQ(dealt.contains(group),
                  plan.groups[static_cast<std::size_t>(group)].members.size() >= 2);
}

TEST(KeyRing, APlanWithoutSharedGroupsDealsNothingAndStillBootstraps) {
    NoisePlan plan;
    plan.agents = 3;
    for (int agent = 0; agent < 3; ++agent) plan.groups.push_back({{agent}});
    EXPECT_TRUE(draw_dealt_seeds(plan, nullptr).empty());
    for (const auto& ring : bootstrap(plan, nullptr))
        EXPECT_EQ(ring.groups(), std::vector<int>{ring.agent()});
}

TEST(KeyRing, MembersOfAGroupShareItsStreamsAndDifferentGroupsOrIndicesDoNot) {
    const auto plan = plan_of_all_groups(5);
    const auto rings = bootstrap(plan, nullptr);
    std::set<std::vector<double>> distinct;
    std::size_t streams = 0;
    for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group)
        for (const std::uint64_t index : {0, 1, 5}) {
            ++streams;
            std::set<std::vector<double>> of_members;
            for (const int member : plan.groups[static_cast<std::size_t>(group)].members)
                of_members.insert(
                    first_normals(rings[static_cast<std::size_t>(member)].stream(group, index)));
            EXPECT_EQ(of_members.size(), 1U);
            distinct.insert(of_members.begin(), of_members.end());
        }
    EXPECT_EQ(distinct.size(), streams);
}

TEST(KeyRing, AStreamIsKeyedByTheKdfOfItsSeed) {
    KeyRing ring(0);
    ring.add(4, SecretKey::from_noise_seed(1, "test", 0));
    const NormalStream expected(SecretKey::from_noise_seed(1, "test", 0).derive("sottostr", 9));
    EXPECT_EQ(first_normals(ring.stream(4, 9)), first_normals(expected));
}

TEST(KeyRing, ANoiseSeedGivesTheSameSeedsAgainAndNoNoiseSeedNever) {
    const auto plan = plan_of_all_groups(4);
    const std::uint64_t noise_seed = 20;
    const std::uint64_t other_seed = 21;
    const auto rings = bootstrap(plan, &noise_seed);
    const auto again = bootstrap(plan, &noise_seed);
    const auto other = bootstrap(plan, &other_seed);
    const auto random = bootstrap(plan, nullptr);
    const auto random_again = bootstrap(plan, nullptr);
    for (std::size_t agent = 0; agent < rings.size(); ++agent)
        for (const int group : rings[agent].groups()) {
            const auto& seed = rings[agent].seed(group);
            EXPECT_EQ(seed, again[agent].seed(group));
            EXPECT_EQ(seed,
                      SecretKey::from_noise_seed(
                          noise_seed, "sotto.noise.group", static_cast<std::uint64_t>(group)));
            EXPECT_FALSE(seed == other[agent].seed(group));
            EXPECT_FALSE(seed == random[agent].seed(group));
            EXPECT_FALSE(random_again[agent].seed(group) == random[agent].seed(group));
        }
}

TEST(KeyRing, ASeedIsNeverReplaced) {
    KeyRing ring(0);
    ring.add(1, SecretKey::random());
    const auto kept = ring.seed(1).clone();
    EXPECT_THROW(ring.add(1, SecretKey::random()), CryptoError);
    EXPECT_EQ(ring.seed(1), kept);
}

class SealedSeeds : public ::testing::Test {
  protected:
    void expect_refused(std::span<const std::uint8_t> sealed,
                        const EphemeralKeyPair& pair,
                        const char* why) {
        KeyRing ring(agent_);
        EXPECT_THROW(open_seeds(plan_, sealed, pair, ring), CryptoError) << why;
        EXPECT_TRUE(ring.groups().empty()) << why;
    }
    /// A box that opens, with these groups in this order.
    std::vector<std::uint8_t> forged(const std::vector<int>& groups) {
        std::vector<std::uint8_t> plain;
        for (const int group : groups) {
            for (int shift = 0; shift < 32; shift += 8)
                plain.push_back(
                    static_cast<std::uint8_t>(static_cast<std::uint32_t>(group) >> shift));
            plain.insert(plain.end(), 32, 7);
        }
        std::vector<std::uint8_t> sealed(plain.size() + crypto_box_SEALBYTES);
        EXPECT_EQ(
            0,
            crypto_box_seal(sealed.data(), plain.data(), plain.size(), pair_.public_key().data()));
        return sealed;
    }

    NoisePlan plan_ = plan_of_all_groups(4);
    std::map<int, SecretKey> seeds_ = draw_dealt_seeds(plan_, nullptr);
    EphemeralKeyPair pair_;
    int agent_ = 1;
    std::vector<std::uint8_t> sealed_ = seal_seeds(plan_, seeds_, agent_, pair_.public_key());
    std::vector<int> entitled_ = [this] {
        std::vector<int> groups;
        for (const auto& entry : seeds_)
            if (is_member(plan_, entry.first, agent_)) groups.push_back(entry.first);
        return groups;
    }();
};

TEST_F(SealedSeeds, OpenToWhatTheDealerDrew) {
    KeyRing ring(agent_);
    open_seeds(plan_, sealed_, pair_, ring);
    EXPECT_EQ(ring.groups(), entitled_);
    for (const int group : ring.groups()) EXPECT_EQ(ring.seed(group), seeds_.at(group));
}

TEST_F(SealedSeeds, DoNotOpenWithAnotherPair) {
    expect_refused(sealed_, EphemeralKeyPair(), "another pair");
}

TEST_F(SealedSeeds, DoNotOpenWhenAnyByteWasChanged) {
    for (std::size_t i = 0; i < sealed_.size(); ++i) {
        auto damaged = sealed_;
        damaged[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
        // X25519 ignores the top bit of a public key, yet the nonce is a hash of all its bits.
        expect_refused(damaged, pair_, "changed byte");
    }
}

TEST_F(SealedSeeds, DoNotOpenWhenCutOrExtended) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{47}, sealed_.size() - 1})
        expect_refused(std::span(sealed_).first(length), pair_, "cut");
    auto longer = sealed_;
    longer.push_back(0);
    expect_refused(longer, pair_, "extended");
}

TEST_F(SealedSeeds, OfAnotherAgentAreRefusedEvenIfSealedToThisPair) {
    for (const int other : {0, 2, 3})
        expect_refused(seal_seeds(plan_, seeds_, other, pair_.public_key()), pair_, "other agent");
}

TEST_F(SealedSeeds, WithAnyOtherSetOfGroupsAreRefused) {
    KeyRing ring(agent_);
    EXPECT_NO_THROW(open_seeds(plan_, forged(entitled_), pair_, ring));
    auto fewer = entitled_;
    fewer.pop_back();
    expect_refused(forged(fewer), pair_, "a group missing");
    expect_refused(forged({}), pair_, "none");
    auto doubled = entitled_;
    doubled.back() = doubled.front();
    expect_refused(forged(doubled), pair_, "a group twice");
    auto own = entitled_;
    own.push_back(static_cast<int>(plan_.groups.size()));
    expect_refused(forged(own), pair_, "a group that does not exist");
    for (int group = 0; group < static_cast<int>(plan_.groups.size()); ++group) {
        if (std::count(entitled_.begin(), entitled_.end(), group) > 0) continue;
        auto foreign = entitled_;
        foreign.front() = group;
        std::sort(foreign.begin(), foreign.end());
        expect_refused(forged(foreign), pair_, "a group it is no member of, or its own");
    }
}

TEST_F(SealedSeeds, CannotBeMadeWithoutEverySeedOfTheRecipient) {
    seeds_.erase(entitled_.front());
    EXPECT_THROW((void)seal_seeds(plan_, seeds_, agent_, pair_.public_key()), CryptoError);
}

TEST_F(SealedSeeds, DoNotShowTheSeeds) {
    for (const auto& [group, seed] : seeds_) {
        const auto bytes = seed.bytes();
        EXPECT_EQ(std::search(sealed_.begin(), sealed_.end(), bytes.begin(), bytes.end()),
                  sealed_.end());
    }
}

TEST(EphemeralKeyPair, EveryPairIsNewAndItsPublicKeyBelongsToItsSecret) {
    const EphemeralKeyPair first;
    const EphemeralKeyPair second;
    EXPECT_FALSE(std::ranges::equal(first.public_key(), second.public_key()));
    EXPECT_FALSE(first.secret_key() == second.secret_key());
    std::array<std::uint8_t, 32> expected{};
    ASSERT_EQ(0, crypto_scalarmult_base(expected.data(), first.secret_key().bytes().data()));
    EXPECT_TRUE(std::ranges::equal(first.public_key(), expected));
}

}  // namespace
}  // namespace sotto
