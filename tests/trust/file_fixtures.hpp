#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace sotto::test {

/// Tests with a folder of their own.
class Files : public ::testing::Test {
  protected:
    Files() {
        std::string name = std::filesystem::temp_directory_path() / "sotto-identity-XXXXXX";
        EXPECT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    ~Files() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    [[nodiscard]] std::filesystem::path path(const std::string& name) const {
        return folder_ / name;
    }
    std::filesystem::path file(const std::string& name,
                               const std::string& content,
                               unsigned mode = 0600) {
        std::ofstream(path(name)) << content;
        ::chmod(path(name).c_str(), mode);
        return path(name);
    }
    std::filesystem::path folder_;
};

}  // namespace sotto::test
