#include "commands/cli/completed_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "commands/cli/command_table.hpp"

namespace sotto::cli {
namespace {

using Words = std::vector<std::string>;

CompletedOption completed(const AllowedValues& allowed, OptionKind kind = OptionKind::value) {
    return completed_option(
        written_option({.name = "x", .help = "first; rest"}, kind, allowed, std::nullopt));
}

TEST(CompletedOption, TakesWordsAsTheyAreAndBeginningsUpToTheColon) {
    EXPECT_EQ(
        completed(one_of({"final",
                          "horizon:H",
                          "cyclic-poisson:auto",
                          "by-label:k",
                          "coalition:a,b",
                          "piecewise:ROUND:FACTOR,..."}))
            .words,
        (Words{
            "final", "horizon:", "cyclic-poisson:auto", "by-label:", "coalition:", "piecewise:"}));
    EXPECT_EQ(completed(one_of({"x", "cyclic:b", "cyclic:c"})).words, (Words{"x", "cyclic:"}));
}

TEST(CompletedOption, KnowsFilesAndFolders) {
    const CompletedOption file = completed(among_others("", {"synthetic", "FILE.npy"}));
    EXPECT_TRUE(file.files && !file.folders);
    EXPECT_EQ(value_tokens(file), (Words{"synthetic", "FILE"}));
    const CompletedOption folder = completed(among_others("", {"DIR"}));
    EXPECT_TRUE(folder.folders && !folder.files);
    EXPECT_EQ(value_tokens(folder), (Words{"DIR"}));
}

TEST(CompletedOption, HasAShortHelpAndNoValueIfItIsAFlag) {
    EXPECT_EQ(completed({}).help, "first");
    EXPECT_TRUE(completed({}).takes_value);
    EXPECT_FALSE(completed({}, OptionKind::flag).takes_value);
    const std::string help(100, 'a');
    EXPECT_LE(completed_option(
                  written_option({.name = "x", .help = "b " + help}, OptionKind::value, {}, {}))
                  .help.size(),
              72U);
}

TEST(CompletedGroups, HaveEveryOptionOfEveryCommandOnce) {
    const auto groups = completed_groups(commands());
    for (const Command& command : commands().records())
        for (const WrittenGroup& group : command.options())
            for (const WrittenOption& option : group.options) {
                std::ptrdiff_t found = 0;
                for (const CompletedGroup& of_some : groups)
                    if (std::ranges::count(of_some.commands, command.name) > 0)
                        found += std::ranges::count(
                            of_some.options, option.name, &CompletedOption::name);
                EXPECT_EQ(found, 1) << command.name << " --" << option.name;
            }
}

/// Options whose help says FILE or DIR complete paths, and those that complete them say it.
TEST(CompletedGroups, CompletePathsWhereTheHelpNamesThem) {
    for (const Command& command : commands().records())
        for (const WrittenGroup& group : command.options())
            for (const WrittenOption& option : group.options) {
                const CompletedOption one = completed_option(option);
                const bool named = option.help.find("FILE") != std::string::npos ||
                                   option.help.find("DIR ") != std::string::npos ||
                                   option.help.find("DIR:") != std::string::npos ||
                                   option.help.find("directories") == 0;
                EXPECT_EQ(one.files || one.folders, named) << command.name << " --" << option.name;
            }
}

}  // namespace
}  // namespace sotto::cli
