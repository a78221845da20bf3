#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "sotto/core/stopwatch.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// Lets all processes agree to stop after the same round. A process that wants to stop raises a
/// flag that travels with a non-blocking maximum, started every few rounds and collected before the
/// next one starts; the distance adapts to the time of a round, so that the answer takes about 0.1
/// s and costs nothing.
class StopVote {
  public:
    StopVote(Network& network, const std::function<bool()>& requested)
        : network_(network), requested_(requested) {}

    /// After every round. True: all processes stop here.
    bool after_round() {
        if (--rounds_left_ > 0) return false;
        const double round_seconds = seconds_since(started_) / static_cast<double>(interval_);
        bool stop = false;
        if (pending_) {
            const auto votes = network_.end_maximum();
            pending_ = false;
            stop = votes[0] > 0;
            interval_ = std::clamp(static_cast<long>(0.05 / std::max(votes[1], 1e-6)), 1L, 256L);
        }
        if (!stop) begin(round_seconds);
        return stop;
    }
    /// Completes a vote that is under way; all processes call it after the last round.
    void finish() {
        if (pending_) (void)network_.end_maximum();
        pending_ = false;
    }

  private:
    void begin(double round_seconds) {
        const std::array<double, 2> vote{requested_() ? 1.0 : 0.0, round_seconds};
        network_.begin_maximum(vote);
        pending_ = true;
        rounds_left_ = interval_;
        started_ = Clock::now();
    }
    Network& network_;
    const std::function<bool()>& requested_;
    bool pending_ = false;
    long interval_ = 1, rounds_left_ = 1;
    Clock::time_point started_ = Clock::now();
};

}  // namespace sotto
