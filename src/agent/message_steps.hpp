#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/neighbour_exchange.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// How far messages move: the root mean square, over agents and coordinates, of a message's
/// difference from the message one exchange earlier.
struct MessageMotion {
    std::vector<double> of_round;  ///< of each of a round's K exchanges
    std::vector<double> of_final;  ///< of each exchange of final gossip
};

/// What drives messages, apart from the step size.
struct MessageDrive {
    const NoisePlan& plan;  ///< whose noise enters the gradient
    const MixingMatrix& mixing;
    GossipPolynomial gossip{1}, final_gossip{0};
    double momentum = 0;
    Correction correction = Correction::none;  ///< none or exact diffusion
    double gradient_std = 0;  ///< of a coordinate of a contribution, >= 0 [gradient unit]
    long rounds = 1;
};

/// Motion for step size 1, by running the rounds on scalars: the plan's noise with random signs in
/// place of normals, contributions of gradient_std, and rounding to usual steps. Within 2% of the
/// expectation. Depends on nothing but public values, and is the same on every machine but for the
/// last digits. Cost: mixing and noise of 192 rounds of at least 4000 values.
[[nodiscard]] MessageMotion predicted_motion(const MessageDrive& drive);

/// Steps of the grids on which messages' differences are sent, powers of two, the same on every
/// process: 0.42 to 0.84 of the predicted motion, and from round to round in proportion to the step
/// size, down to 2^-6 of the largest. With normal differences at most one in 600 is beyond 7 steps.
class MessageSteps {
  public:
    /// Weights of mixing are whole multiples of this; sums are then exact.
    static constexpr double weight_unit = 0x1p-20;
    /// Largest sum of an agent's absolute weights.
    static constexpr double most_weight = 4;

    MessageSteps(const MessageMotion& motion, const StepSchedule& steps, long rounds);
    /// Inverse of text(). @throws ConfigError.
    [[nodiscard]] static MessageSteps parse(std::string_view text, long rounds);
    [[nodiscard]] std::string text() const;

    /// Of an exchange of a round or, from round `rounds` on, of final gossip.
    /// @throws Error for an exchange that the motion has not.
    [[nodiscard]] double at(ExchangeId id) const;
    /// Largest value of a message: nearly 2^30 of the smallest steps.
    [[nodiscard]] double limit() const;
    /// Whether no step is more than a factor of 2 from the other's.
    [[nodiscard]] bool near(const MessageSteps& other) const;

  private:
    explicit MessageSteps(long rounds) : rounds_(rounds) {}
    [[nodiscard]] int exponent(ExchangeId id) const;
    [[nodiscard]] int smallest_exponent() const;
    [[nodiscard]] int halvings_at(long round) const;

    long rounds_;
    std::vector<int> of_round_, of_final_;        // exponents at the largest step size
    std::vector<std::pair<long, int>> halvings_;  // from this round on; rounds ascend from 0
};

}  // namespace sotto
