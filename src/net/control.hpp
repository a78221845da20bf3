#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/agent_blocks.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

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

/// How the values of all agents become one; with `maximum` a NaN wins.
enum class Fold { sum, maximum };

/// What the processes of a job agree on with each other, none of it along the graph: who hosts
/// whom, broadcasts, gathers, sums and failures. One process hosts one or more agents. COLLECTIVE
/// functions must be called by all processes in the same order.
class Control {
  public:
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    virtual ~Control() = default;

    /// Which process hosts whom. LOCAL.
    [[nodiscard]] const AgentBlocks& blocks() const { return blocks_; }
    /// All agents, and those of this process (ascending). LOCAL.
    [[nodiscard]] int agents() const { return blocks_.agents(); }
    [[nodiscard]] std::span<const int> local_agents() const { return local_agents_; }
    /// Most agents of a process. LOCAL.
    [[nodiscard]] std::uint64_t most_agents_of_a_process() const {
        return static_cast<std::uint64_t>(blocks_.most());
    }
    /// Number of processes, and of this one. Process 0 hosts agent 0. LOCAL.
    [[nodiscard]] int processes() const { return blocks_.processes(); }
    [[nodiscard]] int process() const { return process_; }
    /// "rank 3" for messages; "rank 3 (node1)" if processes run on several hosts and
    /// watch_for_stalls was called. LOCAL.
    [[nodiscard]] virtual std::string process_name() const {
        return "rank " + std::to_string(process_);
    }
    /// What carries the messages: library and version, or "memory". LOCAL.
    [[nodiscard]] virtual std::string description() const = 0;

    /// Limits waiting in all later calls; without it every call waits for ever. No effect in one
    /// process. COLLECTIVE the first time. Later calls may throw NetworkError naming the round and
    /// the ranks that did not answer; then only `abort` is possible.
    virtual void watch_for_stalls(StallLimits limits) = 0;

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
    /// Non-blocking element-wise maxima of a few values (NaN wins), one at a time: `end_maximum`
    /// waits. COLLECTIVE, both.
    virtual void begin_maximum(std::span<const double> values) = 0;
    [[nodiscard]] virtual std::vector<double> end_maximum() = 0;

    /// Largest value over all processes; NaN if one is NaN. COLLECTIVE.
    [[nodiscard]] virtual double maximum(double value) = 0;

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
    Control(const AgentBlocks& blocks, int process)
        : blocks_(blocks),
          process_(process),
          local_agents_(static_cast<std::size_t>(blocks.size(process))) {
        std::iota(local_agents_.begin(), local_agents_.end(), blocks.first(process));
    }

    /// The failure of the lowest failing process, on every process; nothing if none failed.
    /// @throws NetworkError if the others cannot be reached.
    [[nodiscard]] virtual std::optional<Error> agree_on(
        const std::optional<Error>& local_failure) = 0;

  private:
    AgentBlocks blocks_;
    int process_;
    std::vector<int> local_agents_;
    bool failed_together_ = false;
};

}  // namespace sotto
