#include "commands/doctor/doctor_check.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(DoctorCheck, CountsInTheSingularAndThePlural) {
    EXPECT_EQ(counted(1, "core"), "1 core");
    EXPECT_EQ(counted(0, "core"), "0 cores");
    EXPECT_EQ(counted(3, "rank"), "3 ranks");
}

}  // namespace
}  // namespace sotto
