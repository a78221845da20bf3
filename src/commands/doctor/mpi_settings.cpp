#include "commands/doctor/mpi_settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "sotto/net/mpi_network.hpp"

namespace sotto {

bool is_open_mpi(const std::string& text) { return text.find("Open MPI") != std::string::npos; }

bool is_open_mpi() { return is_open_mpi(MpiSession::library_version()); }

const LaunchWords& launch_words(const std::string& library) {
    static const LaunchWords open_mpi{
        {"mpirun", "mpiexec"},
        "--oversubscribe --bind-to none",
        "mpirun -n N sotto train; with more ranks than cores mpirun --oversubscribe --bind-to none "
        "-n N; over "
        "hosts --hostfile FILE --mca btl_tcp_if_include NETWORK/BITS --mca oob_tcp_if_include "
        "NETWORK/BITS; deploy/mpirun sets all of it",
        "--mca btl_tcp_if_include NETWORK/BITS --mca oob_tcp_if_include NETWORK/BITS",
        "OMPI_MCA_btl_vader_single_copy_mechanism=none"};
    static const LaunchWords hydra{{"mpiexec.hydra", "mpiexec", "mpirun"},
                                   "",
                                   "mpiexec.hydra -n N sotto train, also with more ranks than "
                                   "cores; over hosts -f FILE (HOST:RANKS a line) "
                                   "-iface DEVICE -genv UCX_NET_DEVICES DEVICE",
                                   "-iface DEVICE -genv UCX_NET_DEVICES DEVICE",
                                   ""};
    return is_open_mpi(library) ? open_mpi : hydra;
}

const LaunchWords& launch_words() { return launch_words(MpiSession::library_version()); }

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool waiting_ranks_yield() {
    constexpr std::array<std::string_view, 7> off{"0", "false", "no", "f", "n", "off", "disabled"};
    return std::ranges::find(off, environment("OMPI_MCA_mpi_yield_when_idle")) == off.end();
}

}  // namespace sotto
