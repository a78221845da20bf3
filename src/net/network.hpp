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

/// One agent's outgoing vectors in one exchange: the same for everybody (`to_all`), or one per
/// member of its closed neighbourhood, ascending (`per_receiver`; its own entry is the copy it
/// keeps). All have the exchange's dimension and must stay unchanged until the exchange returns.
struct Outgoing {
    const double* to_all = nullptr;
    std::vector<const double*> per_receiver;
    /// Which members of the closed neighbourhood, ascending, get this agent's message, and which
    /// send it theirs: not 0; its own entries always. Empty: all neighbours. Where v sends to u,
    /// both must say so; all agents of an exchange must have lists, or none.
    std::vector<std::uint8_t> to{}, from{};
};

/// Called when coordinates [first, first + count) of all messages to one local agent have arrived:
/// columns[j] points to those from the j-th member of its closed neighbourhood (ascending, itself
/// included); null if that one sends it nothing. Ranges arrive in order and cover the dimension
/// once; large messages take several calls, so that each is mixed while in cache. Pointers are
/// valid during the call. Calls for different agents may come from different threads.
using Delivery = std::function<void(std::size_t local_index,
                                    Eigen::Index first,
                                    Eigen::Index count,
                                    std::span<const double* const> columns)>;

/// Writes coordinates [first, first + words.size()) of one local agent's share for its neighbour-th
/// neighbour (ascending, without itself) among those that hear it. `first` is a multiple of 8.
/// Calls may come from different threads, also for one agent.
using ShareSource = std::function<void(std::size_t local_index,
                                       std::size_t neighbour,
                                       Eigen::Index first,
                                       std::span<std::uint64_t> words)>;
/// Called with coordinates [first, first + sum.size()) of the sum of all shares for one local
/// agent, modulo 2^64. Ranges and threads as with Delivery.
using SumDelivery = std::function<void(
    std::size_t local_index, Eigen::Index first, std::span<const std::uint64_t> sum)>;

struct StallLimits {
    double warn_seconds = 0;  ///< until it asks those it waits for and reports the silent; 0: never
    double abort_seconds = 0;   ///< until the wait ends with a NetworkError; 0: never
    std::string abort_setting;  ///< the setting that says so: "--stall-abort 300"
    std::function<void(const std::string&)> report;  ///< takes one line
    double nap_seconds = 0;  ///< sleep between two polls, for waits of hours; 0: none
};

/// Checks one agent's values from coordinate `first` on on process 0 before they are combined; may
/// throw.
using CollectedCheck =
    std::function<void(int agent, Eigen::Index first, std::span<const double> values)>;
/// Most bytes of a name, path or error of a peer.
inline constexpr std::uint64_t most_line_bytes = std::uint64_t{1} << 16;

/// Does a piece of work. @return whether more is left.
using WaitingWork = std::function<bool()>;

/// How the values of all agents become one; with `maximum` a NaN wins.
enum class Fold { sum, maximum };

/// What training needs from the other agents. One process hosts one or more agents. COLLECTIVE
/// functions must be called by all processes in the same order.
class Network {
  public:
    virtual ~Network() = default;

    /// All agents, and those of this process (ascending). LOCAL.
    [[nodiscard]] virtual int agents() const = 0;
    [[nodiscard]] virtual std::span<const int> local_agents() const = 0;
    /// Number of processes, and of this one. Process 0 hosts agent 0. LOCAL.
    [[nodiscard]] virtual int processes() const = 0;
    [[nodiscard]] virtual int process() const = 0;
    /// "rank 3" for messages; "rank 3 (node1)" if processes run on several hosts and
    /// watch_for_stalls was called. LOCAL.
    [[nodiscard]] virtual std::string process_name() const {
        return "rank " + std::to_string(process());
    }

    /// What carries the messages: library and version, or "memory". LOCAL.
    [[nodiscard]] virtual std::string description() const = 0;

    /// A network of the remaining processes, their agents renumbered in the same order; null on
    /// processes that leave. This network must not be used afterwards. COLLECTIVE.
    /// @param leaving agents, ascending, the same on every process; several processes must have one
    /// agent each.
    [[nodiscard]] virtual std::unique_ptr<Network> without(std::span<const int> leaving) = 0;

    /// Sets the graph along which `exchange` sends; call once, before the first exchange.
    /// COLLECTIVE.
    virtual void connect(const Graph& graph) = 0;

    /// From now on encrypts and authenticates (LinkCipher) messages of `exchange` and
    /// `exchange_sum`, and what `fold_over_agents` collects and returns. No effect in one process.
    /// Call after `connect`, and again for a new key epoch. LOCAL, but all processes between the
    /// same two exchanges.
    /// @param secrets one per local agent, same order.  @throws CryptoError for a neighbour with an
    /// unusable public key.
    virtual void protect(std::span<PairSecrets> secrets, std::uint32_t key_epoch) = 0;
    /// Whether messages between processes are encrypted. LOCAL.
    [[nodiscard]] virtual bool encrypted() const = 0;

