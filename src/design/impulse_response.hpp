#pragma once

#include "sotto/design/smoothing.hpp"

namespace sotto {

/// How noise of one round shows in what agents end up with, by its age: g_1 is that of the last
/// round. In a mode in which a round's mixing multiplies by p,
///
///     h_a = sum_{i<a} B^i p^(a-i)            in the model after a rounds (B the momentum),
///     g_a = sum_{j<a} alpha_j h_(a-j)        in the mean with weights alpha_j of the model j
///     rounds
///                                            before the last.
///
/// Final gossip multiplies all of them and is left out. `Value`: a number, a complex one for
/// derivatives, or a square matrix p = P_K(W).
template <class Value>
class ImpulseResponse {
  public:
    /// @param one 1, or the identity.
    ImpulseResponse(const Smoothing& smoothing, Value mixed, const Value& one)
        : smoothing_(smoothing),
          mixed_(std::move(mixed)),
          one_(one),
          recent_(0.0 * one),
          left_(0.0 * one),
          sum_(0.0 * one) {}

    /// g_1, g_2, ... at every call.
    const Value& next() {
        ++age_;
        advance(recent_, recent_weight_);
        if (!smoothing_.averages()) return recent_;
        if (smoothing_.decay > 0) {
            sum_ = smoothing_.decay * sum_ + (1 - smoothing_.decay) * recent_;
            return sum_;
        }
        const auto tail = static_cast<double>(smoothing_.tail_rounds);
        sum_ += recent_ / tail;
        if (age_ > smoothing_.tail_rounds) {
            advance(left_, left_weight_);
            sum_ -= left_ / tail;
        }
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
    long age_ = 0;
    Value mixed_, one_;
    Value recent_;                                // h_a
    Value left_;                                  // h_(a-J): what has left the tail
    double recent_weight_ = 1, left_weight_ = 1;  // B^(a-1)
    Value sum_;
};

}  // namespace sotto
