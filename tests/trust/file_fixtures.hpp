#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "core/temporary_folder.hpp"

namespace sotto::test {

/// Tests with a folder of their own.
class Files : public ::testing::Test {
  protected:
    [[nodiscard]] std::filesystem::path path(const std::string& name) const {
        return folder_.path(name);
    }
    std::filesystem::path file(const std::string& name,
                               const std::string& content,
                               unsigned mode = 0600) {
        folder_.write(name, content);
        ::chmod(path(name).c_str(), mode);
        return path(name);
    }
    TemporaryFolder folder_;
};

}  // namespace sotto::test
