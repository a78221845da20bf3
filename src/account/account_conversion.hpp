#pragma once

#include <string>

namespace sotto {

/// A guarantee against one Gaussian observation, in all its units.
struct Conversion {
    double mu = 0, epsilon = 0, delta = 0;
    double rdp_epsilon = 0;  ///< by Renyi divergence
};
/// @param mu, epsilon > 0.  @param delta in (0, 1).
[[nodiscard]] Conversion convert_mu(double mu, double delta);
[[nodiscard]] Conversion convert_epsilon(double epsilon, double delta);

/// The JSON object, as text, and the same for people.
[[nodiscard]] std::string conversion_json(const Conversion& conversion);
[[nodiscard]] std::string conversion_text(const Conversion& conversion);

}  // namespace sotto
