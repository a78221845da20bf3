#include "training/stop_vote.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sotto {

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
        // Until the flag is raised, and until it is collected.
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

}  // namespace sotto
