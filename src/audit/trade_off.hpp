#pragma once

#include <vector>

#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// What a privacy loss allows any test between two neighbouring inputs: for every epsilon,
///
///     TPR <= e^epsilon FPR + delta(epsilon),    1 - FPR <= e^epsilon (1 - TPR) + delta(epsilon).
///
/// Certified: delta is taken from above, on 24 epsilons from 0 to the one that holds at `delta`.
class TradeOff {
  public:
    /// @param loss finite.  @param delta in (0, 1). Cost: 24 times PrivacyLoss::delta.
    TradeOff(const PrivacyLoss& loss, double delta);

    /// The largest rate of true positives of a test with this rate of false positives, in [0, 1].
    [[nodiscard]] double true_positive_rate(double false_positive_rate) const;

  private:
    struct Point {
        double epsilon = 0, delta = 0;
    };
    std::vector<Point> points_;
};

}  // namespace sotto
