#include "commands/supervise/supervise_options.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

TEST(RestartDelay, IsReadAndWritten) {
    const RestartDelay delay = parse_restart_delay("--restart-delay", "0:90");
    EXPECT_EQ(delay.first, 0);
    EXPECT_EQ(delay.most, 90);
    EXPECT_EQ(restart_delay_text(delay), "0:90");
    for (const char* text :
         {"", "5", "5:", ":5", "-1:5", "5:-1", "5:6:7", "5:6x", "a:b", "1:1000001"})
        EXPECT_NE(test::message_of<ConfigError>([&] {
                      (void)parse_restart_delay("--restart-delay", text);
                  }).find("--restart-delay: '" + std::string(text) + "' is not FIRST:MOST"),
                  std::string::npos);
}

TEST(SuperviseOptions, HaveTheirDefaults) {
    const SuperviseConfig config = supervise_option_set().read({});
    EXPECT_EQ(config.max_restarts, 10);
    EXPECT_EQ(restart_delay_text(config.delay), "5:300");
    EXPECT_EQ(config.host_wait, 600);
    EXPECT_FALSE(config.min_agents);
    EXPECT_THROW((void)supervise_option_set().read({{"min-agents", "0"}}), ConfigError);
}

}  // namespace
}  // namespace sotto::cli
