#include "commands/cli/command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "config/run_fixtures.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;

TEST(HelpOfACommand, HasUsageOptionsAndAnExample) {
    const Command command{
        .name = "weigh",
        .summary = "say how heavy a thing is",
        .example = "sotto weigh stone --unit kg",
        .options = [] {
            return std::vector<WrittenGroup>{
                {"Weight",
                 {written_option({.name = "thing", .help = "what", .positional = true},
                                 OptionKind::value,
                                 "",
                                 {}),
                  written_option(
                      {.name = "unit", .help = "one of {}"}, OptionKind::value, "kg, lb", "kg")}}};
        }};
    EXPECT_EQ(help_for(command),
              "sotto weigh: say how heavy a thing is\n\n"
              "usage: sotto weigh [THING] [options]\n\n"
              "Weight:\n"
              "  --thing VALUE          what\n"
              "  --unit VALUE (=kg)     one of kg, lb\n"
              "A word by itself is the value of --thing.\n\n"
              "example: sotto weigh stone --unit kg\n");
}

TEST(HelpOfACommand, OfManyOptionsShowsThoseThatMostPeopleUse) {
    const Command& train = commands().find("command", "train");
    const std::string some = help_for(train), all = help_for(train, true);
    EXPECT_LT(std::ranges::count(some, '\n'), 80);
    EXPECT_GT(std::ranges::count(all, '\n'), 200);
    for (const char* option : {"--epsilon", "--adjacency", "--data", "--rounds", "--resume"})
        expect_contains(some, option);
    EXPECT_EQ(some.find("--momentum"), std::string::npos);
    expect_contains(all, "--momentum");
    expect_contains(some, "`sotto train --help all` shows all ");
    for (const Command& command : commands().records()) {
        const std::string help = help_for(command);
        EXPECT_LT(std::ranges::count(help, '\n'), 100) << command.name;
        expect_contains(help, "--json");
    }
}

TEST(Commands, AreThoseThatScriptsRelyOn) {
    EXPECT_EQ(commands().names(),
              (std::vector<std::string>{"graph",
                                        "plan",
                                        "account",
                                        "train",
                                        "sweep",
                                        "predict",
                                        "compare",
                                        "ledger",
                                        "report",
                                        "watch",
                                        "audit",
                                        "doctor",
                                        "supervise",
                                        "keygen"}));
}

TEST(EveryCommand, HasOptionsOfDifferentNamesAndAnExampleOfItself) {
    for (const Command& command : commands().records()) {
        ASSERT_NE(command.run, nullptr) << command.name;
        EXPECT_FALSE(command.summary.empty()) << command.name;
        expect_contains(command.example, "sotto " + command.name);
        std::set<std::string> names;
        for (const WrittenGroup& group : command.options())
            for (const WrittenOption& option : group.options)
                EXPECT_TRUE(names.insert(option.name).second)
                    << command.name << " --" << option.name;
        EXPECT_TRUE(names.contains("json")) << command.name;
    }
}

TEST(EveryCommand, ShowsItsOptionsInItsHelp) {
    for (const Command& command : commands().records()) {
        const std::string help = help_for(command, true);
        for (const WrittenGroup& group : command.options())
            for (const WrittenOption& option : group.options)
                expect_contains(help, "  --" + option.name + " ");
    }
}

}  // namespace
}  // namespace sotto::cli
