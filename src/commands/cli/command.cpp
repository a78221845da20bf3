#include "commands/cli/command.hpp"

#include <fmt/format.h>

#include "options/option_parser.hpp"
#include "sotto/net/launch_environment.hpp"

namespace sotto::cli {

std::string help_for(const Command& command) {
    const std::vector<WrittenGroup> options = command.options();
    return fmt::format("sotto {}: {}\n\nusage: sotto {}{} [options]\n{}\nexample: {}\n",
                       command.name,
                       command.summary,
                       command.name,
                       positional_usage(options),
                       help_text(options),
                       command.example);
}

}  // namespace sotto::cli
