#include "learn/table_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sotto/core/error.hpp"
#include "sotto/core/text_input.hpp"

namespace sotto {

MissingPolicy parse_missing(std::string_view text) {
    using PolicyKind = MissingPolicy::Kind;
    if (text == "refuse") return {};
    if (text == "indicator") return {PolicyKind::indicator};
    constexpr std::string_view value = "value:";
    if (text.starts_with(value))
        return {PolicyKind::value, parse_real("missing", text.substr(value.size()))};
    const std::vector<std::string> allowed{"refuse", "indicator", "value:V"};
    throw unknown_name_error("missing", text, allowed);
}

std::string name_of(const MissingPolicy& policy) {
    switch (policy.kind) {
        case MissingPolicy::Kind::refuse:
            return "refuse";
        case MissingPolicy::Kind::indicator:
            return "indicator";
        case MissingPolicy::Kind::value:
            break;
    }
    return fmt::format("value:{}", policy.value);
}

std::vector<ColumnBounds> parse_bounds(const std::string& text) {
    std::vector<std::string> entries;
    std::error_code none;
    if (std::filesystem::is_regular_file(text, none)) {
        LineReader reader(text);
        for (std::string_view line; reader.next(line);) {
            line = line.substr(0, line.find('#'));
            if (line.find_first_not_of(" \t\r") != line.npos) entries.emplace_back(line);
        }
    } else {
        for (const std::string_view entry : split(text, ',')) entries.emplace_back(entry);
    }
    const auto stripped = [](std::string_view part) {
        const std::size_t first = part.find_first_not_of(" \t\r");
        if (first == part.npos) return std::string();
        return std::string(part.substr(first, part.find_last_not_of(" \t\r") - first + 1));
    };
    std::vector<ColumnBounds> bounds;
    for (const std::string& entry : entries) {
        const std::size_t equal = entry.rfind('='), colon = entry.rfind(':');
        if (equal == entry.npos || colon == entry.npos || colon < equal)
            throw ConfigError(fmt::format(
                "bounds: \"{}\" is not allowed (allowed: NAME=LOW:HIGH for every column of "
                "numbers, between commas, or a file with one a line)",
                entry.substr(0, 40)));
        const std::string_view numbers = std::string_view(entry).substr(equal + 1);
        const std::string name = stripped(std::string_view(entry).substr(0, equal));
        const std::string low = stripped(numbers.substr(0, colon - equal - 1)),
                          high = stripped(numbers.substr(colon - equal));
        bounds.push_back({name, parse_real("bounds", low), parse_real("bounds", high)});
        if (!(bounds.back().low < bounds.back().high))
            throw ConfigError(
                fmt::format("bounds: {}={}:{} is not allowed (the lower one must be "
                            "below the upper one)",
                            name,
                            low,
                            high));
        if (std::ranges::count(bounds, name, &ColumnBounds::column) > 1)
            throw ConfigError(fmt::format("bounds: column \"{}\" is there twice", name));
    }
    return bounds;
}

}  // namespace sotto
