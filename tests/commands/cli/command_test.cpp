#include "commands/cli/command.hpp"

#include <gtest/gtest.h>

namespace sotto::cli {
namespace {

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

}  // namespace
}  // namespace sotto::cli
