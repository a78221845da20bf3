#pragma once

#include "commands/doctor/doctor_check.hpp"

namespace sotto {

/// Is there an mpirun, and is it that of the MPI library this program is linked with? LOCAL.
[[nodiscard]] DoctorCheck check_mpirun();
/// Starts a job of two ranks of this program's `doctor` with mpirun and reads its report: does a
/// job come up at all, and do its ranks reach each other? Takes about a second, 30 at most. LOCAL.
[[nodiscard]] DoctorCheck check_trial_job();

}  // namespace sotto
