#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/net/network.hpp"

namespace sotto {

/// One thing that must be right before a training can work.
struct DoctorCheck {
    std::string name;  ///< lower-case words joined by '-'; scripts rely on it
    bool ok = true;
    std::string found;        ///< what is there, or what is wrong
    std::string fix;          ///< what to do; with `ok` advice only, mostly empty
    bool must_agree = false;  ///< `found` must be the same on every rank
};

/// Where a process runs, and beside whom.
struct Placement {
    bool launched = false;  ///< by mpirun or the like
    int rank = 0;
    int ranks = 1;
    std::string host;
    int ranks_on_host = 1;
    int cores_on_host = 1;  ///< that the ranks of this host may use together
};

/// What one rank found.
struct RankFindings {
    Placement placement;
    std::vector<DoctorCheck> checks;
};

/// Numbers of the cores this process may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cores();

/// Everything one process can find out by itself: libraries, limits, folders, shared memory, cores.
/// Communicates with nobody and leaves nothing behind. LOCAL.
[[nodiscard]] std::vector<DoctorCheck> check_machine(const Placement& placement);

/// Is there an mpirun, and is it that of the MPI library this program is linked with?
[[nodiscard]] DoctorCheck check_mpirun();
/// Starts a job of two ranks of this program's `doctor` with mpirun and reads its report: does a
/// job come up at all, and do its ranks reach each other? Takes about a second, 30 at most.
[[nodiscard]] DoctorCheck check_trial_job();

/// Who is on which host. @param network one agent per process. COLLECTIVE.
[[nodiscard]] Placement find_placement(Network& network);
/// Sends something known between all ranks (along a ring above 256) and compares what arrives.
/// `connect`s the network. COLLECTIVE.
[[nodiscard]] DoctorCheck check_exchange(Network& network);

/// One list of checks for all ranks: a check is ok if it is ok on every rank (and, where it must
/// be, the same on every rank); otherwise `found` names ranks and hosts.
/// @param findings at least one, in rank order, all with the same checks.
[[nodiscard]] std::vector<DoctorCheck> merge_findings(std::span<const RankFindings> findings);

/// For sending findings to rank 0. @throws DataError if the text is no such thing.
[[nodiscard]] std::string to_json(const RankFindings& findings);
[[nodiscard]] RankFindings findings_from_json(const std::string& text);

/// The report of `sotto doctor` (docs/cli.md), as JSON text and for people.
[[nodiscard]] std::string doctor_report_json(std::span<const RankFindings> findings,
                                             std::span<const DoctorCheck> merged);
[[nodiscard]] std::string doctor_report_text(std::span<const RankFindings> findings,
                                             std::span<const DoctorCheck> merged);

}  // namespace sotto
