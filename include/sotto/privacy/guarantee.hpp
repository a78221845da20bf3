#pragma once

#include <span>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/exposure.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// What is guaranteed of one agent against one observer.
struct Guarantee {
    PrivacyLoss loss;
    double delta = 0;    ///< of the budget
    double epsilon = 0;  ///< of the loss at that delta, certified from above; may be infinite
    [[nodiscard]] bool infinite() const { return loss.infinite(); }
    /// Whether less is revealed than by `other`; both at one delta.
    [[nodiscard]] bool operator<(const Guarantee& other) const {
        return loss.less_at(delta, other.loss);
    }
};
[[nodiscard]] Guarantee guarantee_of(const PrivacyLoss& loss, double delta);
/// Of messages that lie Delta_u sqrt(sens2_u precision_u) apart under the noise of a plan
/// (loss_of_distance, stated_delta).
[[nodiscard]] Guarantee guarantee_of(const NoisePlan& plan, double distance, double delta);
/// The same of one agent against an observer who knows `squared` = sens2_u precision_u; with
/// Poisson sampling of sens2_u rounds that are alike (loss_of_rounds).
[[nodiscard]] Guarantee guarantee_of(const NoisePlan& plan,
                                     const Exposure& exposure,
                                     double squared,
                                     double delta);

/// The first of those than which none is larger. @param all not empty.
[[nodiscard]] const Guarantee& largest(std::span<const Guarantee> all);

}  // namespace sotto
