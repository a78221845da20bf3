#include "run/config.hpp"

#include "run/run_fixtures.hpp"

namespace sotto {
namespace {

TEST(Bootstrap, IsOneOfTwoWords) {
    EXPECT_EQ(parse_bootstrap("--bootstrap", "central"), Bootstrap::central);
    EXPECT_EQ(parse_bootstrap("--bootstrap", "distributed"), Bootstrap::distributed);
    const auto message =
        test::message_of<ConfigError>([] { (void)parse_bootstrap("--bootstrap", "distribute"); });
    test::expect_contains(message, "--bootstrap");
    test::expect_contains(message, "distributed");
}

}  // namespace
}  // namespace sotto
