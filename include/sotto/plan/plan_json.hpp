#pragma once

#include <string>
#include <string_view>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// JSON text of a plan ("format": "sotto-plan", "version": 1); numbers round-trip exactly.
[[nodiscard]] std::string to_json(const NoisePlan& plan);
/// @throws DataError if the text is not a plan (with the reason), PrivacyError if it is invalid.
[[nodiscard]] NoisePlan plan_from_json(std::string_view text, const std::string& source);

}  // namespace sotto
