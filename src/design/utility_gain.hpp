#pragma once

#include <complex>

#include "sotto/design/smoothing.hpp"
#include "sotto/design/utility.hpp"

namespace sotto {

/// w_a as a function of the age a = 1 .. length: ones, or T + 1 - a.
struct UtilityWeights {
    long length = 1;
    bool decreasing = false;
    [[nodiscard]] double at(long age) const {
        return decreasing ? static_cast<double>(length + 1 - age) : 1.0;
    }
};
[[nodiscard]] UtilityWeights utility_weights(const Utility& utility, long rounds);

/// The part of it that a utility counts: `final` all, the others, which are about the models that
/// gradients are taken at, the momentum.
[[nodiscard]] Smoothing counted_smoothing(const Utility& utility, Smoothing smoothing);

/// The eigenvalue of M that belongs to an eigenvalue x of a symmetric W: s(x) = sum_a w_a g_a(x)^2.
class UtilityGain {
  public:
    UtilityGain(const Utility& utility, long rounds, GossipPolynomial gossip, Smoothing smoothing);
    /// Cost: O(rounds that count).
    [[nodiscard]] double at(double eigenvalue) const;
    /// s'(x), to rounding (by a step of 1e-100 i).
    [[nodiscard]] double derivative_at(double eigenvalue) const;

  private:
    template <class Value>
    [[nodiscard]] Value gain(const Value& eigenvalue) const;

    UtilityWeights weights_;
    GossipPolynomial gossip_;
    Smoothing smoothing_;
};

}  // namespace sotto
