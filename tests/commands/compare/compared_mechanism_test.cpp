#include "commands/compare/compared_mechanism.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(ComparedMechanism, IsANameOrAFileWithOptionsOfItsOwn) {
    const auto all = parse_compared_mechanisms(
        "--mechanisms", "ldp,pairs+coalition-size=2+utility=horizon:50,a/R.npy");
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].options, (OptionTexts{{"mechanism", "ldp"}}));
    EXPECT_EQ(all[1].label, "pairs+coalition-size=2+utility=horizon:50");
    EXPECT_EQ(
        all[1].options,
        (OptionTexts{{"mechanism", "pairs"}, {"coalition-size", "2"}, {"utility", "horizon:50"}}));
    EXPECT_EQ(all[2].options, (OptionTexts{{"covariance", "a/R.npy"}}));
}

TEST(ComparedMechanism, ThatDoesNotExistIsRefused) {
    const auto refusal = [](const std::string& text) {
        return message_of<ConfigError>(
            [&] { (void)parse_compared_mechanisms("--mechanisms", text); });
    };
    expect_contains(refusal("ldp,cron"), "did you mean 'corn'");
    expect_contains(refusal("ldp,corn,ldp"), "'ldp' is there twice");
    expect_contains(refusal("ldp+size=2"), "'size=2' of 'ldp+size=2' is no option of a training");
    expect_contains(refusal("pairs+coalition-size"), "OPTION=VALUE");
}

}  // namespace
}  // namespace sotto
