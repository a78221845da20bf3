#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace sotto {

/// The value, or null where it is not finite: JSON has no such numbers.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

/// Null also where there is no value.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
    return value ? number_or_null(*value) : nlohmann::ordered_json();
}

}  // namespace sotto
