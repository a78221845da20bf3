#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/privacy/sampled_gaussian.hpp"

namespace sotto {

/// What secretly sampled rounds cost.
struct SampledConversion {
    std::vector<SampledRounds> rounds;
    double epsilon = 0;        ///< certified from above
    double epsilon_lower = 0;  ///< no epsilon below it holds
    double delta = 0;
};

/// S:q:T,S:q:T: noise multiplier, sampling probability and rounds of every phase.
/// @throws ConfigError naming the option and what is wrong.
[[nodiscard]] std::vector<SampledRounds> parse_sampled_rounds(std::string_view option,
                                                              std::string_view text);

/// @throws ConfigError unless 0 < q <= 1.
void require_sampling_probability(std::string_view option, double probability);

[[nodiscard]] SampledConversion convert_sampled_rounds(std::span<const SampledRounds> rounds,
                                                       double delta);
/// With the smallest noise multiplier that keeps `count` rounds within `epsilon`.
[[nodiscard]] SampledConversion convert_sampled_budget(double epsilon,
                                                       double delta,
                                                       double probability,
                                                       long count);

/// The JSON object, as text, and the same for people. Figures that phases do not have in common
/// are null.
[[nodiscard]] std::string sampled_conversion_json(const SampledConversion& conversion);
[[nodiscard]] std::string sampled_conversion_text(const SampledConversion& conversion);

}  // namespace sotto
