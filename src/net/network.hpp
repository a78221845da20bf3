#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/agent_blocks.hpp"
#include "net/message_precision.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/graph.hpp"
#include "trust/pair_secrets.hpp"

namespace sotto {

/// Address of one exchange: training round and gossip step inside it, both from 0.
struct ExchangeId {
    std::int64_t round = 0;
    int step = 0;
};

/// One agent's outgoing vectors in one exchange. Either the same vector for everybody (`to_all`),
/// or one per member of the agent's closed neighbourhood in ascending order (`per_receiver`; the
/// agent's own entry is the copy it keeps). All of them have the exchange's dimension and must stay
/// unchanged until the exchange returns.
struct Outgoing {
    const double* to_all = nullptr;
    std::vector<const double*> per_receiver;
    /// Members of the closed neighbourhood, ascending, that get this agent's message, and whose
    /// messages it gets, of those that hear it and that it hears: not 0; its own entries always.
    /// Empty: all of them. Where v sends to u,
    /// both must say so, and all agents of an exchange must have lists, or none.
    std::vector<std::uint8_t> to{}, from{};
};

/// Called when coordinates [first, first + count) of all messages to one local agent are there:
/// columns[j] points to these coordinates of the message from the j-th member of its closed
/// neighbourhood (ascending; its own among them), null where it does not hear that one. Ranges
/// arrive in order and cover the dimension once; null for a member that sends it nothing; for large
/// messages in several calls, so that each is mixed while it is in the cache. The pointers are
/// valid during the call. Calls for different agents may come from different threads.
using Delivery = std::function<void(std::size_t local_index,
                                    Eigen::Index first,
                                    Eigen::Index count,
                                    std::span<const double* const> columns)>;

/// Writes coordinates [first, first + words.size()) of one local agent's share for its neighbour-th
/// neighbour (ascending, without itself), one that hears it. `first` is a multiple of 8. Calls may
/// come from different threads, also for one agent.
using ShareSource = std::function<void(std::size_t local_index,
                                       std::size_t neighbour,
                                       Eigen::Index first,
                                       std::span<std::uint64_t> words)>;
/// Called when coordinates [first, first + sum.size()) of all shares for one local agent are there
/// and added up, modulo 2^64. Ranges and threads as with Delivery.
using SumDelivery = std::function<void(
    std::size_t local_index, Eigen::Index first, std::span<const std::uint64_t> sum)>;

/// How long a process waits for others.
struct StallLimits {
    double warn_seconds = 0;  ///< then it asks those it waits for, and reports the silent; 0: never
    double abort_seconds = 0;   ///< then the wait ends with a NetworkError; 0: never
    std::string abort_setting;  ///< where that comes from: "--stall-abort 300"
    std::function<void(const std::string&)> report;  ///< takes one line
    double nap_seconds = 0;  ///< asleep between two looks: of who waits for hours; 0: never
};

/// Sees one agent's values from coordinate `first` on, as process 0 collects them, before they are
/// combined; it may throw.
using CollectedCheck =
    std::function<void(int agent, Eigen::Index first, std::span<const double> values)>;
/// Bytes that a name, a path or an error of a peer may have.
inline constexpr std::uint64_t most_line_bytes = std::uint64_t{1} << 16;

/// Does a piece of some work. @return whether more of it is left.
using WaitingWork = std::function<bool()>;

/// How the values of all agents become one; with `maximum` a NaN wins.
enum class Fold { sum, maximum };

/// What a training needs from the other agents. One process hosts one or more agents; everything
/// marked COLLECTIVE must be called by all processes in the same order.
class Network {
  public:
    virtual ~Network() = default;

    /// Agents of the whole network, and those of this process (ascending). LOCAL.
    [[nodiscard]] virtual int agents() const = 0;
    [[nodiscard]] virtual std::span<const int> local_agents() const = 0;
    /// Processes, and this one's number. Process 0 hosts agent 0. LOCAL.
    [[nodiscard]] virtual int processes() const = 0;
    [[nodiscard]] virtual int process() const = 0;
    /// What messages call this process: "rank 3"; where the processes run on several hosts, and
    /// waits are watched, "rank 3 (node1)". LOCAL.
    [[nodiscard]] virtual std::string process_name() const {
        return "rank " + std::to_string(process());
    }

