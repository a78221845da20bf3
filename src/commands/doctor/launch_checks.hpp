#pragma once

#include <string>
#include <vector>

#include "commands/doctor/doctor_check.hpp"

namespace sotto {

/// Is there an mpirun, and is it that of the MPI library this program is linked with? LOCAL.
[[nodiscard]] DoctorCheck check_mpirun();
/// Starts a job of two ranks of this program's `doctor` with mpirun and reads its report: does a
/// job come up at all, and do its ranks reach each other? Takes about a second, 30 at most. LOCAL.
[[nodiscard]] DoctorCheck check_trial_job();

/// Is this text of an MPI library or launcher one of Open MPI?
[[nodiscard]] bool is_open_mpi(const std::string& text);
/// Is the MPI library that this program is linked with Open MPI?
[[nodiscard]] bool is_open_mpi();

/// How jobs are started with an MPI library. Where a text is empty there is nothing to say.
struct LaunchWords {
    std::vector<std::string> launchers;  ///< names in PATH; the first one there is used
    std::string oversubscribe;           ///< flags that allow more ranks than cores
    std::string start;    ///< commands as a user types them, for one machine and for several hosts
    std::string network;  ///< what names the network that all hosts share
    std::string no_shared_reads;  ///< setting for ranks that must not read each other's memory
};

/// Of the MPI library whose own version text this is: Open MPI; MPICH otherwise, whose launcher
/// Hydra is also that of Intel MPI and MVAPICH.
[[nodiscard]] const LaunchWords& launch_words(const std::string& library);
/// Of the MPI library that this program is linked with.
[[nodiscard]] const LaunchWords& launch_words();

/// Value of an environment variable; empty without one.
[[nodiscard]] std::string environment(const char* name);
/// What OMPI_MCA_mpi_yield_when_idle says, or sotto where it says nothing: do waiting ranks leave
/// their core to others?
[[nodiscard]] bool waiting_ranks_yield();

}  // namespace sotto
