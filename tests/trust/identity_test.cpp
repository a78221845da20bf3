#include "trust/identity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "trust/file_fixtures.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

namespace fs = std::filesystem;

using IdentityFile = test::Files;

std::vector<std::uint8_t> bytes(const std::string& text) { return {text.begin(), text.end()}; }

TEST(IdentitySignature, HoldsForItsMessageAndKeyOnly) {
    const Identity identity = Identity::generate();
    const Identity other = Identity::generate();
    EXPECT_NE(identity.public_key(), other.public_key());
    const auto message = bytes("transcript");
    const Signature signature = identity.sign(message);
    EXPECT_TRUE(signature_is_good(identity.public_key(), message, signature));
    EXPECT_FALSE(signature_is_good(other.public_key(), message, signature));
    EXPECT_FALSE(signature_is_good(identity.public_key(), bytes("transcripT"), signature));
    EXPECT_FALSE(signature_is_good({}, message, signature));
    for (std::size_t i = 0; i < signature.size(); ++i) {
        Signature damaged = signature;
        damaged[i] ^= 1;
        EXPECT_FALSE(signature_is_good(identity.public_key(), message, damaged)) << i;
    }
}

TEST_F(IdentityFile, KeepsTheIdentityForItsOwnerOnly) {
    ::umask(0);
    const Identity identity = Identity::generate();
    identity.write_new(path("a"));
    struct stat status {};
    ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
    const Identity read = Identity::read(path("a"));
    EXPECT_EQ(read.public_key(), identity.public_key());
    const auto message = bytes("x");
    EXPECT_TRUE(signature_is_good(identity.public_key(), message, read.sign(message)));
    EXPECT_TRUE(read_file(path("a")).starts_with("sotto-identity 1\n"));
}

TEST_F(IdentityFile, IsNeverOverwritten) {
    const Identity first = Identity::generate();
    first.write_new(path("a"));
    EXPECT_TRUE(contains(
        message_of<ConfigError>([&] { Identity::generate().write_new(path("a")); }), "exists"));
    EXPECT_EQ(Identity::read(path("a")).public_key(), first.public_key());
    // Nor is what a link points to.
    file("victim", "precious");
    fs::create_symlink(path("victim"), path("link"));
    EXPECT_THROW(Identity::generate().write_new(path("link")), ConfigError);
    EXPECT_EQ(read_file(path("victim")), "precious");
    EXPECT_THROW(Identity::generate().write_new(path("none/a")), ConfigError);
}

TEST_F(IdentityFile, IsRefusedWhenOthersCanReadIt) {
    Identity::generate().write_new(path("a"));
    for (const unsigned mode : {0640U, 0604U, 0644U, 0666U, 0620U, 0602U}) {
        ::chmod(path("a").c_str(), mode);
        const std::string message =
            message_of<ConfigError>([&] { (void)Identity::read(path("a")); });
        EXPECT_TRUE(contains(message, "chmod 600 " + path("a").string())) << message;
    }
    for (const unsigned mode : {0600U, 0400U}) {
        ::chmod(path("a").c_str(), mode);
        EXPECT_NO_THROW((void)Identity::read(path("a")));
    }
}

TEST_F(IdentityFile, IsRefusedWhenItIsNoIdentity) {
    Identity::generate().write_new(path("a"));
    const std::string good = read_file(path("a"));
    EXPECT_THROW((void)Identity::read(path("none")), DataError);
    EXPECT_THROW((void)Identity::read(folder_.path()), DataError);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_THROW((void)Identity::read(path("pipe")), DataError);
    std::vector<std::string> bad{"", "\n", good + "x", good + good, std::string(5000, 'a')};
    for (std::size_t length = 0; length < good.size() - 1; ++length)
        bad.push_back(good.substr(0, length));
    for (std::size_t i = 0; i < good.size() - 1; ++i) {
        bad.push_back(good);
        bad.back()[i] = bad.back()[i] == '1' ? '2' : '1';
    }
    for (const auto& content : bad)
        EXPECT_THROW((void)Identity::read(file("bad", content)), DataError) << content;
}

