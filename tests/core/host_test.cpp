#include "core/host.hpp"

#include <gtest/gtest.h>

#include "core/files.hpp"

namespace sotto {
namespace {

TEST(LocalHostName, IsTheKernels) {
    std::string known = read_file("/proc/sys/kernel/hostname");
    known.pop_back();  // end of line
    EXPECT_EQ(local_host_name(), known);
}

}  // namespace
}  // namespace sotto
