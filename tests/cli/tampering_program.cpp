// sotto, with somebody between the agents: in its 13th exchange, round 12, rank 1 gets what
// SOTTO_TEST_TAMPER says instead of what it was sent.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "commands/cli/program.hpp"
#include "mpi/wire_tap.hpp"
#include "net/mpi_session.hpp"

int main(int argc, char** argv) {
    const char* const way = std::getenv("SOTTO_TEST_TAMPER");
    const std::string tamper = way != nullptr ? way : "";
    if (sotto::launch_environment().rank == 1)
        sotto::test::wire_tap().on_received =
            [tamper, exchanges = 0, earlier = std::vector<std::uint8_t>()](
                std::span<std::uint8_t> received, std::size_t piece) mutable {
                if (exchanges++ == 11) earlier.assign(received.begin(), received.end());
                if (exchanges != 13) return;
                const auto second = received.begin() + static_cast<std::ptrdiff_t>(piece);
                if (tamper == "flip") received[piece + 5] ^= 1;
                if (tamper == "replay") std::copy_n(earlier.begin(), piece, received.begin());
                if (tamper == "swap") std::swap_ranges(received.begin(), second, second);
            };
    return sotto::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
