#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "agent/honest_spread.hpp"
#include "agent/robust_rule.hpp"
#include "agent/shared_noise_check.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// What an agent noticed about one of its neighbours.
struct Suspicion {
    int receiver = 0, sender = 0;  ///< places
    std::int64_t rounds = 0;       ///< whose messages were compared
    std::int64_t beyond = 0;       ///< of these: the average difference was beyond its bound
    std::int64_t messages = 0;     ///< in all exchanges
    std::int64_t shortened = 0;    ///< of these: the difference was above the limit
    bool noise_tested = false;     ///< they are tested for the noise that both share
    bool lacks_noise = false;  ///< they did not hold the noise that both share (SharedNoiseCheck)
    /// They lack noise, or were beyond in more than a tenth of at least ten rounds. Where nobody
    /// lies, and contributions differ no more than the median says, the latter is below 1e-3
    /// likely: expected is a part of 1e-4 (Markov's inequality).
    [[nodiscard]] bool suspected() const {
        return lacks_noise || (rounds >= 10 && 10 * beyond > rounds);
    }
};

/// sum_j w_j m_j without the F largest and F smallest values of every coordinate; weights of what
/// is left out, and of messages that have not come (null), go to the own value, which always
/// counts. Yin, Chen, Ramchandran, Bartlett 2018, here within a closed neighbourhood.
/// @param own place of the receiver.
void trimmed_sum(std::span<const double* const> columns,
                 std::span<const double> weights,
                 std::size_t own,
                 int trimmed,
                 std::span<double> result);

/// Mixes messages of neighbours that may lie. Clip is ClippedGossip (He, Karimireddy, Jaggi 2022),
///
///     x_u <- m_u + sum_v w_uv f_uv (z_uv - e_uv),   z_uv = clip(m_v - m_u, tau_uv),
///
/// clip(z, tau) = z min(1, tau/|z|), f = 1 and e = 0, of whole messages: a receiver keeps them
/// until the last piece is there. With limits from the plan (HonestSpread) noise of honest agents
/// cancels as without the rule. But where it is loud, a lie below tau in every round adds up over
/// rounds. Therefore, with the average a_uv of z_uv over the last H rounds and its bound b_uv,
///
///     e = (1 - k(|a|/b)) a,   k(r) = 1 for r <= 1,   2/r - 1 up to r = 2,   0 beyond,
///     f = k(|a'|/b),   a' the average of z - e:
///
/// what a neighbour says all the time is left out, and noise that it shares with others still
/// cancels; one that lies in a new way is not heard until that is known. Nor is one (f = 0) of
/// whose recent messages more than a quarter were above tau, of which an honest one has 1%.
///
/// |a|, |a'| and b are what exceeds the expected noise: |a|^2 stands for |a|^2 less its
/// expectation, b^2 for what noise has beyond that with a probability of 1e-4, and four times the
/// median of |a|^2 over u's neighbours, an estimate of how models and gradients of honest agents
/// differ, which holds while fewer than half of the neighbours lie. Where the median of |m_v -
/// m_u|/tau_uv is above 1/1.2, tau grows with it: lies drive models of honest agents apart. Limits
/// from the plan have 2.5e-7 |m_u| of room for rounding.
///
/// By any rule, a neighbour whose messages lack the noise that it shares with the receiver is no
/// longer heard, and the weight of its messages goes to the receiver's own.
class RobustMixing {
  public:
    /// @param agents places of the local agents.
    /// @param spread with limits that follow from the plan.
    /// @param exchanges of a round.
    RobustMixing(const RobustRule& rule,
                 const MixingMatrix& mixing,
                 std::vector<int> agents,
                 Eigen::Index dimension,
                 std::optional<HonestSpread> spread,
                 int exchanges);

    /// From the next round on. @param check of the same agents.
    void check_shared_noise(SharedNoiseCheck check) { check_.emplace(std::move(check)); }
    /// Rounds before the first one have passed without this object.
    /// @param noise_round its number within the key epoch.
    void begin_round(long round,
                     const StepSchedule& steps,
                     std::uint32_t epoch = 0,
                     std::uint64_t noise_round = 0);
    /// Messages that follow hold no noise of a round: those of final gossip.
    void end_rounds() { in_round_ = false; }
    /// Coordinates [first, first + count) of the messages of one exchange, as Delivery gives them.
    /// May be called for different agents at once.
    /// @param exchange within the round; those of final gossip count as the round's last.
    /// @param own the agent's own message, whole.
    /// @param model the agent's in the round's first exchange; receives the mixture, whole.
    /// @return whether all of it is there now; trimmed sums: of these coordinates.
    bool mix(int exchange,
             std::size_t local,
             Eigen::Index first,
             Eigen::Index count,
             std::span<const double* const> columns,
             const double* own,
             double* model);

    [[nodiscard]] bool whole_messages() const { return rule_.keeps_messages(); }
    /// Of all neighbours of the local agents.
    [[nodiscard]] std::vector<Suspicion> suspicions() const;
    /// Vectors kept for every member of a receiver's closed neighbourhood.
    [[nodiscard]] static int vectors_per_member(const RobustRule& rule) {
        constexpr int shared_noise = 1;
        return shared_noise + (rule.keeps_messages() ? rule.limits_from_plan() ? 3 : 1 : 0);
    }

  private:
    struct Receiver {
        int agent = 0;
        std::vector<int> members;
        std::vector<double> weights;
        std::size_t own = 0;
        Eigen::MatrixXd heard;           // d x members
        std::vector<std::uint8_t> came;  // whether a message has
        // With limits from the plan, d x members: a and a'.
        Eigen::MatrixXd averages, used;
        std::vector<double> kept, counts;  // k of a, f; by member
        std::vector<double> loud;          // average of whether messages were above tau
        std::vector<Suspicion> noticed;
    };
    void compare_averages(Receiver& receiver);
    /// The messages without those of neighbours that failed the test.
    [[nodiscard]] std::vector<const double*> tested(int exchange,
                                                    std::size_t local,
                                                    Eigen::Index first,
                                                    Eigen::Index count,
                                                    std::span<const double* const> columns,
                                                    const double* model);
    /// Factor of all limits of a receiver, at least 1.
    [[nodiscard]] double stretch(int exchange, const Receiver& receiver, double norm_of_own) const;
    /// Leaves what counts of m_v - m_u, without f.
    /// @param most tau.  @param difference m_v - m_u.
    void take_part(int exchange,
                   Receiver& receiver,
                   std::size_t member,
                   double most,
                   Eigen::Ref<Eigen::VectorXd> difference);
    void mix_clipped(int exchange,
                     Receiver& receiver,
                     Eigen::Map<const Eigen::VectorXd> own,
                     Eigen::Map<Eigen::VectorXd> model);
    /// tau, of a plan with room for rounding.
    [[nodiscard]] double limit(int exchange,
                               const Receiver& receiver,
                               std::size_t member,
                               double norm_of_own) const;

    RobustRule rule_;
    std::optional<HonestSpread> spread_;
    std::optional<SharedNoiseCheck> check_;
    int exchanges_;
    bool in_round_ = false;
    long next_round_ = 0;
    std::vector<Receiver> receivers_;
};

/// k(r) above.
[[nodiscard]] double kept_of_average(double norm, double bound);

}  // namespace sotto
