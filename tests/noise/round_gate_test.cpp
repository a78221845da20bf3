#include "sotto/noise/round_gate.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/agent_fixtures.hpp"

namespace sotto {
namespace {

using test::privacy_error_of;

TEST(RoundGate, LetsEveryRoundBeginOnceInAscendingOrder) {
    RoundGate gate("noise");
    gate.begin(0, 0);
    gate.begin(0, 5);
    gate.begin(2, 1);
    EXPECT_EQ(
        privacy_error_of([&] { gate.begin(2, 1); }),
        "noise: round 1 of key epoch 2 is not allowed (above round 1 of key epoch 2: noise is "
        "drawn once, or the difference of two messages would be without any)");
    EXPECT_NE(privacy_error_of([&] { gate.begin(2, 0); }), "");
    EXPECT_NE(privacy_error_of([&] { gate.begin(1, 9); }), "");
    EXPECT_EQ(privacy_error_of([&] { gate.begin(2, 2); }), "");
}

TEST(RoundGate, LetsOneInAtATime) {
    const RoundGate gate("training");
    {
        const RoundGate::Stay stay = gate.enter();
        EXPECT_NE(privacy_error_of([&] {
                      static_cast<void>(gate.enter());
                  }).find("training: a call is not allowed while another one is under way"),
                  std::string::npos);
    }
    std::atomic<int> inside = 0, most = 0, entered = 0, refused = 0;
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) try {
                    const RoundGate::Stay stay = gate.enter();
                    if (++inside > most) most = inside.load();
                    ++entered;
                    --inside;
                } catch (const PrivacyError&) {
                    ++refused;
                }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(entered + refused, 8000);
    EXPECT_GT(entered, 0);
}

TEST(RoundGate, LetsNothingInToAProcessThatWasForked) {
    const RoundGate gate("agent");
    EXPECT_TRUE(gate.in_its_process());
    const pid_t child = fork();
    if (child == 0) {
        const std::string said = privacy_error_of([&] { static_cast<void>(gate.enter()); });
        _exit(!gate.in_its_process() && said.find("forked") != std::string::npos ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(privacy_error_of([&] { static_cast<void>(gate.enter()); }), "");
}

TEST(RoundGate, KeepsItsRoundsWhereItIsMovedTo) {
    RoundGate from("noise");
    from.begin(1, 4);
    RoundGate to(std::move(from));
    EXPECT_NE(privacy_error_of([&] { to.begin(1, 4); }), "");
    EXPECT_FALSE(from.in_its_process());  // NOLINT(bugprone-use-after-move)
    EXPECT_NE(privacy_error_of([&] { static_cast<void>(from.enter()); }), "");
}

}  // namespace
}  // namespace sotto
