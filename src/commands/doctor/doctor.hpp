#pragma once

#include <string>
#include <vector>

#include "commands/doctor/doctor_check.hpp"
#include "commands/doctor/placement.hpp"
#include "sotto/core/registry.hpp"

namespace sotto {

/// Something one process can find out by itself.
struct CheckRecord {
    std::string name;  ///< as DoctorCheck::name
    Finding (*make)(const Placement&) = nullptr;
    bool must_agree = false;  ///< as DoctorCheck::must_agree
};

/// Every such check, in the order of the report: libraries, limits, shared memory, cores, folders.
[[nodiscard]] const Registry<CheckRecord>& machine_checks();

/// All of them; one that could not even be made has failed. Communicates with nobody and leaves
/// nothing behind. LOCAL.
[[nodiscard]] std::vector<DoctorCheck> check_machine(const Placement& placement);

}  // namespace sotto
