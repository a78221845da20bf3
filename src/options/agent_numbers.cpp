#include "options/agent_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

constexpr std::string_view eavesdropper = "eavesdropper";

int parse_agent(const std::string& option, std::string_view word) {
    const long long agent = parse_integer(option, word);
    require_in_range(option, static_cast<double>(agent), 0, 1e6);
    return static_cast<int>(agent);
}

void sort_agents(const std::string& option, std::vector<int>& agents) {
    std::ranges::sort(agents);
    const auto repeated = std::ranges::adjacent_find(agents);
    if (repeated != agents.end())
        throw ConfigError(fmt::format("{}: agent {} is named twice", option, *repeated));
}

/// The parts between commas; a comma at the end adds none.
std::vector<std::string_view> list_items(std::string_view text) {
    std::vector<std::string_view> words = split(text, ',');
    if (words.back().empty()) words.pop_back();
    return words;
}

}  // namespace

std::vector<int> parse_agent_numbers(const std::string& option, const std::string& text) {
    std::vector<int> agents;
    for (const std::string_view word : list_items(text))
        agents.push_back(parse_agent(option, word));
    sort_agents(option, agents);
    return agents;
}

std::string agent_numbers_text(const std::vector<int>& agents) {
    return fmt::format("{}", fmt::join(agents, ","));
}

OptionFormat<std::vector<int>> agent_numbers() {
    return {"", parse_agent_numbers, agent_numbers_text};
}

RecordedNames parse_recorded_names(const std::string& option, const std::string& text) {
    RecordedNames recorded;
    for (const std::string_view word : list_items(text)) {
        if (word == eavesdropper) {
            if (recorded.wire)
                throw ConfigError(fmt::format("{}: {} is named twice", option, eavesdropper));
            recorded.wire = true;
            continue;
        }
        if (word.empty() || word.find_first_not_of("-0123456789") != std::string::npos)
            throw ConfigError(fmt::format(
                "{}: '{}' is neither an agent's number nor '{}'", option, word, eavesdropper));
        recorded.agents.push_back(parse_agent(option, word));
    }
    if (recorded.agents.empty() && !recorded.wire)
        throw ConfigError(fmt::format(
            "{}: no agent is named (example: 2,5; also allowed: {})", option, eavesdropper));
    sort_agents(option, recorded.agents);
    return recorded;
}

std::string recorded_names_text(const RecordedNames& recorded) {
    std::string text = agent_numbers_text(recorded.agents);
    if (recorded.wire) text += fmt::format("{}{}", text.empty() ? "" : ",", eavesdropper);
    return text;
}

}  // namespace sotto
