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
    static const LaunchWords open_mpi = [] {
        LaunchWords words;
        words.launchers = {"mpirun", "mpiexec"};
        words.oversubscribe = "--oversubscribe --bind-to none";
        words.network =
            "--mca btl_tcp_if_include NETWORK/BITS --mca oob_tcp_if_include NETWORK/BITS";
        words.start = "mpirun -n N sotto train; more ranks than cores: " + words.oversubscribe +
                      "; several hosts: --hostfile FILE " + words.network +
                      "; deploy/mpirun sets all of it";
        words.no_shared_reads = "OMPI_MCA_btl_vader_single_copy_mechanism=none";
        return words;
    }();
    static const LaunchWords hydra = [] {
        LaunchWords words;
        words.launchers = {"mpiexec.hydra", "mpiexec", "mpirun"};
        words.network = "-iface DEVICE -genv UCX_NET_DEVICES DEVICE";
        words.start =
            "mpiexec.hydra -n N sotto train, also with more ranks than cores; several "
            "hosts: -f FILE (HOST:RANKS a line) " +
            words.network;
        return words;
    }();
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
