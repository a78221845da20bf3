#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/local_agent.hpp"
#include "agent/round_faults.hpp"
#include "net/message_precision.hpp"
#include "net/neighbour_exchange.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// What every agent does to its messages, by place; nothing: it is honest.
using LiesByPlace = std::vector<std::optional<Lie>>;

/// What the agents of a process that lie send (--faults lie:...), for experiments. Their own models
/// are those of honest agents. With x the liar's model at the beginning of a round, m_k its honest
/// message in the round's k-th exchange, s the strength, and M_k and D_k mean and standard
/// deviation, coordinate by coordinate, of what its honest neighbours sent in that exchange a round
/// ago:
///
///     sign-flip       x - s (m_k - x)
///     noise           x + s |m_k - x| z / sqrt(d),  z standard normal
///     little          M_k - s D_k      (Baruch, Baruch, Goldberg 2019, "A little is enough")
///     inner-product   x - s U_k        (Xie, Koyejo, Gupta 2019), U_k the average of M_k - x over
///                                      about the last 20 rounds
///
/// Label flips change its gradient, in change_gradient(), and no-pair-noise and wrong-sign its
/// noise, in plan_of_liars().
class Liars final : public RoundObserver {
  public:
    /// @param lies of all agents.  @param agents of this process.  @param seed of the run.
    Liars(LiesByPlace lies,
          std::span<const LocalAgent> agents,
          const MixingSchedule& mixing,
          Eigen::Index dimension,
          std::uint64_t seed);

    [[nodiscard]] bool lies(int agent) const {
        return lies_[static_cast<std::size_t>(agent)].has_value();
    }
    /// Makes the gradient what a liar claims it to be.
    void change_gradient(int agent, Eigen::Ref<Eigen::VectorXd> gradient) const;
    /// @param models x, d x local agents.
    void begin_round(const Eigen::MatrixXd& models);
    /// Replaces messages of local liars by lies, within the limit.
    /// @param messages m_k, d x local agents.  @param limit largest value of a message.
    void lie(ExchangeId id,
             const Eigen::MatrixXd& messages,
             double limit,
             MessagePrecision precision,
             std::span<Outgoing> outgoing);

    void on_message(long, std::size_t, const OwnRound&) override {}
    void on_received(long round,
                     std::size_t local,
                     Eigen::Index first,
                     Eigen::Index count,
                     std::span<const double* const> columns) override;

  private:
    /// What a liar heard, by exchange.
    struct Heard {
        Eigen::MatrixXd mean, deviation, update;  // M, D, U; d x exchanges
        std::vector<std::uint8_t> known;          // by exchange
    };
    struct Liar {
        std::size_t local = 0;
        int agent = 0;
        Lie lie;
        Eigen::VectorXd model, message;
        Heard heard;
    };
    [[nodiscard]] bool listens(const Liar& liar) const;
    void make(const Liar& liar, ExchangeId id, Eigen::Ref<Eigen::VectorXd> message) const;

    LiesByPlace lies_;
    MixingSchedule mixing_;
    std::uint64_t seed_;
    int exchange_ = 0;
    std::vector<Liar> liars_;
};

/// The plan as its liars draw noise from it: streams that several agents hold are left out of what
/// they send, or have the other sign. Noise of all others is unchanged.
[[nodiscard]] NoisePlan plan_of_liars(NoisePlan plan, const LiesByPlace& lies);

}  // namespace sotto
