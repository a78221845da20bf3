#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/local_agent.hpp"
#include "agent/message_coder.hpp"
#include "agent/robust_mixing.hpp"
#include "net/agent_blocks.hpp"
#include "net/control.hpp"
#include "net/neighbour_exchange.hpp"
#include "sotto/graph/mixing.hpp"
#include "sums/secure_sum.hpp"

namespace sotto {

struct ExchangeSeconds {
    double exchange = 0, mix = 0;
};

/// One exchange of the agents of a process: sends their messages and computes, from received
/// messages or sums,
///
///     here sum_v w_uv m_v - before m'_u,
///
/// m' the messages one exchange earlier (GossipPolynomial). With a MessageCoder, m_u + s_u - xhat_u
/// takes the place of sum_v w_uv m_v.
class MessageMixing {
  public:
    /// @param blocks of the agents that exchange.
    MessageMixing(NeighbourExchange& network, const AgentBlocks& blocks, MixingSchedule mixing);

    [[nodiscard]] const MixingSchedule& schedule() const { return mixing_; }
    /// From the next exchange on, agents learn sums only. @param sums one per local agent, in
    /// order.
    void use_secure_sums(std::vector<SecureSum> sums, std::span<const LocalAgent> agents);
    [[nodiscard]] bool secure_sums() const { return !sums_.empty(); }
    /// From the next exchange on, mixes messages of neighbours that may lie. Not beside secure
    /// sums, short messages or a deadline.
    void use_robust(RobustMixing robust) { robust_.emplace(std::move(robust)); }
    /// Null: all messages count as they are.
    [[nodiscard]] RobustMixing* robust() { return robust_ ? &*robust_ : nullptr; }
    [[nodiscard]] const RobustMixing* robust() const { return robust_ ? &*robust_ : nullptr; }
    /// With a deadline: messages that come up to so many rounds late count when they are here, each
    /// by its difference from the receiver's own message of the same round. At most 16. From now on
    /// agents move only by stable_share() of the mixing matrix. Precondition: it is fixed.
    void use_lag(long rounds);
    /// Largest value that every agent may send to all its receivers, in every round, with sums.
    [[nodiscard]] double summable_limit() const;
    /// Restricts messages to edges of the round's matrix.
    void choose_active(long round,
                       std::span<const LocalAgent> agents,
                       std::span<Outgoing> outgoing) const;

    struct Exchange {
        ExchangeId id;
        double here = 1, before = 0;
        std::span<const LocalAgent> agents;
        std::span<const Outgoing> outgoing;
        const Eigen::MatrixXd& messages;  ///< m; used for sums
        const Eigen::MatrixXd& earlier;   ///< m', if before is not 0
        Eigen::MatrixXd& models;          ///< overwritten
        std::span<RoundObserver* const> observers;
        double largest_value;           ///< of a message
        MessageCoder* coder = nullptr;  ///< has encoded the messages; null: they are sent whole
        /// Local agents send others something else than m, which they keep to mix.
        bool lies = false;
    };
    /// COLLECTIVE. @throws NetworkError naming the sender of a message that is not finite or out of
    /// range.
    void run(const Exchange& exchange);

    /// Adds what messages of earlier rounds bring that have come since the last exchange.
    /// @param largest_value of a message.  @throws NetworkError as run.
    void mix_late(std::span<const LocalAgent> agents,
                  double largest_value,
                  Eigen::MatrixXd& models);

    [[nodiscard]] const ExchangeSeconds& seconds() const { return seconds_; }

