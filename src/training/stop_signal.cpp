#include "training/stop_signal.hpp"

#include <fmt/format.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

#include "core/output.hpp"
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

/// @param microseconds 0: stops the timer.
void set_timer(long microseconds) {
    itimerval timer{};
    timer.it_value.tv_usec = microseconds;
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

constexpr long stop_patience = 500'000;  // [us]

void note_stop(int signal) {
    stop_signal = signal;
    // A second signal ends the process at once, except SIGUSR1, which deploy/mpirun repeats until
    // the end.
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

bool StopVote::after_round() {
    if (--rounds_left_ > 0) return false;
    const double round_seconds = seconds_since(started_) / static_cast<double>(interval_);
    bool stop = false;
    if (pending_) {
        const auto waiting = Clock::now();
        const auto votes = network_.end_maximum();
        waited_long_ = pace_.is_long(seconds_since(waiting));
        pending_ = false;
        stop = votes[0] > 0;
        interval_ = pace_.rounds_after(votes[1], votes[2] > 0);
        // One interval until the flag is raised, one until it is collected.
        seconds_to_stop_ = 2 * static_cast<double>(interval_) * votes[1];
    }
    if (!stop) begin(round_seconds);
    return stop;
}

bool VotePace::is_long(double waited_seconds) const {
    return waited_seconds > 0.05 * seconds_between_;
}

long VotePace::rounds_after(double round_seconds, bool long_wait) {
    constexpr double most_seconds_between = 0.2;
    const double seconds = round_seconds > 1e-6        ? round_seconds
                           : std::isnan(round_seconds) ? 1
                                                       : 1e-6;
    if (long_wait) seconds_between_ = std::min(2 * seconds_between_, most_seconds_between);
    return std::clamp(static_cast<long>(seconds_between_ / seconds), 1L, 256L);
}

void StopVote::finish() {
    if (pending_) (void)network_.end_maximum();
    pending_ = false;
}

void StopVote::begin(double round_seconds) {
    const std::array<double, 3> vote{
        requested_() ? 1.0 : 0.0, round_seconds, waited_long_ ? 1.0 : 0.0};
    network_.begin_maximum(vote);
    pending_ = true;
    rounds_left_ = interval_;
    started_ = Clock::now();
}

std::optional<std::string> StopGrace::advice_before(double compute_seconds) {
    // All stop within two rounds (StopVote).
    const double needed = 2 * compute_seconds;
    if (!kill_seconds_ || !(needed > *kill_seconds_)) return std::nullopt;
    return words_about(needed);
}

std::optional<std::string> StopGrace::advice(double stop_seconds, double checkpoint_seconds) {
    if (!kill_seconds_) return std::nullopt;
    const double needed = stop_seconds + checkpoint_seconds;
    const bool is_short = needed > *kill_seconds_;
    const bool twice = is_short && was_short_;
    was_short_ = is_short;
    if (!twice) return std::nullopt;
    return words_about(needed);
}

/// The advice, once.
std::string StopGrace::words_about(double needed) {
    const int granted = *kill_seconds_;
    kill_seconds_.reset();
    return fmt::format(
        "Ctrl-C would lose the rounds since the last checkpoint: to stop takes up to {:.2g} s, and "
        "mpirun kills ranks after {} s; start with `sotto supervise -- mpirun ...`, which waits, "
        "or set OMPI_MCA_odls_base_sigkill_timeout={:.0f}",
        needed,
        granted,
        std::ceil(2 * std::min(needed, 1e6)));
}

StallLimits stall_limits(double abort_seconds, const std::string& process_name, int patience) {
    const std::string setting = fmt::format("--stall-abort {:g}", abort_seconds);
    constexpr double longest_warning = 30;
    return {abort_seconds > 0 ? std::min(patience * abort_seconds / 10, longest_warning)
                              : longest_warning,
            patience * abort_seconds,
            patience == 1 ? setting : fmt::format("{} times {}", patience, setting),
            [process_name](const std::string& line) {
                print_error_line(fmt::format("{}: {}", process_name, line));
            }};
}

}  // namespace sotto
