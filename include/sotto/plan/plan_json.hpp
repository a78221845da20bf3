#pragma once

#include <string>
#include <string_view>

#include "sotto/core/names.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// The words of the file.
inline constexpr NameTable<StreamDistribution, 2> stream_distributions{
    {{{StreamDistribution::gaussian, "gaussian"}, {StreamDistribution::laplace, "laplace"}}}};
inline constexpr NameTable<NoiseEntry, 2> noise_entries{
    {{{NoiseEntry::gradient, "gradient"}, {NoiseEntry::message, "message"}}}};
inline constexpr NameTable<Aggregation, 2> aggregations{
    {{{Aggregation::gossip, "gossip"}, {Aggregation::trusted_mean, "trusted-mean"}}}};

/// JSON text of a plan ("format": "sotto-plan", "version": 1); numbers round-trip exactly.
[[nodiscard]] std::string to_json(const NoisePlan& plan);
/// @throws DataError if the text is not a plan (with the reason), PrivacyError if it is invalid.
[[nodiscard]] NoisePlan plan_from_json(std::string_view text, const std::string& source);

}  // namespace sotto
