#include "commands/cli/command.hpp"

#include <fmt/format.h>

#include "net/mpi_session.hpp"
#include "options/option_parser.hpp"

namespace sotto::cli {

namespace {

constexpr std::size_t most_options_at_once = 25;

std::size_t count(const std::vector<WrittenGroup>& groups) {
    std::size_t options = 0;
    for (const WrittenGroup& group : groups) options += group.options.size();
    return options;
}

std::vector<WrittenGroup> common(std::vector<WrittenGroup> groups) {
    for (WrittenGroup& group : groups)
        std::erase_if(group.options, [](const WrittenOption& option) { return !option.common; });
    std::erase_if(groups, [](const WrittenGroup& group) { return group.options.empty(); });
    return groups;
}

}  // namespace

std::string help_for(const Command& command, bool all) {
    const std::vector<WrittenGroup> options = command.options();
    const std::size_t number = count(options);
    const bool some = !all && number > most_options_at_once;
    return fmt::format(
        "sotto {}: {}\n\nusage: sotto {}{} [options]\n{}{}\nexample: {}\n",
        command.name,
        command.summary,
        command.name,
        positional_usage(options),
        help_text(some ? common(options) : options),
        some ? fmt::format("\n`sotto {} --help all` shows all {} options.\n", command.name, number)
             : "",
        command.example);
}

Registry<Command>& commands() {
    static Registry<Command> table("command",
                                   {graph_command(),
                                    plan_command(),
                                    account_command(),
                                    train_command(),
                                    sweep_command(),
                                    predict_command(),
                                    compare_command(),
                                    ledger_command(),
                                    report_command(),
                                    watch_command(),
                                    audit_command(),
                                    doctor_command(),
                                    supervise_command(),
                                    keygen_command()});
    return table;
}

}  // namespace sotto::cli
