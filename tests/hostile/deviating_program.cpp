// sotto, whose rank SOTTO_TEST_RANK deviates from the protocol as SOTTO_TEST_DEVIATION says. It
// runs the real agent; the linker puts the network below in the place of the one it makes
// (--wrap), and MPI's profiling interface changes what leaves it sealed.

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "commands/cli/program.hpp"
#include "hostile/deviating_network.hpp"
#include "net/mpi_network.hpp"
#include "net/mpi_session.hpp"

namespace sotto::test {

std::unique_ptr<Network> real_network(const MpiSession& session) __asm__(
    "__real__ZN5sotto16make_mpi_networkERKNS_10MpiSessionE");
std::unique_ptr<Network> wrapped_network(const MpiSession& session) __asm__(
    "__wrap__ZN5sotto16make_mpi_networkERKNS_10MpiSessionE");

std::unique_ptr<Network> real_network(const MpiSession& session, int agents) __asm__(
    "__real__ZN5sotto16make_mpi_networkERKNS_10MpiSessionEi");
std::unique_ptr<Network> wrapped_network(const MpiSession& session, int agents) __asm__(
    "__wrap__ZN5sotto16make_mpi_networkERKNS_10MpiSessionEi");

std::unique_ptr<Network> deviating(std::unique_ptr<Network> network) {
    const Deviation* own = own_deviation();
    return own == nullptr ? std::move(network) : make_deviating_network(std::move(network), *own);
}

std::unique_ptr<Network> wrapped_network(const MpiSession& session) {
    return deviating(real_network(session));
}
std::unique_ptr<Network> wrapped_network(const MpiSession& session, int agents) {
    return deviating(real_network(session, agents));
}

}  // namespace sotto::test

int main(int argc, char** argv) {
    const char* const rank = std::getenv("SOTTO_TEST_RANK");
    const char* const name = std::getenv("SOTTO_TEST_DEVIATION");
    if (rank != nullptr && name != nullptr && sotto::launch_environment().rank == std::atoi(rank)) {
        const auto& own = sotto::test::deviation_named(name);
        sotto::test::own_deviation() = &own;
        if (own.start) own.start();
    }
    return sotto::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
