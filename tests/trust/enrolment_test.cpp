#include "sotto/trust/enrolment.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/trust/roster.hpp"
#include "trust/file_fixtures.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
