#include "training/stop_grace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto {

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

/// Said once.
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

}  // namespace sotto
