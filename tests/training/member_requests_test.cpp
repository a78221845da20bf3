#include "training/member_requests.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
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
    EXPECT_EQ(agree_on_change(*network, some, {}, {{5}, {}}, false).leaving, (std::vector{5}));
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
    EXPECT_TRUE(agree_on_change(*network, some, {}, {{0, 2, 5}, {}}, false).none());
    EXPECT_TRUE(agree_on_change(*network, some, {}, {{5}, {}}, true).none());
    EXPECT_TRUE(agree_on_change(*network, some, {}, {}, false).none());
    EXPECT_THROW((void)agree_on_change(*network, some, {}, {{1}, {}}, false), NetworkError);
}

TEST(JoinRequests, AreFilesOfSparesThatWait) {
    const test::TemporaryFolder folder;
    const auto network = make_memory_network(3, 1);
    (void)folder.write("join3", "");
    (void)folder.write("join2", "");  // takes part already
    JoinRequests requests(folder.path("join%r"), {1, 3});
    EXPECT_EQ(requests.of(*network), (std::vector{3}));
    const MemberChange change = agree_on_change(*network, some, {1, 3}, {{5}, {3}}, false);
    EXPECT_EQ(change.joining, (std::vector{3}));
    EXPECT_EQ(change.leaving, (std::vector{5}));
}

TEST(JoinRequests, OfWhoDoesNotWaitAreRefused) {
    const auto network = make_memory_network(3, 1);
    for (const std::vector<int>& asked : {std::vector{4}, std::vector{2}, std::vector{3, 1}})
        EXPECT_THROW((void)agree_on_change(*network, some, {1, 3}, {{}, asked}, false),
                     NetworkError);
}

}  // namespace
}  // namespace sotto
