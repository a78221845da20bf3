#include "commands/supervise/stop_requests.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include "core/signal_actions.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto::cli {

namespace {

volatile std::sig_atomic_t requests = 0;
volatile std::sig_atomic_t first_request = 0;

void count_request(int signal) {
    if (requests == 0) first_request = signal;
    requests = requests + 1;
}

}  // namespace

void count_stop_requests() {
    handle_signals_ending_waits({SIGINT, SIGTERM, SIGHUP, SIGUSR1}, count_request);
}

int stop_requests() { return requests; }
int first_stop_signal() { return first_request; }

void forget_stop_requests() {
    requests = 0;
    first_request = 0;
}

void pause_unless_stopped(double seconds) {
    const auto start = Clock::now();
    while (requests == 0 && seconds_since(start) < seconds)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace sotto::cli
