#include "training/stall_limits.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

TEST(StallLimitsOfATraining, AreThoseOfItsOptions) {
    const StallLimits once = stall_limits(12, 60, "rank 3 (node1)");
    EXPECT_EQ(once.warn_seconds, 12);
    EXPECT_EQ(once.abort_seconds, 60);
    EXPECT_EQ(once.abort_setting, "--stall-abort 60");
    const StallLimits patient = stall_limits(12, 60, "rank 3 (node1)", 10);
    EXPECT_EQ(patient.warn_seconds, 12);
    EXPECT_EQ(patient.abort_seconds, 600);
    EXPECT_EQ(patient.abort_setting, "10 times --stall-abort 60");
    ::testing::internal::CaptureStderr();
    once.report("waits for rank 2");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "sotto: rank 3 (node1): waits for rank 2\n");
}

}  // namespace
}  // namespace sotto
