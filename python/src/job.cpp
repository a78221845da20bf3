#include "job.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "config/config.hpp"
#include "core/output.hpp"
#include "net/memory_network.hpp"
#include "net/mpi_network.hpp"
#include "training/stop_signal.hpp"

namespace sotto::python {

std::unique_ptr<Network> make_network(std::optional<int> communicator, int agents_alone) {
    if (!communicator) return make_memory_network(agents_alone, 1);
    const MpiSession session(communicator);
    auto network = make_mpi_network(session);
    const TrainConfig defaults;
    network->watch_for_stalls(stall_limits(defaults.stall_abort_seconds, network->process_name()));
    return network;
}

void end_job(Network& network, ExitCode code, const char* message) {
    print_error_line(fmt::format("{}: {}", network.process_name(), message));
    network.abort(code);
    std::abort();  // not reached; the compiler does not know that abort() does not return
}

}  // namespace sotto::python
