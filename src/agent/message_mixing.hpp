#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/local_agent.hpp"
#include "net/network.hpp"
#include "sotto/graph/mixing.hpp"
#include "sums/secure_sum.hpp"

namespace sotto {

// What becomes of messages between sending and the next model.

/// Time spent on exchanges [s].
struct ExchangeSeconds {
    double exchange = 0, mix = 0;
};

/// One exchange of the agents of a process: sends their messages, and makes of what they hear, or
/// of the sums they learn,
///
///     here sum_v w_uv m_v - before m'_u,
///
/// m' what they sent one exchange earlier (GossipPolynomial).
class MessageMixing {
  public:
    MessageMixing(Network& network, MixingSchedule mixing);

    [[nodiscard]] const MixingSchedule& schedule() const { return mixing_; }
    /// From the next exchange on agents learn sums only. @param sums one per local agent, in order.
    void use_secure_sums(std::vector<SecureSum> sums, std::span<const LocalAgent> agents);
    [[nodiscard]] bool secure_sums() const { return !sums_.empty(); }
    /// Largest value that every agent may send to all that hear it, in every round, with sums.
    [[nodiscard]] double summable_limit() const;
    /// Only agents that a round's matrix joins send each other their messages.
    void choose_active(long round,
                       std::span<const LocalAgent> agents,
                       std::span<Outgoing> outgoing) const;

    /// What an exchange works on: everything of the local agents, columns in their order.
    struct Exchange {
        ExchangeId id;
        double here = 1, before = 0;
        std::span<const LocalAgent> agents;
        std::span<const Outgoing> outgoing;
        const Eigen::MatrixXd& messages;  ///< m; read for sums
        const Eigen::MatrixXd& earlier;   ///< m', where before is not 0
        Eigen::MatrixXd& models;          ///< overwritten
        std::span<RoundObserver* const> observers;
        double largest_value;  ///< that a message may have
    };
    /// COLLECTIVE. @throws NetworkError naming the sender for a message that is not finite or out
    /// of range.
    void run(const Exchange& exchange);

    [[nodiscard]] const ExchangeSeconds& seconds() const { return seconds_; }

  private:
    void mix_messages(const Exchange& exchange);
    void mix_sums(const Exchange& exchange);
    void begin_sums(const Exchange& exchange);
    /// @throws NetworkError for what an agent of another process, or place, may not send.
    void check_received(const Exchange& exchange,
                        std::size_t local,
                        Eigen::Index first,
                        Eigen::Index count,
                        std::span<const double* const> columns);

    Network& network_;
    MixingSchedule mixing_;
    std::vector<SecureSum> sums_;               // empty: messages
    std::vector<std::vector<int>> neighbours_;  // with secure sums: of every local agent
    /// What was checked last of an agent's messages: several agents here may hear the same one.
    struct Checked {
        const double* column = nullptr;
        Eigen::Index first = -1;
        [[nodiscard]] bool operator==(const Checked&) const = default;
    };
    std::vector<Checked> checked_;      // by sender
    std::vector<double> weights_away_;  // w_av of one agent v, over its neighbours a
    ExchangeSeconds seconds_;
};

// What an agent asks of messages before it uses them.

/// Where in the run a value came from.
struct ReceivedFrom {
    int sender, receiver;
    ExchangeId exchange;
};

/// Decided from what was received alone, so that how the job ends tells nothing about data.
/// @param first coordinate of the first value.
/// @throws NetworkError naming sender, receiver, round, step, coordinate and value, unless all
/// values lie within -limit and limit.
void require_message_in_range(const ReceivedFrom& from,
                              Eigen::Index first,
                              std::span<const double> values,
                              double limit);

/// The same of a secure sum, which no honest neighbours take beyond 2^62 words: one that lacks a
/// share, or has another, is a random number, and half of them are beyond.
/// @throws NetworkError naming the receiver and its neighbours.
void require_sum_in_range(int receiver,
                          std::span<const int> neighbours,
                          ExchangeId exchange,
                          Eigen::Index first,
                          std::span<const std::uint64_t> sum);

/// The same of what process 0 collects: `what` says what of. @throws NetworkError naming the agent.
[[nodiscard]] CollectedCheck require_collected_in_range(std::string what, double limit);

}  // namespace sotto
