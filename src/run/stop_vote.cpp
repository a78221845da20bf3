#include "run/stop_vote.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sotto {

bool StopVote::after_round() {
    if (--rounds_left_ > 0) return false;
    const double round_seconds = seconds_since(started_) / static_cast<double>(interval_);
    bool stop = false;
    if (pending_) {
        const auto votes = network_.end_maximum();
        pending_ = false;
        stop = votes[0] > 0;
        // Of what others measured, which need not be a time.
        const double seconds = votes[1] > 1e-6 ? votes[1] : std::isnan(votes[1]) ? 1 : 1e-6;
        interval_ = std::clamp(static_cast<long>(0.05 / seconds), 1L, 256L);
    }
    if (!stop) begin(round_seconds);
    return stop;
}

void StopVote::finish() {
    if (pending_) (void)network_.end_maximum();
    pending_ = false;
}

void StopVote::begin(double round_seconds) {
    const std::array<double, 2> vote{requested_() ? 1.0 : 0.0, round_seconds};
    network_.begin_maximum(vote);
    pending_ = true;
    rounds_left_ = interval_;
    started_ = Clock::now();
}

}  // namespace sotto
