// A subcommand of a user's own: `sotto greet`, which counts what it is told.

#include "commands/cli/command.hpp"
#include "options/option_parser.hpp"

namespace sotto {
namespace {

int greet(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options({}, arguments);
    return static_cast<int>(given.size()) + 41;
}

const Registered<cli::Command> greeting(cli::commands(),
                                        {.name = "greet",
                                         .summary = "say hello",
                                         .example = "sotto greet",
                                         .options = [] { return std::vector<WrittenGroup>(); },
                                         .run = greet});

}  // namespace
}  // namespace sotto
