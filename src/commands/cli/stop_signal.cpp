#include "commands/cli/stop_signal.hpp"

#include <csignal>

namespace sotto::cli {

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void note_stop(int signal) {
    stop_signal = signal;
    // A second one ends the process at once; but deploy/mpirun asks until it has ended.
    if (signal != SIGUSR1) std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_for_stop() {
    stop_signal = 0;
    std::signal(SIGINT, note_stop);
    std::signal(SIGTERM, note_stop);
    std::signal(SIGUSR1, note_stop);
}

bool stop_requested() { return stop_signal != 0; }

}  // namespace sotto::cli