    /// What carries the messages, one line (library and version, or "memory"). LOCAL.
    [[nodiscard]] virtual std::string description() const = 0;

    /// The network of the processes that stay, their agents numbered anew in the same order; null
    /// on processes that leave. COLLECTIVE over this one, of which nothing is asked any more.
    /// @param leaving agents, ascending, the same on every process; of several processes with one
    /// agent each.
    [[nodiscard]] virtual std::unique_ptr<Network> without(std::span<const int> leaving) = 0;

    /// Fixes the graph along which `exchange` sends; once, before the first exchange. COLLECTIVE.
    virtual void connect(const Graph& graph) = 0;

    /// Encrypts and authenticates from now on (LinkCipher) every message of `exchange` and
    /// `exchange_sum`, and what `fold_over_agents` collects and returns. In one process nothing
    /// crosses a wire, and nothing changes. After `connect`; again for a new key epoch. LOCAL, but
    /// all processes between the same two exchanges.
    /// @param secrets one per local agent, same order.  @throws CryptoError for a neighbour with an
    /// unusable public key.
    virtual void protect(std::span<PairSecrets> secrets, std::uint32_t key_epoch) = 0;
    /// Whether messages leave this process encrypted. LOCAL.
    [[nodiscard]] virtual bool encrypted() const = 0;

    /// How values of `exchange` cross between processes from now on: its messages must hold no
    /// others (round_to_precision). LOCAL, but all processes the same between the same two
    /// exchanges.
    void set_message_precision(MessagePrecision precision) { message_precision_ = precision; }
    [[nodiscard]] MessagePrecision message_precision() const { return message_precision_; }

    /// From now on, while `exchange` and `exchange_sum` wait for others, they call this, again and
    /// again as long as it returns true: a piece of work that needs nothing of what travels, short
    /// beside a message's way (a millisecond), since MPI may need the process to go on. How much
    /// of it is done depends on how long the others take; in one process none is. Empty: nothing.
    /// LOCAL.
    virtual void work_while_waiting(WaitingWork /*piece*/) {}

    /// From now on no call waits longer for others than this; until then every call waits for ever.
    /// In one process there is nobody to wait for. COLLECTIVE the first time.
    /// Afterwards every call may throw NetworkError naming the round, and the ranks that did not
    /// answer; communication is impossible then, and `abort` is all that is left.
    virtual void watch_for_stalls(StallLimits limits) = 0;

    /// Sends every local agent's message to its neighbours and delivers what they sent. COLLECTIVE.
    /// @param id for messages about failures and, when encrypted, the nonce: then it must come
    /// after that of the exchange before, and a message that is not what was sent is a CryptoError
    /// that names both ends and the round.  @param outgoing one per local agent; all agents of the
    /// network send the same kind (to_all or per_receiver).  @param dimension values per message, >
    /// 0, equal for all agents.  @throws Error before `connect` or for messages that are not
    /// complete.
    virtual void exchange(ExchangeId id,
                          std::span<const Outgoing> outgoing,
                          Eigen::Index dimension,
                          const Delivery& deliver) = 0;

    /// Sends every neighbour a share of its own and delivers only the sum of the shares an agent
    /// got: with masked shares (SecureSum) no process ever sees a neighbour's message. No sum is
    /// delivered before all its shares have arrived. COLLECTIVE. @param id as in `exchange`.
    /// @param dimension words per share, > 0, equal for all agents.
    virtual void exchange_sum(ExchangeId id,
                              Eigen::Index dimension,
                              const ShareSource& share,
                              const SumDelivery& deliver) = 0;

    /// One vector of each agent, combined element by element in ascending agent order (same bits
    /// for every network). Every process gets the result. COLLECTIVE; not along the graph: process
    /// 0 sees every agent's vector. Set-up, evaluation, and the trusted aggregator only.
    /// @param local dimension x local agents.  @param check of every agent of another process, on
    /// process 0; may be empty.
    /// @throws CryptoError, when encrypted, for what is not what was sent.
    [[nodiscard]] virtual Eigen::VectorXd fold_over_agents(const Eigen::MatrixXd& local,
                                                           Fold fold,
                                                           const CollectedCheck& check) = 0;
    [[nodiscard]] Eigen::VectorXd sum_over_agents(const Eigen::MatrixXd& local,
                                                  const CollectedCheck& check = {}) {
        return fold_over_agents(local, Fold::sum, check);
    }
    [[nodiscard]] Eigen::VectorXd maximum_over_agents(const Eigen::MatrixXd& local) {
        return fold_over_agents(local, Fold::maximum, {});
    }

