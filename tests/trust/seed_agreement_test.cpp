#include "trust/seed_agreement.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "trust/group_fixtures.hpp"

namespace sotto {
namespace {

using test::contains;
using test::is_member;
using test::message_of;
using test::plan_of_all_groups;
using test::rings_of_everybody;

TEST(SeedMakerOf, AGroupIsOneOfItsMembersOrAllOfThem) {
    EXPECT_EQ(maker_of({{3}}, 5), SeedMaker::owner);
    EXPECT_EQ(maker_of({{0}}, 1), SeedMaker::owner);
    EXPECT_EQ(maker_of({{1, 4}}, 5), SeedMaker::pair);
    EXPECT_EQ(maker_of({{0, 1}}, 2), SeedMaker::pair);
    EXPECT_EQ(maker_of({{0, 1, 4}}, 5), SeedMaker::lowest_member);
    EXPECT_EQ(maker_of({{0, 1, 2, 3}}, 5), SeedMaker::lowest_member);
    EXPECT_EQ(maker_of({{0, 1, 2}}, 3), SeedMaker::everybody);
}

TEST(GroupsOfAgents, AreThoseTheyAreMembersOf) {
    const NoisePlan plan = plan_of_all_groups(6);
    const auto groups = groups_of_agents(plan);
    ASSERT_EQ(groups.size(), 6U);
    for (int agent = 0; agent < 6; ++agent) {
        std::vector<int> wanted;
        for (int g = 0; g < static_cast<int>(plan.groups.size()); ++g)
            if (is_member(plan, g, agent)) wanted.push_back(g);
        EXPECT_EQ(groups[static_cast<std::size_t>(agent)], wanted);
    }
}

TEST(GroupSeed, ChangesWithTheRunThePlanAndTheGroup) {
    const SecretKey drawn = SecretKey::random();
    Digest transcript{};
    const SecretKey seed = group_seed(drawn, transcript, 3);
    EXPECT_EQ(seed, group_seed(drawn, transcript, 3));
    EXPECT_FALSE(seed == drawn);
    EXPECT_FALSE(seed == group_seed(drawn, transcript, 4));
    EXPECT_FALSE(seed == group_seed(SecretKey::random(), transcript, 3));
    for (std::size_t i = 0; i < transcript.size(); ++i) {
        Digest other = transcript;
        other[i] ^= 1;
        EXPECT_FALSE(seed == group_seed(drawn, other, 3)) << i;
    }
}

TEST(GroupSeed, OfAPairHasAKeyOfItsOwnForEveryGroup) {
    const SecretKey secret = SecretKey::random();
    EXPECT_FALSE(drawn_by_pair(secret, 1) == drawn_by_pair(secret, 2));
    EXPECT_EQ(drawn_by_pair(secret, 1), secret.derive("sottopsd", 1));
}

TEST(JointSeed, DependsOnEveryShare) {
    std::vector<std::uint8_t> shares(4 * 32, 7);
    const SecretKey all = drawn_by_everybody(shares);
    for (std::size_t i = 0; i < shares.size(); i += 31) {
        auto other = shares;
        other[i] ^= 1;
        EXPECT_FALSE(all == drawn_by_everybody(other)) << i;
    }
}

TEST(JointSeed, NamesTheAgentWhoseShareIsNotWhatItCommittedTo) {
    std::vector<std::uint8_t> shares(3 * 32);
    randombytes_buf(shares.data(), shares.size());
    std::vector<Digest> commitments;
    for (int u = 0; u < 3; ++u)
        commitments.push_back(commitment_to_share(
            u, std::span(shares).subspan(static_cast<std::size_t>(u) * 32, 32)));
    EXPECT_NO_THROW(check_shares(shares, commitments));
    for (std::size_t i = 0; i < shares.size(); ++i) {
        auto changed = shares;
        changed[i] ^= 16;
        EXPECT_TRUE(contains(message_of<CryptoError>([&] { check_shares(changed, commitments); }),
                             "share of agent " + std::to_string(i / 32)));
    }
    // Nobody may use another's share as its own, not even with its commitment.
    auto copied = shares;
    std::copy_n(shares.begin(), 32, copied.begin() + 32);
    commitments[1] = commitments[0];
    EXPECT_THROW(check_shares(copied, commitments), CryptoError);
    EXPECT_THROW(check_shares(std::span(shares).first(95), commitments), CryptoError);
    EXPECT_THROW(check_shares({}, commitments), CryptoError);
}

class SealedSeeds : public ::testing::Test {
  protected:
    SealedSeeds() {
        for (const int group : {3, 8, 11}) drawn_.emplace(group, SecretKey::random());
        sealed_ = seal_seeds(secret_, 0, 1, groups_, drawn_);
    }
    void refused(const std::vector<int>& groups) {
        EXPECT_THROW((void)open_seeds(secret_, 0, 1, groups, sealed_), CryptoError);
    }
    SecretKey secret_ = SecretKey::random();
    std::vector<int> groups_{3, 8, 11};
    std::map<int, SecretKey> drawn_;
    std::string sealed_;
};

TEST_F(SealedSeeds, OpenToWhatWasDrawn) {
    const auto seeds = open_seeds(secret_, 0, 1, groups_, sealed_);
    ASSERT_EQ(seeds.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(seeds[i], drawn_.at(groups_[i]));
    for (const auto& [group, seed] : drawn_) {
        const auto bytes = seed.bytes();
        EXPECT_EQ(sealed_.find(std::string(bytes.begin(), bytes.end())), std::string::npos);
    }
}

TEST_F(SealedSeeds, WithAnyOtherSetOfGroupsAreRefused) {
    for (const std::vector<int>& groups :
         {std::vector<int>{}, {3}, {3, 8}, {3, 8, 12}, {3, 11, 8}, {3, 3, 11}, {3, 8, 11, 12}})
        refused(groups);
    EXPECT_THROW((void)open_seeds(secret_, 1, 0, groups_, sealed_), CryptoError);
}

TEST_F(SealedSeeds, CannotBeMadeWithoutEverySeed) {
    drawn_.erase(8);
    EXPECT_THROW((void)seal_seeds(secret_, 0, 1, groups_, drawn_), CryptoError);
}

TEST(ReproducibleRings, AreTheSameForTheSameNumberOnly) {
    const auto plan = plan_of_all_groups(4);
    const auto rings = rings_of_everybody(plan, 20);
    const auto again = rings_of_everybody(plan, 20);
    const auto other = rings_of_everybody(plan, 21);
    for (std::size_t agent = 0; agent < rings.size(); ++agent)
        for (const int group : rings[agent].groups()) {
            const auto& seed = rings[agent].seed(group);
            EXPECT_EQ(seed, again[agent].seed(group));
            EXPECT_EQ(seed,
                      SecretKey::from_noise_seed(
                          20, "sotto.noise.group", static_cast<std::uint64_t>(group)));
            EXPECT_FALSE(seed == other[agent].seed(group));
        }
    const std::vector<int> one{2};
    const auto alone = reproducible_rings(plan, one, 20);
    ASSERT_EQ(alone.size(), 1U);
    EXPECT_EQ(alone[0].groups(), rings[2].groups());
    EXPECT_EQ(alone[0].seed(2), rings[2].seed(2));
}

class Sealed : public ::testing::Test {
  protected:
    SecretKey secret_ = SecretKey::random();
    std::vector<std::uint8_t> content_ = std::vector<std::uint8_t>(50, 9);
    std::string sealed_ = seal(secret_, SealPurpose::share, 2, 5, content_);
    void refused(const SecretKey& secret,
                 SealPurpose purpose,
                 int sender,
                 int recipient,
                 std::string_view sealed) {
        const std::string message = message_of<CryptoError>(
            [&] { (void)open_sealed(secret, purpose, sender, recipient, sealed); });
        EXPECT_TRUE(contains(message, "agent " + std::to_string(sender))) << message;
    }
};

TEST_F(Sealed, OpensToItsContentAndShowsNothingOfIt) {
    const SecretBytes opened = open_sealed(secret_, SealPurpose::share, 2, 5, sealed_);
    EXPECT_TRUE(std::ranges::equal(opened.span(), content_));
    EXPECT_EQ(sealed_.size(), content_.size() + 40);
    EXPECT_EQ(sealed_.find(std::string(4, 9)), std::string::npos);
    EXPECT_NE(seal(secret_, SealPurpose::share, 2, 5, content_), sealed_) << "a fresh nonce";
}

TEST_F(Sealed, OpensWithItsPairPurposeAndDirectionOnly) {
    refused(SecretKey::random(), SealPurpose::share, 2, 5, sealed_);
    refused(secret_, SealPurpose::seeds, 2, 5, sealed_);
    refused(secret_, SealPurpose::all_shares, 2, 5, sealed_);
    refused(secret_, SealPurpose::share, 5, 2, sealed_);
}

TEST_F(Sealed, DoesNotOpenWhenChangedCutOrExtended) {
    for (std::size_t i = 0; i < sealed_.size(); ++i) {
        std::string changed = sealed_;
        changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
        refused(secret_, SealPurpose::share, 2, 5, changed);
        refused(secret_, SealPurpose::share, 2, 5, sealed_.substr(0, i));
    }
    refused(secret_, SealPurpose::share, 2, 5, sealed_ + '\0');
}

}  // namespace
}  // namespace sotto