  private:
    void mix_messages(const Exchange& exchange);
    /// Coordinates of one agent's mixture. @throws NetworkError as run.
    void mix_received(const Exchange& exchange,
                      std::size_t local,
                      Eigen::Index first,
                      Eigen::Index count,
                      std::span<const double* const> columns);
    /// From messages of neighbours that may lie; combines what is whole.
    void mix_robustly(const Exchange& exchange,
                      std::size_t local,
                      Eigen::Index first,
                      Eigen::Index count,
                      std::span<const double* const> columns);
    /// Place of the agent in its closed neighbourhood.
    [[nodiscard]] std::size_t place_of(const Exchange& exchange, std::size_t local) const;
    /// From whole messages; weights of those that have not come go to the agent's own.
    void mix_heard(const Exchange& exchange,
                   std::size_t local,
                   std::span<const double* const> columns,
                   std::span<double> mixed) const;
    /// Where messages may be missing, an edge counts in both directions or in none, so that the
    /// mean of all models stays: what an agent took of a message whose sender took nothing of its
    /// own, it gives back as soon as the sender says so, and can no longer take it.
    void balance(const Exchange& exchange,
                 std::size_t local,
                 std::span<const double* const> columns,
                 std::span<double> mixed);
    /// Notes what was taken of a message of this round.
    /// @param used what it says about earlier ones.  @param result of the receiver; what has to be
    /// given back is subtracted.
    struct Heard {
        std::size_t local = 0, place = 0;
        long round = 0;
        std::uint32_t used = 0;
    };
    void take(const Heard& heard, Eigen::VectorXd part, Eigen::Ref<Eigen::VectorXd> result);
    void keep_own(const Exchange& exchange);
    /// The same from codes.
    void mix_codes(const Exchange& exchange,
                   std::size_t local,
                   Eigen::Index first,
                   std::span<const double* const> codes,
                   std::span<double> mixed) const;
    void mix_sums(const Exchange& exchange);
    void begin_sums(const Exchange& exchange);
    /// @throws NetworkError for a message of another process that is not allowed.
    void check_received(const Exchange& exchange,
                        std::size_t local,
                        Eigen::Index first,
                        Eigen::Index count,
                        std::span<const double* const> columns);

    NeighbourExchange& network_;
    AgentBlocks blocks_;
    MixingSchedule mixing_;
    std::vector<SecureSum> sums_;               // empty: messages
    std::vector<std::vector<int>> neighbours_;  // with secure sums: of every local agent
    /// The last checked part of an agent's messages, which several local agents may hear.
    struct Checked {
        const double* column = nullptr;
        Eigen::Index first = -1;
        [[nodiscard]] bool operator==(const Checked&) const = default;
    };
    std::vector<Checked> checked_;  // by sender
    std::optional<RobustMixing> robust_;
    /// w_uv (m_v - m_u) of a round, of which it is not known whether v used m_u.
    struct Taken {
        long round = 0;
        Eigen::VectorXd part;
    };
    std::vector<std::vector<std::vector<Taken>>> taken_;  // by local agent and member
    long lag_ = 0;
    std::deque<std::pair<long, Eigen::MatrixXd>> own_;  // messages of the last lag_ rounds
    std::vector<double> weights_away_;                  // w_av of one agent v to its neighbours a
    ExchangeSeconds seconds_;
};

/// Part s of a symmetric mixing matrix W for which x_(t+1) = x_t - s (I - W) x_(t - L) is stable:
/// with an eigenvalue l of I - W it is if s l < 2 sin(pi / (2 (2 L + 1))) (Levin and May 1976).
/// Nine tenths of that, at most 1. @param lag L.  @param away max_u (1 - w_uu): l <= 2 away.
[[nodiscard]] double stable_share(long lag, double away);

/// Origin of a value.
struct ReceivedFrom {
    int sender, receiver;
    ExchangeId exchange;
};

/// Depends only on received values, so how the job ends reveals nothing about the receiver's data.
/// @param first coordinate of the first value.
/// @throws NetworkError naming sender, receiver, round, step, coordinate and value, unless all
/// values lie within -limit and limit.
void require_message_in_range(const ReceivedFrom& from,
                              Eigen::Index first,
                              std::span<const double> values,
                              double limit);

/// The same for a secure sum. Honest neighbours stay within 2^62 words; a sum with a missing or
/// wrong share is random, and half of such values are beyond.
/// @throws NetworkError naming the receiver and its neighbours.
void require_sum_in_range(int receiver,
                          std::span<const int> neighbours,
                          ExchangeId exchange,
                          Eigen::Index first,
                          std::span<const std::uint64_t> sum);

/// The same for values that process 0 collects; `what` names them. @throws NetworkError naming the
/// agent.
[[nodiscard]] CollectedCheck require_collected_in_range(std::string what, double limit);

}  // namespace sotto
