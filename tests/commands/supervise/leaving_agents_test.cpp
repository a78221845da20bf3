#include "commands/supervise/leaving_agents.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

TEST(LeavingAgents, AreAllWhereNoRunHasBegun) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(still_there(folder.path(""), {5, 2, 5}), (std::vector<int>{2, 5}));
}

TEST(LeavingAgents, CannotBeToldWithoutARun) {
    const test::TemporaryFolder folder;
    EXPECT_THROW((void)remaining_agents(folder.path(""), {"host"}, {}), DataError);
}

}  // namespace
}  // namespace sotto::cli
