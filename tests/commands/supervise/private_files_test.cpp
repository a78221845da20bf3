#include "commands/supervise/private_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

namespace sotto::cli {
namespace {

mode_t umask_now() {
    const mode_t now = ::umask(0);
    ::umask(now);
    return now;
}

TEST(PrivateFiles, AreMadeUntilTheUsersUmaskIsTakenBack) {
    const mode_t before = ::umask(0002);
    ::unsetenv("SOTTO_UMASK");
    take_back_umask();
    EXPECT_EQ(umask_now(), 0002U) << "nobody has kept one";
    keep_files_private();
    EXPECT_EQ(umask_now(), 0077U);
    EXPECT_STREQ(std::getenv("SOTTO_UMASK"), "2");
    take_back_umask();
    EXPECT_EQ(umask_now(), 0002U);
    for (const char* damaged : {"", "8", "2x", "1000", "-1"}) {
        ::setenv("SOTTO_UMASK", damaged, 1);
        take_back_umask();
        EXPECT_EQ(umask_now(), 0002U) << damaged;
    }
    ::unsetenv("SOTTO_UMASK");
    ::umask(before);
}

}  // namespace
}  // namespace sotto::cli
