#include "options/written_options.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

std::vector<WrittenGroup> test_groups() {
    const auto option = [](OptionFacts facts, OptionKind kind, std::optional<std::string> text) {
        return written_option(facts, kind, "", std::move(text));
    };
    return {
        {"First",
         {option({.name = "rounds", .ranks_must_agree = true}, OptionKind::value, "5"),
          option({.name = "radius"}, OptionKind::value, std::nullopt),
          option({.name = "run-directory", .reproduces_run = false}, OptionKind::value, "x")}},
        {"Nothing", {option({.name = "json", .reproduces_run = false}, OptionKind::output, "-")}},
        {"Last",
         {option({.name = "noise-seed", .ranks_must_agree = true}, OptionKind::value, "17"),
          option({.name = "dry-run", .reproduces_run = false, .ranks_must_agree = true},
                 OptionKind::flag,
                 "true"),
          option({.name = "hidden", .ranks_must_agree = true}, OptionKind::value, std::nullopt)}}};
}

TEST(IniText, HoldsWhatReproducesTheRunByGroups) {
    EXPECT_EQ(ini_text("train", test_groups()),
              "# Start this run again: sotto train --config THIS_FILE\n"
              "\n# First\nrounds = 5\n"
              "\n# Last\nnoise-seed = 17\n");
}

TEST(IniText, RefusesWhatTheFormatCannotHold) {
    for (const char* text : {"a#b", "a\nb"}) {
        auto with = test_groups();
        with[0].options[1].text = text;
        expect_contains(message_of<ConfigError>([&] { (void)ini_text("train", with); }),
                        std::string("--radius: '") + text);
        // An option that is not kept may hold anything.
        with[0].options[1].reproduces_run = false;
        EXPECT_EQ(ini_text("train", with), ini_text("train", test_groups()));
    }
}

TEST(AgreementLines, HoldWhatRanksMustAgreeOn) {
    EXPECT_EQ(agreement_lines(test_groups()),
              "--rounds 5\n--noise-seed 17\n--dry-run on\n--hidden not given\n");
}

TEST(LinesOfAll, HoldEveryOptionThatReproducesTheRun) {
    EXPECT_EQ(lines_of_all(test_groups()),
              "--rounds 5\n--radius not given\n--noise-seed 17\n--hidden not given\n");
}

TEST(WrittenOption, NamesItsValuesInItsHelp) {
    const OptionFacts facts{.name = "x", .help = "one of {}: the way"};
    EXPECT_EQ(written_option(facts, OptionKind::value, "a, b", {}).help, "one of a, b: the way");
    EXPECT_EQ(written_option({.name = "x", .help = "plain"}, OptionKind::value, "a, b", {}).help,
              "plain");
}

TEST(FindOption, LooksInAllGroups) {
    const auto all = test_groups();
    ASSERT_NE(find_option(all, "hidden"), nullptr);
    EXPECT_EQ(find_option(all, "hidden")->name, "hidden");
    EXPECT_EQ(find_option(all, "hiden"), nullptr);
}

WrittenOption option_of(OptionKind kind, const AllowedValues& allowed = {}) {
    return written_option({.name = "x", .help = "one of red, blue"}, kind, allowed, "true");
}

TEST(OptionUsage, SaysHowAnOptionIsTyped) {
    EXPECT_EQ(usage_of(option_of(OptionKind::value)), "--x VALUE");
    EXPECT_EQ(usage_of(option_of(OptionKind::flag)), "--x");
    EXPECT_EQ(usage_of(option_of(OptionKind::output)), "--x [FILE]");
    EXPECT_EQ(usage_of(option_of(OptionKind::list)), "--x \"VALUE ...\"");
}

TEST(OptionUsage, SaysValuesThatTheHelpDoesNotSay) {
    EXPECT_EQ(values_beside_help(option_of(OptionKind::value, one_of({"red", "blue"}))), "");
    EXPECT_EQ(values_beside_help(option_of(OptionKind::value, "1 to 5")), "1 to 5");
}

TEST(OptionUsage, GivesNoDefaultToFlags) {
    EXPECT_EQ(default_of(option_of(OptionKind::value)), "true");
    EXPECT_EQ(default_of(option_of(OptionKind::flag)), "");
}

}  // namespace
}  // namespace sotto
