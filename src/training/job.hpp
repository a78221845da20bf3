#pragma once

#include <functional>
#include <optional>

#include "net/network.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// Runs a job of which this process is one rank; until the job says otherwise, no wait for others
/// is longer than --stall-abort is by default. @return its exit code, or, where it failed, that
/// of the error after one line about it: of rank 0 where all ranks failed together and are still
/// there when it has told; of this one otherwise, and then the whole job is aborted, since the
/// others would wait for ever.
[[nodiscard]] int run_together(Network& network, const std::function<int()>& job);

/// A job whose options are read and checked.
struct PreparedJob {
    std::function<int()> agents;       ///< in this process, where it is alone; asked only then
    int threads = 1;                   ///< of this process; see granted_threads
    std::function<int(Network&)> run;  ///< COLLECTIVE; returns the exit code
    /// Under mpirun; none: one each, as where they are fewer.
    std::optional<int> agents_of_ranks{};
    bool limits_waits = false;  ///< run says how long ranks wait; else as long as it takes
};

/// Runs a job where it was started: on the ranks of an MPI job, of which each hosts one agent or
/// consecutive ones, or on all its agents in this process.
/// @param prepare reads the options; COLLECTIVE. @param ranks where processes agree about options,
/// before anybody knows about agents.  @param alone whether this process was started by itself.
/// @throws Error alone; see run_together.
[[nodiscard]] int run_job(const std::function<PreparedJob(Network& ranks, bool alone)>& prepare);

/// Threads of a process. @param asked 0: all cores of a process that is alone, else 1.
/// @throws Error (exit code 1) for more than a limit on address space leaves room for.
[[nodiscard]] int granted_threads(int asked, bool alone);

/// Where --agents is not given, every rank is one agent.
void resolve_agents(OptionTexts& given, int ranks);

/// The number of agents that rank 0 gives, on every rank. COLLECTIVE. @param own read on rank 0.
/// @throws NetworkError, the same on every rank, unless it is in 1 to 100000, as --agents.
[[nodiscard]] int agents_of_rank_0(Network& ranks, int own);

/// The number of agents that all ranks were started with. COLLECTIVE. @throws ConfigError, the same
/// on every rank, where they differ, or are fewer than ranks.
[[nodiscard]] int agree_on_agents(Network& ranks, int agents);

}  // namespace sotto
