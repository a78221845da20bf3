#include "sotto/trust/identity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "trust/file_fixtures.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;

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

}  // namespace
}  // namespace sotto
