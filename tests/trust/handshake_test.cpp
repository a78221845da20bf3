#include "trust/handshake.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "trust/group_fixtures.hpp"

namespace sotto {
namespace {

using test::contains;
using test::credentials_of;
using test::Meeting;
using test::message_of;

TEST(EphemeralKeyPair, EveryPairIsNewAndItsPublicKeyBelongsToItsSecret) {
    const EphemeralKeyPair first;
    const EphemeralKeyPair second;
    EXPECT_FALSE(std::ranges::equal(first.public_key(), second.public_key()));
    EXPECT_FALSE(first.secret_key() == second.secret_key());
    std::array<std::uint8_t, 32> expected{};
    ASSERT_EQ(0, crypto_scalarmult_base(expected.data(), first.secret_key().bytes().data()));
    EXPECT_TRUE(std::ranges::equal(first.public_key(), expected));
}

std::string hex_of(const Credentials& credentials) {
    return to_hex(credentials.identities.front().public_key());
}

/// What every side says about these announcements: all must refuse, with the same words.
std::string refusal(Meeting& meeting, const std::vector<std::string>& announced) {
    std::set<std::string> messages;
    for (Handshake& side : meeting.sides)
        messages.insert(message_of<CryptoError>([&] { side.receive(announced); }));
    EXPECT_EQ(messages.size(), 1U);
    return *messages.begin();
}

TEST(Handshake, GivesEveryPairTheSameSecretAndNobodyElse) {
    for (const bool with_roster : {false, true}) {
        const auto credentials = credentials_of(5);
        auto sessions = Meeting(5, with_roster ? &credentials : nullptr).meet();
        std::set<std::string> secrets;
        for (int u = 0; u < 5; ++u)
            for (int v = 0; v < u; ++v) {
                const SecretKey& one = sessions[static_cast<std::size_t>(u)].secrets[0].with(v);
                EXPECT_EQ(one, sessions[static_cast<std::size_t>(v)].secrets[0].with(u));
                secrets.insert(to_hex(one.bytes()));
            }
        EXPECT_EQ(secrets.size(), 10U);
        for (const Session& session : sessions) {
            EXPECT_EQ(session.transcript, sessions[0].transcript);
            EXPECT_EQ(session.run_id, sessions[0].run_id);
            EXPECT_EQ(session.authenticated(), with_roster);
            ASSERT_EQ(session.announcements.size(), 5U);
            for (int u = 0; u < 5; ++u) {
                const auto& agent = session.announcements[static_cast<std::size_t>(u)];
                EXPECT_EQ(agent.agent, u);
                EXPECT_EQ(agent.identity.has_value(), with_roster);
            }
        }
        EXPECT_EQ(
            sessions[0].authentication(),
            with_roster ? "roster " + to_hex(credentials[0].roster.digest()) : "unauthenticated");
    }
}

TEST(Handshake, OfAgentsOfOneProcessIsTheSameAsOfMany) {
    auto all = credentials_of(4);
    Credentials two;
    two.roster = all[0].roster;
    two.identities.push_back(std::move(all[1].identities[0]));
    two.identities.push_back(std::move(all[2].identities[0]));
    HandshakeTerms terms;
    terms.agents = 4;
    std::vector<Handshake> sides;
    sides.emplace_back(terms, std::vector<int>{0}, &all[0]);
    sides.emplace_back(terms, std::vector<int>{1, 2}, &two);
    sides.emplace_back(terms, std::vector<int>{3}, &all[3]);
    std::vector<std::string> announced, confirmed;
    for (const auto& side : sides) announced.push_back(side.announcement());
    for (auto& side : sides) side.receive(announced);
    for (const auto& side : sides) confirmed.push_back(side.confirmation());
    std::vector<Session> sessions;
    for (const auto& side : sides) sessions.push_back(side.finish(confirmed));
    ASSERT_EQ(sessions[1].secrets.size(), 2U);
    EXPECT_EQ(sessions[1].secrets[1].agent(), 2);
    EXPECT_EQ(sessions[1].secrets[1].with(3), sessions[2].secrets[0].with(2));
    EXPECT_EQ(sessions[1].secrets[0].with(2), sessions[1].secrets[1].with(1));
}

TEST(Handshake, AnswersDependOnEverythingAgreedOn) {
    const auto credentials = credentials_of(3);
    const auto differs = [&](auto&& change) {
        Meeting meeting(0);
        meeting.terms.agents = 3;
        for (int u = 0; u < 3; ++u) {
            if (u == 2) change(meeting.terms);
            meeting.join(u, &credentials);
        }
        const auto announced = meeting.announce();
        for (Handshake& side : meeting.sides) side.receive(announced);
        const auto confirmed = meeting.confirm();
        EXPECT_TRUE(contains(
            message_of<NetworkError>([&] { (void)meeting.sides[0].finish(confirmed); }), "rank 2"));
        EXPECT_TRUE(contains(
            message_of<NetworkError>([&] { (void)meeting.sides[2].finish(confirmed); }), "rank 0"));
    };
    differs([](HandshakeTerms& terms) { terms.graph[31] ^= 1; });
    differs([](HandshakeTerms& terms) { terms.mixing[0] ^= 128; });
    differs([](HandshakeTerms& terms) { terms.plan[7] ^= 1; });
    differs([](HandshakeTerms& terms) { terms.options[3] ^= 2; });
}

TEST(Handshake, OfTwoRunsSharesNothing) {
    const auto credentials = credentials_of(3);
    auto one = Meeting(3, &credentials).meet();
    auto two = Meeting(3, &credentials).meet();
    EXPECT_NE(one[0].run_id, two[0].run_id);
    EXPECT_NE(one[0].transcript, two[0].transcript);
    EXPECT_FALSE(one[0].secrets[0].with(1) == two[0].secrets[0].with(1));
}

TEST(Handshake, StopsAStranger) {
    auto credentials = credentials_of(4);
    credentials[2].identities[0] = Identity::generate();
    Meeting meeting(4, &credentials);
    const std::string message = refusal(meeting, meeting.announce());
    EXPECT_TRUE(contains(message, "agent 2 is not in the roster")) << message;
    EXPECT_TRUE(contains(message, hex_of(credentials[2]))) << message;
}

TEST(Handshake, StopsAnIdentityUsedTwice) {
    auto credentials = credentials_of(4);
    const std::string twice = hex_of(credentials[1]);
    // The same secret twice: as a copied file would give.
    const std::string file = ::testing::TempDir() + "/sotto-twice";
    credentials[1].identities[0].write_new(file);
    credentials[3].identities[0] = Identity::read(file);
    ASSERT_EQ(::unlink(file.c_str()), 0);
    Meeting meeting(4, &credentials);
    const std::string message = refusal(meeting, meeting.announce());
    EXPECT_TRUE(contains(message, "agents 1 and 3")) << message;
    EXPECT_TRUE(contains(message, "agent1 (" + twice)) << message;
}

TEST(Handshake, StopsWhenAnIdentityOfTheRosterIsMissing) {
    const auto five = credentials_of(5);
    Meeting meeting(4, &five);
    const std::string message = refusal(meeting, meeting.announce());
    EXPECT_TRUE(contains(message, "agent4 (" + hex_of(five[4]))) << message;
    EXPECT_TRUE(contains(message, "exactly one entry per agent")) << message;
}

TEST(Handshake, StopsAnAgentWithoutIdentityOrWithAnotherRoster) {
    const auto credentials = credentials_of(3);
    const auto others = credentials_of(3);
    for (const auto* given : {static_cast<const std::vector<Credentials>*>(nullptr), &others}) {
        Meeting meeting(0);
        meeting.terms.agents = 3;
        meeting.join(0, &credentials);
        meeting.join(1, given);
        meeting.join(2, &credentials);
        const auto announced = meeting.announce();
        for (const std::size_t honest : {0U, 2U})
            EXPECT_TRUE(
                contains(message_of<CryptoError>([&] { meeting.sides[honest].receive(announced); }),
                         "rank 1 was started with"));
        // Who came without one stops as well, instead of training with unknown peers.
        EXPECT_THROW(meeting.sides[1].receive(announced), CryptoError);
    }
}

TEST(Handshake, StopsAnAgentThatHasOnlyThePublicPartOfItsIdentity) {
    auto credentials = credentials_of(3);
    Meeting honest(3, &credentials);
    // Agent 1's announcement names the true identity, but what signs is another.
    const auto announced = honest.announce();
    for (Handshake& side : honest.sides) side.receive(announced);
    auto confirmed = honest.confirm();
    const std::string name = "agent1 (" + hex_of(credentials[1]);
    credentials[1].identities[0] = Identity::generate();
    confirmed[1] = honest.sides[1].confirmation();
    for (const Handshake& side : honest.sides) {
        const std::string message = message_of<CryptoError>([&] { (void)side.finish(confirmed); });
        EXPECT_TRUE(contains(message, "agent 1 did not prove that it is " + name)) << message;
    }
}

TEST(Handshake, StopsEverySingleChangedByteOfASignature) {
    const auto credentials = credentials_of(2);
    Meeting meeting(2, &credentials);
    const auto announced = meeting.announce();
    for (Handshake& side : meeting.sides) side.receive(announced);
    const auto good = meeting.confirm();
    EXPECT_NO_THROW((void)meeting.sides[0].finish(good));
    for (std::size_t i = 0; i < good[1].size(); ++i) {
        auto bad = good;
        bad[1][i] = static_cast<char>(bad[1][i] ^ 4);
        EXPECT_THROW((void)meeting.sides[0].finish(bad), Error) << i;
    }
    // One agent's signature is not another's.
    auto swapped = good;
    swapped[1] = good[0];
    EXPECT_THROW((void)meeting.sides[0].finish(swapped), CryptoError);
}

TEST(Handshake, StopsAReplayOfAnotherRun) {
    const auto credentials = credentials_of(3);
    Meeting old(3, &credentials);
    const auto old_announced = old.announce();
    for (Handshake& side : old.sides) side.receive(old_announced);
    const auto old_confirmed = old.confirm();

    // Somebody without agent 1's secret plays its messages of that run again.
    Meeting now(3, &credentials);
    auto announced = now.announce();
    announced[1] = old_announced[1];
    for (const std::size_t honest : {0U, 2U}) now.sides[honest].receive(announced);
    EXPECT_THROW(now.sides[1].receive(announced), CryptoError) << "the true agent 1 notices too";
    auto confirmed =
        std::vector{now.sides[0].confirmation(), old_confirmed[1], now.sides[2].confirmation()};
    for (const std::size_t honest : {0U, 2U})
        EXPECT_THROW((void)now.sides[honest].finish(confirmed), NetworkError);
    // The right transcript in front of the old signature does not help.
    confirmed[1].replace(0, 32, confirmed[0].substr(0, 32));
    for (const std::size_t honest : {0U, 2U})
        EXPECT_TRUE(
            contains(message_of<CryptoError>([&] { (void)now.sides[honest].finish(confirmed); }),
                     "agent 1 did not prove"));
}

TEST(Handshake, NoticesSomebodyBetweenTwoAgents) {
    // Agents 0 and 1 are shown different keys of each other.
    for (const bool with_roster : {false, true}) {
        const auto credentials = credentials_of(2);
        Meeting meeting(2, with_roster ? &credentials : nullptr);
        Meeting attacker(2, with_roster ? &credentials : nullptr);
        const auto announced = meeting.announce();
        const auto forged = attacker.announce();
        meeting.sides[0].receive(std::vector{announced[0], forged[1]});
        meeting.sides[1].receive(std::vector{forged[0], announced[1]});
        const auto confirmed = meeting.confirm();
        EXPECT_THROW((void)meeting.sides[0].finish(confirmed), NetworkError);
        EXPECT_THROW((void)meeting.sides[1].finish(confirmed), NetworkError);
    }
}

TEST(Handshake, StopsAgentsThatAreNotThereOrThereTwice) {
    Meeting meeting(3);
    auto announced = meeting.announce();
    const auto with = [&](std::size_t place, const std::string& message) {
        auto result = announced;
        result[place] = message;
        return result;
    };
    EXPECT_TRUE(contains(refusal(meeting, with(2, announced[1])), "ranks 1 and 2 both"));
    Meeting four(4);
    const auto strange = four.announce();
    EXPECT_TRUE(contains(refusal(meeting, with(2, strange[3])), "agent 3, which does not exist"));
    EXPECT_TRUE(contains(refusal(meeting, {announced[0], announced[1]}), "no rank announced"));
}

TEST(Handshake, SurvivesAnyBytes) {
    const auto credentials = credentials_of(2);
    Meeting meeting(2, &credentials);
    const auto announced = meeting.announce();
    for (Handshake& side : meeting.sides) side.receive(announced);
    const auto confirmed = meeting.confirm();
    const auto survives = [&](const std::string& bytes) {
        try {
            meeting.sides[0].receive(std::vector{announced[0], bytes});
        } catch (const CryptoError&) {
        } catch (const NetworkError&) {
        }
        meeting.sides[0].receive(announced);
        try {
            (void)meeting.sides[0].finish(std::vector{confirmed[0], bytes});
            EXPECT_EQ(bytes, confirmed[1]);
        } catch (const CryptoError&) {
        } catch (const NetworkError&) {
        }
    };
    for (const std::string& good : {announced[1], confirmed[1]}) {
        for (std::size_t length = 0; length <= good.size(); ++length)
            survives(good.substr(0, length));
        for (std::size_t i = 0; i < good.size(); ++i)
            for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
                std::string changed = good;
                changed[i] = static_cast<char>(value);
                survives(changed);
            }
        survives(good + std::string(1, '\0'));
        survives(good + good);
    }
    std::uint64_t state = 1;
    for (int i = 0; i < 2000; ++i) {
        std::string noise(static_cast<std::size_t>(i % 300), '\0');
        for (char& c : noise) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            c = static_cast<char>(state >> 56);
        }
        survives(noise);
    }
}

