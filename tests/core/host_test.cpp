#include "core/host.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "core/files.hpp"

namespace sotto {
namespace {

TEST(LocalHostName, IsTheKernels) {
    std::string known = read_file("/proc/sys/kernel/hostname");
    known.pop_back();  // end of line
    EXPECT_EQ(local_host_name(), known);
}

TEST(UsableProcessors, AreNoMoreThanTheThreadMayRunOn) {
    EXPECT_GE(usable_processors(), 1);
    EXPECT_LE(usable_processors(), static_cast<int>(allowed_cores().size()));
    // Another thread, since this one shall keep its cores.
    std::thread bound([first = allowed_cores().front()] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(first), &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(allowed_cores(), std::vector<int>{first});
        EXPECT_EQ(usable_processors(), 1);
    });
    bound.join();
}

}  // namespace
}  // namespace sotto
