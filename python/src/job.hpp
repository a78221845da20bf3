#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <utility>

#include "net/network.hpp"
#include "sotto/core/error.hpp"

namespace sotto::python {

/// The processes of a communicator of mpi4py, or this process alone.
/// @param communicator its Fortran handle (comm.py2f()); none: this process alone.
/// @param agents_alone agents of this process if it is alone.
[[nodiscard]] std::unique_ptr<Network> make_network(std::optional<int> communicator,
                                                    int agents_alone = 1);

/// Ends the job with an error line, for a failure of this process alone: the others would wait for
/// ever.
[[noreturn]] void end_job(Network& network, ExitCode code, const char* message);

/// Runs a collective step without the GIL. Errors that all processes have are thrown; any other
/// error ends the job if there are several processes.
template <class Step>
auto together(Network& network, Step&& step) {
    const pybind11::gil_scoped_release others_may_run;
    try {
        return step();
    } catch (const Error& failure) {
        if (network.processes() == 1 || network.failed_together()) throw;
        end_job(network, failure.exit_code(), failure.what());
    }
}

}  // namespace sotto::python
