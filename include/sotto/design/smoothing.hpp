#pragma once

#include <string>
#include <string_view>

#include "sotto/graph/gossip.hpp"

namespace sotto {

/// Which mean of its models an agent ends up with.
struct ModelAverage {
    enum class Kind {
        none,         ///< the last model
        tail,         ///< the mean of the last `value` T rounds' models, 0 < value <= 1
        exponential,  ///< y <- value y + (1 - value) x after every round, 0 <= value < 1
    };
    Kind kind = Kind::none;
    double value = 0;

    [[nodiscard]] bool none() const { return kind == Kind::none; }
    /// Models of how many rounds a tail has, of T: ceil(value T), at least 1.
    [[nodiscard]] long tail_rounds(long rounds) const;
    [[nodiscard]] bool operator==(const ModelAverage&) const = default;
};
/// "none", "tail:F", "ema:B". @throws ConfigError.
[[nodiscard]] ModelAverage parse_average(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(const ModelAverage& average);

/// What an agent does with noisy gradients and models beside mixing. It is a function of what the
/// accountant has counted and costs no privacy; it changes how much noise is left.
struct Smoothing {
    double momentum = 0;   ///< B in [0, 1): u <- B u + g + v, x <- P(x - eta u)
    long tail_rounds = 1;  ///< J >= 1: agents end up with the mean of the last J rounds' models,
    double decay = 0;      ///< or, above 0, with y, y <- decay y + (1 - decay) x after every round
    GossipPolynomial final_gossip{0};  ///< L exchanges of what that gives, after the last round

    /// Agents end up with a mean of models, not with the last.
    [[nodiscard]] bool averages() const { return tail_rounds > 1 || decay > 0; }
    /// All is as if there were none.
    [[nodiscard]] bool none() const {
        return momentum == 0 && !averages() && final_gossip.steps() == 0;
    }
    /// With this mean of models, in a training of so many rounds.
    void set_average(const ModelAverage& average, long rounds);
};

}  // namespace sotto