    /// Precision of `exchange` between processes from now on; messages must already be rounded to
    /// it (round_to_precision). LOCAL, but all processes between the same two exchanges.
    void set_message_precision(MessagePrecision precision) { message_precision_ = precision; }
    [[nodiscard]] MessagePrecision message_precision() const { return message_precision_; }

    /// Work for the time in which `exchange` and `exchange_sum` wait for others: called repeatedly
    /// while it returns true. A piece must not depend on what is in transit, and be short (a
    /// millisecond), since MPI may need the process to progress. In one process it is never called.
    /// Empty: none. LOCAL.
    virtual void work_while_waiting(WaitingWork /*piece*/) {}

    /// Limits waiting in all later calls; without it every call waits for ever. No effect in one
    /// process. COLLECTIVE the first time. Later calls may throw NetworkError naming the round and
    /// the ranks that did not answer; then only `abort` is possible.
    virtual void watch_for_stalls(StallLimits limits) = 0;

    /// Sends every local agent's message to its neighbours and delivers theirs. COLLECTIVE.
    /// @param id for messages about failures and, when encrypted, the nonce: it must then be after
    /// that of the previous exchange; a changed message is a CryptoError naming both ends and the
    /// round.
    /// @param outgoing one per local agent, the same kind (to_all or per_receiver) in the whole
    /// network.
    /// @param dimension values per message, > 0, equal for all agents.
    /// @throws Error before `connect` or for incomplete messages.
    virtual void exchange(ExchangeId id,
                          std::span<const Outgoing> outgoing,
                          Eigen::Index dimension,
                          const Delivery& deliver) = 0;

    /// Sends every neighbour its own share and delivers only the sum of the shares an agent got,
    /// once all have arrived: with masked shares (SecureSum) no process sees a neighbour's message.
    /// COLLECTIVE.
    /// @param id as in `exchange`.  @param dimension words per share, > 0, equal for all agents.
    virtual void exchange_sum(ExchangeId id,
                              Eigen::Index dimension,
                              const ShareSource& share,
                              const SumDelivery& deliver) = 0;

    /// Combines one vector per agent element by element in ascending agent order (same bits for
    /// every network); every process gets the result. COLLECTIVE; not along the graph: process 0
    /// sees every agent's vector. For set-up, evaluation, and the trusted aggregator only.
    /// @param local dimension x local agents.  @param check called on process 0 for agents of other
    /// processes; may be empty.
    /// @throws CryptoError, when encrypted, for a vector that was changed.
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
    /// Most agents of a process. LOCAL.
    [[nodiscard]] std::uint64_t most_agents_of_a_process() const {
        return static_cast<std::uint64_t>(blocks().most());
    }

    // Callers limit the bytes a peer may announce before memory is allocated. More is a
    // NetworkError, the same on every process, naming the rank, what it announced and the limit.

    /// `bytes` of process 0, on every process. COLLECTIVE.
    [[nodiscard]] virtual std::string broadcast(const std::string& bytes,
                                                std::uint64_t most_bytes) = 0;
    /// One string per process, in process order, on every process. COLLECTIVE.
    /// @param most_bytes of each.
    [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& bytes,
                                                              std::uint64_t most_bytes) = 0;
    /// Process p gets to_processes[p] of process 0. COLLECTIVE.
    /// @param to_processes read on process 0 only.  @param most_bytes of each.
    [[nodiscard]] virtual std::string scatter(const std::vector<std::string>& to_processes,
                                              std::uint64_t most_bytes) = 0;
    /// `bytes` of process p go to process receivers[p]; -1: to nobody. @return what this process
    /// received, in the order of senders. COLLECTIVE.
    /// @param receivers one per process, the same on all.  @param most_bytes of each string for
    /// this process; may differ between processes.
    [[nodiscard]] virtual std::vector<std::string> send_parcels(const std::string& bytes,
                                                                std::span<const int> receivers,
                                                                std::uint64_t most_bytes) = 0;
    /// Largest value over all processes; NaN if one is NaN. COLLECTIVE.
    [[nodiscard]] virtual double maximum(double value) = 0;

    /// Non-blocking element-wise maxima of a few values (NaN wins), one at a time: `end_maximum`
    /// waits. COLLECTIVE, both.
    virtual void begin_maximum(std::span<const double> values) = 0;
    [[nodiscard]] virtual std::vector<double> end_maximum() = 0;

    /// Bytes this process has sent to other agents through `exchange` and `exchange_sum`: values or
    /// words, and tags when encrypted. In one process: what its agents exchanged. LOCAL.
    [[nodiscard]] virtual std::int64_t bytes_sent() const = 0;

    /// Runs a set-up step on every process; if it throws anywhere, every process throws the error
    /// of the lowest failing process (same exit code and message, which begins with its
    /// process_name() unless that is 0 on a single host, or all fail). A failure elsewhere must not
    /// leave `step` waiting. COLLECTIVE.
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
    /// True once `agree` has thrown: every process knows, and can end in an orderly way. LOCAL.
    [[nodiscard]] bool failed_together() const { return failed_together_; }

    /// Ends all processes at once; prints nothing. Does not return.
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
