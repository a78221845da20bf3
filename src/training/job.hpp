#pragma once

#include <functional>
#include <optional>

#include "net/network.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// Runs a job in which this process is one rank. Until the job sets its own limits, waits are
/// limited by the default of --stall-abort.
/// @return the exit code of the job. If it fails: one error line, and the code of the error. If all
/// ranks failed together and still respond, rank 0 reports for all and every rank returns.
/// Otherwise this rank reports and aborts the whole job, since the others would wait forever.
[[nodiscard]] int run_together(Network& network, const std::function<int()>& job);

/// A job with options that are read and checked.
struct PreparedJob {
    std::function<int()> agents;       ///< of a process that runs alone; called only then
    int threads = 1;                   ///< of this process; see granted_threads
    std::function<int(Network&)> run;  ///< COLLECTIVE; returns the exit code
    /// Agents of the whole job under mpirun. None, or fewer than ranks: one agent per rank.
    std::optional<int> agents_of_ranks{};
    bool limits_waits = false;  ///< run limits how long ranks wait; else no limit
};

/// Runs a job on the ranks of an MPI job, each of which hosts one agent or several consecutive
/// ones, or on all agents in this process.
/// @param prepare reads the options. COLLECTIVE. `ranks` lets processes agree on options before the
/// agents are known; `alone`: this process was not started by a launcher.
/// @throws Error alone; see run_together.
[[nodiscard]] int run_job(const std::function<PreparedJob(Network& ranks, bool alone)>& prepare);

/// Number of threads of a process. @param asked 0: all cores of a process that runs alone, else 1.
/// @throws Error (exit code 1) if an address space limit leaves too little room for them.
[[nodiscard]] int granted_threads(int asked, bool alone);

/// Sets --agents to the number of ranks if it is not given.
void resolve_agents(OptionTexts& given, int ranks);

/// Sends rank 0's number of agents to every rank. COLLECTIVE. @param own read on rank 0.
/// @throws NetworkError, the same on every rank, unless it is in 1 to 100000, as for --agents.
[[nodiscard]] int agents_of_rank_0(Network& ranks, int own);

/// The number of agents that all ranks were started with. COLLECTIVE.
/// @throws ConfigError, the same on every rank, if they differ or are fewer than the ranks.
[[nodiscard]] int agree_on_agents(Network& ranks, int agents);

}  // namespace sotto
