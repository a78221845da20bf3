#include "commands/cli/shell_completions.hpp"

#include "commands/cli/command_table.hpp"
#include "config/run_fixtures.hpp"

namespace sotto::cli {
namespace {

// What real shells make of these scripts: tests/install/check_completions.
using test::expect_contains;

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

}  // namespace
}  // namespace sotto::cli
