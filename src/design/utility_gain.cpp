#include "design/utility_gain.hpp"

#include <utility>

#include "design/impulse_response.hpp"

namespace sotto {

UtilityWeights utility_weights(const Utility& utility, long rounds) {
    switch (utility.kind) {
        case Utility::Kind::one_step:
            return {1, false};
        case Utility::Kind::horizon:
            return {utility.horizon, false};
        case Utility::Kind::trajectory:
            return {rounds, true};
        case Utility::Kind::final_model:
            return {rounds, false};
    }
    return {};
}

Smoothing counted_smoothing(const Utility& utility, Smoothing smoothing) {
    if (utility.kind == Utility::Kind::final_model) return smoothing;
    Smoothing counted;
    counted.momentum = smoothing.momentum;
    return counted;
}

UtilityGain::UtilityGain(const Utility& utility,
                         long rounds,
                         GossipPolynomial gossip,
                         Smoothing smoothing)
    : weights_(utility_weights(utility, rounds)),
      gossip_(std::move(gossip)),
      smoothing_(counted_smoothing(utility, std::move(smoothing))) {}

template <class Value>
Value UtilityGain::gain(const Value& eigenvalue) const {
    const Value mixed = gossip_.at(eigenvalue);
    const Value after = smoothing_.final_gossip.at(eigenvalue);
    ImpulseResponse<Value> response(smoothing_, mixed, Value(1));
    const bool lasting = smoothing_.momentum > 0 || smoothing_.averages();
    Value sum = 0;
    for (long age = 1; age <= weights_.length; ++age) {
        const Value& now = response.next();
        if (!lasting && now == Value(0)) break;  // and so are all that follow
        sum += weights_.at(age) * now * now;
    }
    return sum * after * after;
}

double UtilityGain::at(double eigenvalue) const { return gain(eigenvalue); }

double UtilityGain::derivative_at(double eigenvalue) const {
    constexpr double step = 1e-100;
    return gain(std::complex<double>(eigenvalue, step)).imag() / step;
}

}  // namespace sotto