    /// Which process hosts whom. LOCAL.
    [[nodiscard]] AgentBlocks blocks() const { return {agents(), processes()}; }
    /// Most agents that one process hosts. LOCAL.
    [[nodiscard]] std::uint64_t most_agents_of_a_process() const {
        return static_cast<std::uint64_t>(blocks().most());
    }

    // A peer announces how many bytes it is about to send, and memory is taken for them: so whoever
    // calls says how many there can be. More than that is a NetworkError, the same on every
    // process, that names the rank, what it announced and the limit.

    /// `bytes` of process 0, on every process. COLLECTIVE.
    [[nodiscard]] virtual std::string broadcast(const std::string& bytes,
                                                std::uint64_t most_bytes) = 0;
    /// One string per process, in process order, on every process. COLLECTIVE.
    /// @param most_bytes of each.
    [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& bytes,
                                                              std::uint64_t most_bytes) = 0;
    /// to_processes[p] of process 0 is returned on process p. COLLECTIVE.
    /// @param to_processes read on process 0 only.  @param most_bytes of each.
    [[nodiscard]] virtual std::string scatter(const std::vector<std::string>& to_processes,
                                              std::uint64_t most_bytes) = 0;
    /// `bytes` of process p go to process receivers[p]; -1: to nobody. @return what came to this
    /// process, in the order of who sent it. COLLECTIVE.
    /// @param receivers one per process, the same on all.  @param most_bytes of each that comes to
    /// this process; others may differ.
    [[nodiscard]] virtual std::vector<std::string> send_parcels(const std::string& bytes,
                                                                std::span<const int> receivers,
                                                                std::uint64_t most_bytes) = 0;
    /// Largest value over all processes; NaN if one is NaN. COLLECTIVE.
    [[nodiscard]] virtual double maximum(double value) = 0;

    /// A small maximum that may complete later: `begin_maximum` starts it without waiting (one at a
    /// time), `end_maximum` waits and returns the element-wise maxima (NaN wins). COLLECTIVE, both.
    virtual void begin_maximum(std::span<const double> values) = 0;
    [[nodiscard]] virtual std::vector<double> end_maximum() = 0;

    /// Bytes this process has sent to other agents through `exchange` and `exchange_sum`: values or
    /// words, and their tags when encrypted. In one process: what its agents gave each other.
    /// LOCAL.
    [[nodiscard]] virtual std::int64_t bytes_sent() const = 0;

    /// Runs a set-up step on every process; if it throws anywhere, every process throws the error
    /// of the lowest failing process (same message and exit code). The message begins with
    /// process_name() of that process, unless that is 0 on a single host, or all fail. `step` must
    /// not communicate in a way that a failure elsewhere would leave waiting. COLLECTIVE.
    template <class Step>
    void agree(Step&& step) {
        std::optional<Error> failure;
        try {
            step();
        } catch (const Error& error) {
            failure = error;
        } catch (const std::exception& error) {
            failure = Error(ExitCode::other, error.what());
        } catch (...) {
            failure = Error(ExitCode::other, "unknown error");
        }
        const std::optional<Error> agreed = agree_on(failure);
        if (!agreed) return;
        failed_together_ = true;
        throw_error(agreed->exit_code(), agreed->what());
    }
    /// True once `agree` has thrown: every process knows, and may end in an orderly way. LOCAL.
    [[nodiscard]] bool failed_together() const { return failed_together_; }

    /// Ends all processes at once because this one cannot go on; prints nothing. Does not return.
    [[noreturn]] virtual void abort(ExitCode code) = 0;

  protected:
    /// The failure of the lowest failing process, on every process; nothing if none failed.
    /// @throws NetworkError if the others cannot be reached.
    [[nodiscard]] virtual std::optional<Error> agree_on(
        const std::optional<Error>& local_failure) = 0;

  private:
    MessagePrecision message_precision_ = MessagePrecision::float64;
    bool failed_together_ = false;
};

}  // namespace sotto
