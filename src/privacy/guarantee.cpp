#include "sotto/privacy/guarantee.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sotto {

Guarantee guarantee_of(const PrivacyLoss& loss, double delta) {
    return {loss, delta, loss.epsilon(delta).upper};
}

Guarantee guarantee_of(const NoisePlan& plan, double distance, double delta) {
    const StreamDistribution noise = plan.distribution();
    return guarantee_of(loss_of_distance(noise, distance), stated_delta(noise, delta));
}

Guarantee guarantee_of(const NoisePlan& plan,
                       const Exposure& exposure,
                       double squared,
                       double delta) {
    const StreamDistribution noise = plan.distribution();
    const double distance = exposure.sensitivity * std::sqrt(squared);
    return guarantee_of(loss_of_rounds(noise,
                                       distance * distance,
                                       exposure.sampling_probability,
                                       std::lround(exposure.sensitivity_squared_over_rounds)),
                        stated_delta(noise, delta));
}

const Guarantee& largest(std::span<const Guarantee> all) {
    return *std::ranges::max_element(all, std::less());
}

}  // namespace sotto
