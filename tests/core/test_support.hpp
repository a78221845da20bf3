#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

namespace sotto::test {

/// The message of the error that the call throws; the test fails unless it throws an Expected whose
/// message is one line.
template <class Expected, class Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const Expected& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.find('\n'), std::string::npos) << "one line: " << message;
        return message;
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another kind of error: " << error.what();
        return {};
    }
    ADD_FAILURE() << "no error";
    return {};
}

inline ::testing::AssertionResult contains(std::string_view text, std::string_view part) {
    if (text.find(part) != std::string_view::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << '"' << part << "\" is not in \"" << text << '"';
}

/// |actual - expected| <= tolerance * |expected|; a NaN fails.
inline ::testing::AssertionResult relatively_near(double actual,
                                                  double expected,
                                                  double tolerance) {
    if (std::abs(actual - expected) <= tolerance * std::abs(expected))
        return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << actual << " differs from " << expected << " by "
                                         << std::abs(actual - expected) / std::abs(expected)
                                         << " relative, allowed " << tolerance;
}

}  // namespace sotto::test