TEST_F(IdentityFile, NamesNoSecretInItsMessages) {
    Identity::generate().write_new(path("a"));
    std::string content = read_file(path("a"));
    const std::string secret = content.substr(content.find("secret ") + 7, 64);
    content[20] = content[20] == '1' ? '2' : '1';
    const std::string message =
        message_of<DataError>([&] { (void)Identity::read(file("bad", content)); });
    EXPECT_FALSE(contains(message, secret.substr(0, 16))) << message;
}

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

namespace fs = std::filesystem;
using Enrolment = test::Files;

TEST_F(Enrolment, MakesTheRosterAndThenAppendsToIt) {
    const IdentityKey first = enroll(path("a"), path("roster"), "alice");
    EXPECT_EQ(Identity::read(path("a")).public_key(), first);
    EXPECT_EQ(read_file(path("roster")), to_hex(first) + " alice\n");
    // What people wrote stays, also without a line end.
    std::ofstream(path("roster"), std::ios::app) << "# the others";
    const IdentityKey second = enroll(path("b"), path("roster"), "bob");
    EXPECT_EQ(read_file(path("roster")),
              to_hex(first) + " alice\n# the others\n" + to_hex(second) + " bob\n");
    EXPECT_EQ(Roster::read(path("roster")).entries().size(), 2U);
}

TEST_F(Enrolment, LeavesNothingBehindWhenItIsRefused) {
    (void)enroll(path("a"), path("roster"), "alice");
    const std::string roster = read_file(path("roster"));
    EXPECT_THROW((void)enroll(path("a"), path("roster"), "bob"), ConfigError);
    EXPECT_THROW((void)enroll(path("b"), path("roster"), "alice"), ConfigError);
    EXPECT_THROW((void)enroll(path("b"), path("none/roster"), "bob"), ConfigError);
    EXPECT_THROW((void)enroll(path("b"), folder_.path(), "bob"), ConfigError);
    for (const char* name : {"", "a b", "a#b", "a\nb", "a\tb", "\xc3\xbc"})
        EXPECT_THROW((void)enroll(path("b"), path("roster"), name), ConfigError) << name;
    EXPECT_EQ(read_file(path("roster")), roster);
    file("damaged", "what is this");
    EXPECT_THROW((void)enroll(path("b"), path("damaged"), "bob"), DataError);
    EXPECT_EQ(read_file(path("damaged")), "what is this");
    EXPECT_FALSE(fs::exists(path("b")));
    EXPECT_EQ(folder_.entries(), 3);
}

TEST_F(Enrolment, KeepsEveryEntryOfManyAtOnce) {
    constexpr int processes = 8, each = 5;
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            try {
                for (int i = 0; i < each; ++i) {
                    const std::string name = "p" + std::to_string(p) + "-" + std::to_string(i);
                    (void)enroll(path(name), path("roster"), name);
                }
            } catch (...) {
                ::_exit(1);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    const Roster roster = Roster::read(path("roster"));
    ASSERT_EQ(roster.entries().size(), static_cast<std::size_t>(processes * each));
    for (const auto& entry : roster.entries())
        EXPECT_EQ(Identity::read(path(entry.name)).public_key(), entry.key);
    EXPECT_EQ(folder_.entries(), processes * each + 1);
}

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

TEST(OpenFile, ClosesItselfOnceWhoeverHoldsItLast) {
    int descriptor = -1;
    {
        OpenFile file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        descriptor = file.get();
        EXPECT_TRUE(file.open());
        {
            const OpenFile moved(std::move(file));
            EXPECT_EQ(moved.get(), descriptor);
        }
        EXPECT_FALSE(is_open(descriptor));
    }
    EXPECT_FALSE(is_open(descriptor));
    EXPECT_FALSE(OpenFile(-1).open());
}

TEST(Unwritable, NamesThePathAndTheReason) {
    EXPECT_EQ(test::message_of<ConfigError>([] { throw_unwritable("some/file", EACCES); }),
              "some/file: cannot be written (Permission denied)");
}

}  // namespace
}  // namespace sotto
