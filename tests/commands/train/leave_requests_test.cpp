#include "commands/train/leave_requests.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto::cli {
namespace {

/// Agents 0, 2 and 5 of six.
const Membership some{6, {0, 2, 5}};

TEST(LeaveRequests, AreFilesOfAgents) {
    const test::TemporaryFolder folder;
    const auto network = make_memory_network(3, 1);
    watch_for_leaving();
    LeaveRequests nobody(folder.path("leave%r"));
    EXPECT_TRUE(nobody.of(*network, some).empty());
    (void)folder.write("leave5", "");
    (void)folder.write("leave1", "");  // is not there
    LeaveRequests requests(folder.path("leave%r"));
    EXPECT_EQ(requests.of(*network, some), (std::vector{5}));
    EXPECT_EQ(agree_on_leaving(*network, some, {5}, false), (std::vector{5}));
}

TEST(LeaveRequests, AreOfAllAgentsOfAProcessBySignal) {
    const auto network = make_memory_network(3, 1);
    watch_for_leaving();
    LeaveRequests requests("");
    EXPECT_TRUE(requests.of(*network, some).empty());
    std::raise(SIGUSR2);
    EXPECT_EQ(requests.of(*network, some), some.numbers);
    watch_for_leaving();
    std::signal(SIGUSR2, SIG_DFL);
}

TEST(LeaveRequests, StopTheRunWhereEverybodyLeavesOrItIsStopped) {
    const auto network = make_memory_network(3, 1);
    EXPECT_TRUE(agree_on_leaving(*network, some, {0, 2, 5}, false).empty());
    EXPECT_TRUE(agree_on_leaving(*network, some, {5}, true).empty());
    EXPECT_TRUE(agree_on_leaving(*network, some, {}, false).empty());
    EXPECT_THROW((void)agree_on_leaving(*network, some, {1}, false), NetworkError);
}

}  // namespace
}  // namespace sotto::cli
