#pragma once

#include <string>
#include <vector>

#include "commands/doctor/doctor_check.hpp"

namespace sotto {

/// Checks that mpirun exists and belongs to the MPI library this program is linked with. LOCAL.
[[nodiscard]] DoctorCheck check_mpirun();
/// Checks that a job starts and its ranks reach each other: runs `doctor` on two ranks by mpirun
/// and reads its report. Takes about a second, 30 at most. LOCAL.
[[nodiscard]] DoctorCheck check_trial_job();

/// Whether the version text of an MPI library or launcher is Open MPI's.
[[nodiscard]] bool is_open_mpi(const std::string& text);
/// Whether this program is linked with Open MPI.
[[nodiscard]] bool is_open_mpi();

/// How to start jobs with an MPI library. An empty text does not apply.
struct LaunchWords {
    std::vector<std::string> launchers;  ///< names to look for in PATH, the first found is used
    std::string oversubscribe;           ///< flags that allow more ranks than cores
    std::string start;    ///< commands as a user types them, for one machine and several hosts
    std::string network;  ///< setting that names the network shared by all hosts
    std::string no_shared_reads;  ///< setting for ranks that must not read each other's memory
};

/// For the MPI library with this version text: Open MPI, else MPICH, whose launcher Hydra Intel MPI
/// and MVAPICH use, too.
[[nodiscard]] const LaunchWords& launch_words(const std::string& library);
/// For the MPI library that this program is linked with.
[[nodiscard]] const LaunchWords& launch_words();

/// Value of an environment variable; empty without one.
[[nodiscard]] std::string environment(const char* name);
/// Whether waiting ranks leave their core to others: OMPI_MCA_mpi_yield_when_idle, or sotto's own
/// setting without it.
[[nodiscard]] bool waiting_ranks_yield();

}  // namespace sotto
