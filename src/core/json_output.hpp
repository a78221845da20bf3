#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sotto {

/// The value, or null where it is not finite: JSON has no such numbers.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

/// Null also where there is no value.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
    return value ? number_or_null(*value) : nlohmann::ordered_json();
}

/// As files and reports show it: two blanks a level, and the end of a line. Names of files need not
/// be UTF-8; what is not becomes a replacement character.
[[nodiscard]] inline std::string to_text(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sotto
