#include "commands/doctor/doctor.hpp"

#include "commands/doctor/folder_checks.hpp"
#include "commands/doctor/library_checks.hpp"
#include "commands/doctor/machine_checks.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

Finding make(const CheckRecord& check, const Placement& placement) {
    try {
        return check.make(placement);
    } catch (const std::exception& error) {
        return {false, error.what(), "install the library this needs again"};
    }
}

}  // namespace

const Registry<CheckRecord>& machine_checks() {
    static const Registry<CheckRecord> table("check",
                                             {{"program", check_program, true},
                                              {"mpi-library", check_mpi_library, true},
                                              {"root", check_root},
                                              {"cores", check_cores},
                                              {"yielding", check_yielding},
                                              {"eigen", check_eigen},
                                              {"eigenvalues", check_eigenvalues},
                                              {"blas-kernels", check_blas_kernels},
                                              {"blas-threads", check_blas_threads},
                                              {"libsodium", check_libsodium},
                                              {"simd", check_simd},
                                              {"noise-bits", check_noise_bits, true},
                                              {"locked-memory", check_locked_memory},
                                              {"shared-memory", check_shared_memory},
                                              {"leftover-segments", check_leftover_segments},
                                              {"temporary-directory", check_temporary_directory},
                                              {"run-directory", check_run_directory}});
    return table;
}

std::vector<DoctorCheck> check_machine(const Placement& placement) {
    std::vector<DoctorCheck> checks;
    for (const CheckRecord& check : machine_checks().records()) {
        const Finding finding = make(check, placement);
        checks.push_back({check.name, finding.ok, finding.found, finding.fix, check.must_agree});
    }
    return checks;
}

}  // namespace sotto
