#include "commands/doctor/mpi_settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "sotto/net/mpi_network.hpp"

namespace sotto {

bool is_open_mpi(const std::string& text) { return text.find("Open MPI") != std::string::npos; }

bool is_open_mpi() { return is_open_mpi(MpiSession::library_version()); }

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool waiting_ranks_yield() {
    constexpr std::array<std::string_view, 7> off{"0", "false", "no", "f", "n", "off", "disabled"};
    return std::ranges::find(off, environment("OMPI_MCA_mpi_yield_when_idle")) == off.end();
}

}  // namespace sotto
