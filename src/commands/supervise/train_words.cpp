#include "commands/supervise/train_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "options/agent_numbers.hpp"
#include "options/general_options.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"

namespace sotto::cli {

namespace {

/// Those that stay: an option has its value in the same word or in the next.
std::vector<std::string> but_without(const std::vector<std::string>& words) {
    std::vector<std::string> kept;
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (words[at] == "--without")
            ++at;
        else if (!words[at].starts_with("--without="))
            kept.push_back(words[at]);
    }
    return kept;
}

}  // namespace

TrainWords read_train_words(const std::vector<std::string>& words) {
    const OptionTexts given = parse_options(with_general(train_option_set().written()), words);
    const auto value = [&](const char* name) {
        const auto place = given.find(name);
        return place == given.end() ? std::nullopt : std::optional(place->second);
    };
    TrainWords read;
    read.options = but_without(words);
    if (const auto json = value("json")) read.beside.push_back("--json=" + *json);
    for (const char* flag : {"quiet", "verbose"})
        if (value(flag) == "true") read.beside.push_back(std::string("--") + flag);
    // Opens copies of the checkpoints of a host that lost its disk: taken from nobody else.
    if (const auto identity = value("identity")) read.beside.push_back("--identity=" + *identity);
    if (const auto agents = value("without"))
        read.without = parse_agent_numbers("without", *agents);
    read.directory = value("run-directory");
    read.resume = value("resume");
    read.has_interval = value("checkpoint-every").has_value();
    read.dry_run = value("dry-run") == "true";
    return read;
}

std::vector<std::string> without_words(const std::vector<int>& agents) {
    if (agents.empty()) return {};
    return {"--without", fmt::format("{}", fmt::join(agents, ","))};
}

}  // namespace sotto::cli
