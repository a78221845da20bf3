#include "sotto/core/error.hpp"

#include <gtest/gtest.h>

#include <typeinfo>

namespace sotto {
namespace {

/// The error that throw_error throws for the exit code.
template <class Expected>
void expect_thrown(ExitCode code) {
    try {
        throw_error(code, "what is wrong");
    } catch (const Error& error) {
        EXPECT_EQ(typeid(error), typeid(Expected));
        EXPECT_EQ(error.exit_code(), code);
        EXPECT_STREQ(error.what(), "what is wrong");
    }
}

TEST(ThrowError, ThrowsTheClassOfTheExitCode) {
    expect_thrown<ConfigError>(ExitCode::usage);
    expect_thrown<DataError>(ExitCode::data);
    expect_thrown<PrivacyError>(ExitCode::privacy);
    expect_thrown<NetworkError>(ExitCode::network);
    for (const ExitCode code :
         {ExitCode::audit, ExitCode::complete, ExitCode::interrupted, ExitCode::storage})
        expect_thrown<Error>(code);
    expect_thrown<Error>(ExitCode::other);
}

TEST(Error, OfEveryClassHasTheExitCodeThatScriptsRelyOn) {
    EXPECT_EQ(static_cast<int>(DivergedError("").exit_code()), 1);
    EXPECT_EQ(static_cast<int>(ConfigError("").exit_code()), 2);
    EXPECT_EQ(static_cast<int>(DataError("").exit_code()), 3);
    EXPECT_EQ(static_cast<int>(PrivacyError("").exit_code()), 4);
    EXPECT_EQ(static_cast<int>(NetworkError("").exit_code()), 5);
    EXPECT_EQ(static_cast<int>(CryptoError("").exit_code()), 5);
    EXPECT_EQ(static_cast<int>(ExitCode::audit), 6);
    EXPECT_EQ(static_cast<int>(ExitCode::complete), 7);
    EXPECT_EQ(static_cast<int>(ExitCode::interrupted), 8);
    EXPECT_EQ(static_cast<int>(ExitCode::storage), 9);
}

TEST(Error, SaysAllThatStandsBehindAZeroByte) {
    EXPECT_STREQ(DataError(std::string("\"a\0\0b\" is no number", 19)).what(),
                 "\"a\\x00\\x00b\" is no number");
}

TEST(ThrowError, KeepsTextAndExitCode) {
    for (const ExitCode code : {ExitCode::other, ExitCode::audit, ExitCode::ok}) try {
            throw_error(code, "what went wrong");
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "what went wrong");
            EXPECT_EQ(error.exit_code(), code == ExitCode::ok ? ExitCode::other : code);
        }
}

}  // namespace
}  // namespace sotto
