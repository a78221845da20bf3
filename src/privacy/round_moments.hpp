#pragma once

// Moments of the loss of sampled rounds: where to look for epsilon, not what is claimed; not
// installed.

#include <span>
#include <vector>

#include "privacy/exact_parts.hpp"
#include "sotto/privacy/sampled_gaussian.hpp"

namespace sotto {

enum class Direction { remove, add };

/// Logarithms of moments, by the trapezoidal rule over the noise.
class RoundMoments {
  public:
    /// @param rounds with 0 < q < 1.  @param tail of the record's distribution that is left out.
    RoundMoments(std::span<const SampledRounds> rounds, const ExactParts& exact, double tail);

    /// log E e^(tilt X), X the loss of everything in this direction. @param tilt > 0.
    [[nodiscard]] double log_moment(Direction direction, double tilt) const;

  private:
    struct Group {
        double count = 0;
        std::vector<double> losses, log_under_p, log_under_q;
    };
    std::vector<Group> groups_;
    ExactParts exact_;
};

/// The tilt of the least of Chernoff's bounds, and the epsilon or log(delta) that it has.
struct TiltedEstimate {
    double tilt = 0;
    double value = 0;
};
/// The epsilon at this delta, from above (negative where delta is met by 0).
[[nodiscard]] TiltedEstimate estimate_epsilon(const RoundMoments& moments,
                                              Direction direction,
                                              double delta);
/// The logarithm of delta at this epsilon, from above.
[[nodiscard]] TiltedEstimate estimate_log_delta(const RoundMoments& moments,
                                                Direction direction,
                                                double epsilon);

}  // namespace sotto
