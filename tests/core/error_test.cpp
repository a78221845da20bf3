#include "sotto/core/error.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(ThrowError, ThrowsTheClassOfTheExitCode) {
    EXPECT_THROW(throw_error(ExitCode::usage, "x"), ConfigError);
    EXPECT_THROW(throw_error(ExitCode::data, "x"), DataError);
    EXPECT_THROW(throw_error(ExitCode::privacy, "x"), PrivacyError);
    EXPECT_THROW(throw_error(ExitCode::network, "x"), NetworkError);
    for (const ExitCode code : {ExitCode::other, ExitCode::audit, ExitCode::ok}) try {
            throw_error(code, "what went wrong");
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "what went wrong");
            EXPECT_EQ(error.exit_code(), code == ExitCode::ok ? ExitCode::other : code);
        }
}

}  // namespace
}  // namespace sotto
