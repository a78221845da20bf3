#include "commands/cli/shell_completions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "commands/cli/command.hpp"
#include "config/run_fixtures.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;

// What real shells make of these scripts: tests/install/check_completions.

Registry<Command> small_table() {
    return {"command",
            {{.name = "paint", .summary = "it's [wet]: wait", .options = [] {
                  return std::vector<WrittenGroup>{
                      {"All",
                       {written_option({.name = "colour", .help = "which [one]: it's yours"},
                                       OptionKind::value,
                                       one_of({"red", "mix:H"}),
                                       "red"),
                        written_option({.name = "wall", .help = "DIR", .positional = true},
                                       OptionKind::value,
                                       among_others("", {"DIR"}),
                                       {}),
                        written_option(
                            {.name = "dry", .help = "no paint"}, OptionKind::flag, {}, {})}}};
              }}}};
}

TEST(BashCompletion, HasCommandsOptionsAndValues) {
    const std::string text = bash_completion(small_table());
    expect_contains(text, "_sotto_commands=(paint)\n");
    expect_contains(text, "options+=( --colour --wall --dry )\n");
    expect_contains(text, "--colour) tokens=(red mix:) ;;\n");
    expect_contains(text, "--wall | '') tokens=(DIR) ;;\n");
    expect_contains(text, "--dry) takes=nothing ;;\n");
    expect_contains(text, "\ncomplete -F _sotto sotto\n");
}

TEST(ZshCompletion, QuotesWhatItsSpecificationsWouldRead) {
    const std::string text = zsh_completion(small_table());
    EXPECT_TRUE(text.starts_with("#compdef sotto\n"));
    expect_contains(text, "'paint:it'\\''s \\[wet\\]\\: wait'\n");
    expect_contains(text,
                    "'--colour=[which \\[one\\]\\: it'\\''s yours]:colour: _sotto_values red "
                    "mix\\:'\n");
    expect_contains(text, "'--dry[no paint]'\n");
    expect_contains(text, "'*:wall: _sotto_values DIR'\n");
}

TEST(FishCompletion, HasALineAnOption) {
    const std::string text = fish_completion(small_table());
    expect_contains(text, "-n __fish_use_subcommand -a paint -d 'it\\'s [wet]: wait'\n");
    expect_contains(text,
                    "complete -c sotto -n '__fish_seen_subcommand_from paint' -l colour -d 'which "
                    "[one]: it\\'s yours' -x -a 'red mix:'\n");
    expect_contains(text, "-l dry -d 'no paint'\n");
    expect_contains(text, " -a '(__fish_complete_directories)'\n");
}

TEST(Completions, NameEveryOptionOfTheProgram) {
    const std::string bash = bash_completion(commands()), zsh = zsh_completion(commands()),
                      fish = fish_completion(commands());
    for (const Command& command : commands().records())
        for (const WrittenGroup& group : command.options())
            for (const WrittenOption& option : group.options) {
                expect_contains(bash, " --" + option.name + " ");
                expect_contains(zsh, "'--" + option.name);
                expect_contains(fish, " -l " + option.name + " ");
            }
}

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
    // Bash would read the bars of such a placeholder as its own.
    EXPECT_EQ(completed(one_of({"auto", "NUMBER[kB|MB]", "NAME=LOW:HIGH"})).words, Words{"auto"});
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
