#include "training/stop_signal.hpp"

#include <sys/time.h>

#include <csignal>

#include "core/signal_actions.hpp"

namespace sotto {

namespace {

volatile std::sig_atomic_t stop_signal = 0;
volatile std::sig_atomic_t ends_soon = 0;

void end_by(int signal) {
    default_signals({signal});
    std::raise(signal);
}

void end_after_patience(int /*signal*/) {
    if (ends_soon != 0 && stop_signal != 0) end_by(stop_signal);
}

/// @param microseconds 0: no longer.
void set_timer(long microseconds) {
    itimerval timer{};
    timer.it_value.tv_usec = microseconds;
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

constexpr long stop_patience = 500'000;  // [us]

void note_stop(int signal) {
    stop_signal = signal;
    // A second one ends the process at once; but deploy/mpirun asks until it has ended.
    if (signal != SIGUSR1) default_signals({signal});
    if (ends_soon != 0) set_timer(stop_patience);
}

}  // namespace

void watch_for_stop() {
    stop_signal = 0;
    ends_soon = 0;
    handle_signals({SIGINT, SIGTERM, SIGUSR1}, note_stop);
}

bool stop_requested() { return stop_signal != 0; }

void end_when_stopped() {
    default_signals({SIGINT, SIGTERM, SIGUSR1});
    if (stop_signal != 0) end_by(stop_signal);
}

void end_soon_when_stopped() {
    handle_signals({SIGALRM}, end_after_patience);
    ends_soon = 1;
    if (stop_signal != 0) set_timer(stop_patience);
}

void watch_on() {
    ends_soon = 0;
    set_timer(0);
}

}  // namespace sotto
