#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/local_agent.hpp"
#include "agent/message_steps.hpp"
#include "net/neighbour_exchange.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// One sequence of messages that are sent as whole numbers of steps (MessageSteps), each the
/// difference from what others already know (docs/equations.md#short-messages). Every agent u keeps
///
///     xhat_u    what all know of its messages:  c_u = round((m_u - xhat_u) / step),
///                                                xhat_u <- xhat_u + step c_u;
///     s_u = sum_v w_uv xhat_v, its own included: s_u <- s_u + step sum_v w_uv c_v.
///
/// Mixing gives m_u + s_u - xhat_u. The weights are rounded to multiples of 2^-20, and w_uu is such
/// that those of one sender sum to 1, so the sum over all agents stays sum_u m_u whatever is
/// rounded. All of xhat and s are multiples of step 2^-20 below 2^53 of these: sums are exact, in
/// any order, so xhat and s of sender and receivers never drift apart.
class MessageCoder {
  public:
    /// @param agents local agents.  @throws ConfigError as require_codable.
    MessageCoder(const MixingMatrix& mixing,
                 std::span<const LocalAgent> agents,
                 Eigen::Index dimension,
                 MessageSteps steps);

    /// Forgets what others know: the next messages are whole ones. All processes must do it between
    /// the same two exchanges.
    void restart();
    /// From now on, also keeps what every agent knows of those it hears, for observers. LOCAL.
    void keep_heard();

    /// Makes the codes of the local agents' messages. @param messages m, d x local agents, within
    /// -steps.limit() and steps.limit().
    void encode(ExchangeId id, const Eigen::MatrixXd& messages, int threads);
    /// c, to be exchanged with MessagePrecision::nibble.
    [[nodiscard]] std::span<const Outgoing> outgoing() const { return outgoing_; }
    /// xhat: the messages as others know them. d x local agents.
    [[nodiscard]] const Eigen::MatrixXd& known() const { return known_; }

    /// Coordinates [first, first + mixed.size()) of m + s - xhat of one agent.
    /// @param codes of its closed neighbourhood.  @param message m, the same coordinates.
    /// @return the first coordinate of s beyond what agents may send, if any: some sender does not
    /// keep to the protocol.
    [[nodiscard]] std::optional<Eigen::Index> mix(std::size_t local,
                                                  Eigen::Index first,
                                                  std::span<const double* const> codes,
                                                  std::span<const double> message,
                                                  std::span<double> mixed);
    /// Adds the same codes to what the agent knows of those it hears.
    /// @return pointers to these coordinates of their messages; valid until the next call for it.
    [[nodiscard]] std::span<const double* const> heard(std::size_t local,
                                                       Eigen::Index first,
                                                       Eigen::Index count,
                                                       std::span<const double* const> codes);
    /// w_u., rounded; of the closed neighbourhood.
    [[nodiscard]] std::span<const double> weights(std::size_t local) const {
        return weights_[local];
    }
    [[nodiscard]] bool keeps_heard() const { return !heard_.empty(); }

    /// d-vectors that are kept for every local agent.
    static constexpr std::int64_t vectors_per_agent = 3;

  private:
    struct Heard {
        Eigen::MatrixXd messages;  // d x closed neighbourhood
        std::vector<const double*> columns;
    };

    MessageSteps steps_;
    double step_ = 0;                           // of the exchange that goes on
    std::vector<std::vector<double>> weights_;  // by local agent: of its closed neighbourhood
    std::vector<std::vector<double>> scaled_;   // times the step
    Eigen::MatrixXd known_, sums_, codes_;      // d x local agents
    std::vector<Outgoing> outgoing_;
    std::vector<Heard> heard_;  // by local agent, if kept
};

/// @throws ConfigError with the reason unless the weights of every sender sum to 1 and absolute
/// weights of every receiver to at most MessageSteps::most_weight.
void require_codable(const MixingMatrix& mixing);

}  // namespace sotto