TEST(Handshake, RefusesSecretsWithAnAgentWhoseKeyIsKnownToAll) {
    // A point of small order would make the "secret" a constant.
    Meeting meeting(2);
    auto announced = meeting.announce();
    const std::size_t key = announced[1].size() - 32 - 32 - 33 - 32;
    announced[1].replace(key, 32, std::string(32, '\0'));
    meeting.sides[0].receive(announced);
    const std::string confirmation = meeting.sides[0].confirmation();
    Session session = meeting.sides[0].finish(std::vector{confirmation, confirmation});
    EXPECT_EQ(session.announcements[1].ephemeral, PublicKey{});
    EXPECT_THROW((void)session.secrets[0].with(1), CryptoError);
}

TEST(Handshake, NeedsOneIdentityPerLocalAgent) {
    const auto credentials = credentials_of(2);
    HandshakeTerms terms;
    terms.agents = 2;
    EXPECT_THROW(Handshake(terms, std::vector<int>{0, 1}, &credentials[0]), CryptoError);
}

TEST(Handshake, ShowsNoSecret) {
    const auto credentials = credentials_of(2);
    Meeting meeting(2, &credentials);
    std::string sent;
    for (const auto& message : meeting.announce()) sent += message;
    const auto announced = meeting.announce();
    for (Handshake& side : meeting.sides) side.receive(announced);
    const auto confirmed = meeting.confirm();
    for (const auto& message : confirmed) sent += message;
    for (const Handshake& side : meeting.sides) {
        Session session = side.finish(confirmed);
        const int peer = 1 - session.secrets[0].agent();
        for (const SecretKey* secret : std::initializer_list<const SecretKey*>{
                 &session.secrets[0].with(peer), &session.shares[0]}) {
            const auto bytes = secret->bytes();
            EXPECT_EQ(std::search(
                          sent.begin(),
                          sent.end(),
                          bytes.begin(),
                          bytes.end(),
                          [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }),
                      sent.end());
        }
    }
}

}  // namespace
}  // namespace sotto
