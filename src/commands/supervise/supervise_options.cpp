#include "commands/supervise/supervise_options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "options/option_set.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

constexpr long most_seconds = 1'000'000;

OptionFormat<RestartDelay> delay_format() {
    OptionFormat<RestartDelay> format;
    format.allowed = "FIRST:MOST";
    format.read = parse_restart_delay;
    format.write = restart_delay_text;
    return format;
}

}  // namespace

RestartDelay parse_restart_delay(const std::string& option, const std::string& text) {
    RestartDelay delay;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, delay.first);
    const bool begun = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
    const auto most =
        begun ? std::from_chars(first.ptr + 1, end, delay.most) : std::from_chars_result{};
    if (!begun || most.ec != std::errc() || most.ptr != end || delay.first < 0 ||
        delay.first > most_seconds || delay.most < 0 || delay.most > most_seconds)
        throw ConfigError(
            fmt::format("{}: '{}' is not FIRST:MOST, two whole numbers of seconds from 0 to {}",
                        option,
                        text,
                        most_seconds));
    return delay;
}

std::string restart_delay_text(const RestartDelay& delay) {
    return fmt::format("{}:{}", delay.first, delay.most);
}

OptionSet<SuperviseConfig> supervise_option_set() {
    return OptionSet<SuperviseConfig>().add(option_group<SuperviseConfig>(
        "Supervise",
        {{{{.name = "command",
            .help = "the command line that starts sotto, after --",
            .details = R"(
It is a launcher with its options, followed by sotto, one of its commands and that command's options, as you would type
them: `sotto supervise -- mpirun -n 20 sotto train --data a9a.gz`.)",
            .positional = true},
           bound(&SuperviseConfig::command, path_list())},
          {{.name = "max-restarts",
            .help = "how often a training is restarted (0: never; any command of sotto can then be "
                    "supervised)",
            .details = R"(
A training is restarted after exit codes for failures that may not happen again: a rank, a host or the network was lost
([clusters](../cluster.md#restarting-by-itself)).)"},
           bound(&SuperviseConfig::max_restarts, whole(0, 1'000'000))},
          {{.name = "restart-delay",
            .help = "seconds before a restart, FIRST:MOST: FIRST, then each time twice as long, up "
                    "to MOST"},
           bound(&SuperviseConfig::delay, delay_format())},
          {{.name = "host-wait",
            .help = "seconds to wait before a restart for hosts that do not answer"},
           bound(&SuperviseConfig::host_wait, whole(0, most_seconds))},
          {{.name = "min-agents",
            .help = "after --host-wait, go on without the agents of those hosts if at least this "
                    "many are left"},
           bound(&SuperviseConfig::min_agents, whole(1, 1'000'000'000))}}}));
}

}  // namespace sotto::cli
