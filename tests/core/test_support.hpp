#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sotto::test {

/// A folder that is gone after the test.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        static int count = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("sotto_test_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
        std::filesystem::create_directory(path_);
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
        return path_ / name;
    }
    /// Writes a file and returns its path.
    std::filesystem::path put(const std::string& name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path_ / name;
    }
    [[nodiscard]] std::ptrdiff_t entries() const {
        return std::distance(std::filesystem::directory_iterator(path_), {});
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

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
