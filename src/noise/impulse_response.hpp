#pragma once

#include "sotto/noise/smoothing.hpp"

namespace sotto {

/// How noise of one round shows in what agents end up with, by its age: g_1 is that of the last
/// round. In a mode in which a round's mixing multiplies by p,
///
///     h_a = sum_{i<a} B^i p^(a-i)            in the model after a rounds (B the momentum),
///     g_a = sum_{j<a} alpha_j h_(a-j)        in the mean with weights alpha_j of the model j rounds
///                                            before the last.
///
/// Final gossip multiplies all of them and is left out. `Value`: a number, a complex one for
/// derivatives, or a square matrix p = P_K(W).
template <class Value>
class ImpulseResponse {
  public:
    /// @param one 1, or the identity.
    ImpulseResponse(const Smoothing& smoothing, long rounds, Value mixed, const Value& one)
        : smoothing_(smoothing),
          tail_(smoothing.average.kind == ModelAverage::Kind::tail
                    ? smoothing.average.tail_rounds(rounds)
                    : 1),
          mixed_(std::move(mixed)),
          one_(one),
          recent_(0.0 * one),
          left_(0.0 * one),
          sum_(0.0 * one) {}

    /// g_1, g_2, ... at every call.
    const Value& next() {
        ++age_;
        advance(recent_, recent_weight_);
        switch (smoothing_.average.kind) {
            case ModelAverage::Kind::none:
                return recent_;
            case ModelAverage::Kind::tail:
                sum_ += recent_ / static_cast<double>(tail_);
                if (age_ > tail_) {
                    advance(left_, left_weight_);
                    sum_ -= left_ / static_cast<double>(tail_);
                }
                return sum_;
            case ModelAverage::Kind::exponential:
                break;
        }
        const double decay = smoothing_.average.value;
        sum_ = decay * sum_ + (1 - decay) * recent_;
        return sum_;
    }

  private:
    /// h_a = p (h_(a-1) + B^(a-1)).
    void advance(Value& response, double& weight) {
        response += weight * one_;
        response = Value(response * mixed_);
        weight *= smoothing_.momentum;
    }

    const Smoothing& smoothing_;
    long tail_, age_ = 0;
    Value mixed_, one_;
    Value recent_;                            // h_a
    Value left_;                              // h_(a-tail): what has left the window
    double recent_weight_ = 1, left_weight_ = 1;  // B^(a-1)
    Value sum_;
};

}  // namespace sotto
