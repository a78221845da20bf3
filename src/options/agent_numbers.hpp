#pragma once

#include <string>
#include <vector>

#include "options/option_formats.hpp"

namespace sotto {

/// "a,b,...", before a graph says which agents there are; ascending.
/// @throws ConfigError naming the option for what is no number, and for an agent named twice.
[[nodiscard]] std::vector<int> parse_agent_numbers(const std::string& option,
                                                   const std::string& text);
[[nodiscard]] std::string agent_numbers_text(const std::vector<int>& agents);
/// Of an option that takes them; none are no text.
[[nodiscard]] OptionFormat<std::vector<int>> agent_numbers();

/// Agents whose views are recorded, and whether what all of them send is.
struct RecordedNames {
    std::vector<int> agents;  ///< ascending
    bool wire = false;
};
/// The same with the word `eavesdropper`, alone or among the numbers. @throws ConfigError.
[[nodiscard]] RecordedNames parse_recorded_names(const std::string& option,
                                                 const std::string& text);
/// Empty where nothing is recorded.
[[nodiscard]] std::string recorded_names_text(const RecordedNames& recorded);

}  // namespace sotto
