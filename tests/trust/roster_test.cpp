#include "sotto/trust/roster.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "trust/file_fixtures.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using RosterFile = test::Files;

std::string key_text(char digit) { return std::string(64, digit); }

TEST(RosterText, IsAKeyAndANameALine) {
    const Roster roster = Roster::parse(
        "# who\n\n " + key_text('a') + "\t alice # first\r\n" + key_text('B') + " bob", "r");
    ASSERT_EQ(roster.entries().size(), 2U);
    EXPECT_EQ(roster.entries()[0].name, "alice");
    EXPECT_EQ(to_hex(roster.entries()[0].key), key_text('a'));
    EXPECT_EQ(to_hex(roster.entries()[1].key), key_text('b'));
    EXPECT_EQ(roster.find(roster.entries()[1].key)->name, "bob");
    EXPECT_EQ(roster.find({}), nullptr);
    EXPECT_TRUE(Roster::parse("", "r").entries().empty());
}

TEST(RosterText, IsRefusedWithItsLineWhenItIsNoRoster) {
    const std::string good = key_text('a') + " alice\n";
    const auto refused = [&](const std::string& line) {
        const std::string message = message_of<DataError>(
            [&] { (void)Roster::parse("# comment\n" + good + line, "file"); });
        EXPECT_TRUE(contains(message, "file:3")) << message << "\n" << line;
        return message;
    };
    for (const std::string& line : {std::string("alice"),
                                    key_text('b'),
                                    key_text('b') + "b bob",
                                    key_text('b').substr(1) + " bob",
                                    key_text('g') + " bob",
                                    key_text('b') + " bob smith",
                                    key_text('b') + " b\x01"
                                                    "b",
                                    key_text('b') + " " + std::string(65, 'b'),
                                    std::string(1, '\0') + key_text('b') + " bob"})
        (void)refused(line);
    EXPECT_TRUE(contains(refused(key_text('a') + " bob"), "same key"));
    EXPECT_TRUE(contains(refused(key_text('A') + " bob"), "same key"));
    EXPECT_TRUE(contains(refused(key_text('b') + " alice"), "twice"));
}

TEST(RosterDigest, IsOfTheKeysWhateverTheirOrderAndNames) {
    const std::string a = key_text('a'), b = key_text('b'), c = key_text('c');
    const auto digest = [](const std::string& text) { return Roster::parse(text, "r").digest(); };
    const Digest both = digest(a + " x\n" + b + " y\n");
    EXPECT_EQ(both, digest("# c\n" + b + " z\n" + a + " y\n"));
    EXPECT_NE(both, digest(a + " x\n" + c + " y\n"));
    EXPECT_NE(both, digest(a + " x\n"));
    EXPECT_NE(both, digest(a + " x\n" + b + " y\n" + c + " z\n"));
}

TEST_F(RosterFile, MayBeEmptyAndIsNamedWhenItIsDamagedOrMissing) {
    EXPECT_TRUE(Roster::read(file("empty", "")).entries().empty());
    EXPECT_EQ(Roster::read(file("one", key_text('a') + " alice")).entries().size(), 1U);
    EXPECT_TRUE(contains(
        message_of<DataError>([&] { (void)Roster::read(file("bad", "\nnobody\n")); }), "bad:2"));
    EXPECT_THROW((void)Roster::read(path("none")), DataError);
}

TEST(RosterName, IsOneWordOfAtMost64Characters) {
    for (const std::string& good :
         {std::string("a"), std::string("agent-7."), std::string(64, 'x')})
        EXPECT_NO_THROW(require_roster_name(good)) << good;
    for (const std::string& bad :
         {std::string(), std::string("a b"), std::string("a#"), std::string(65, 'x')})
        EXPECT_THROW(require_roster_name(bad), ConfigError) << bad;
}

}  // namespace
}  // namespace sotto
