#pragma once

#include <functional>

#include "sotto/core/stopwatch.hpp"
#include "sotto/net/network.hpp"

namespace sotto {

/// How many rounds apart votes are: about 0.05 s; where a vote takes long itself, over a slow
/// network, further apart until nobody waits for it, up to 0.2 s. At most 256 rounds.
class VotePace {
  public:
    /// Whether so many seconds of waiting for a vote are more than a twentieth of the time between
    /// two; what a process tells the others, and no time.
    [[nodiscard]] bool is_long(double waited_seconds) const;
    /// Rounds to the next vote. @param round_seconds largest of all processes, as they say: any
    /// value, also NaN.  @param long_wait of any process.
    [[nodiscard]] long rounds_after(double round_seconds, bool long_wait);

  private:
    double seconds_between_ = 0.05;
};

/// Lets all processes agree to stop after the same round. A process that wants to stop raises a
/// flag that travels with a non-blocking maximum, started every few rounds and collected before the
/// next one starts; the distance adapts to the time of a round, so that the answer takes about 0.1
/// s and costs nothing (VotePace).
class StopVote {
  public:
    /// @param requested whether this process wants to stop. Both are borrowed.
    StopVote(Network& network, const std::function<bool()>& requested)
        : network_(network), requested_(requested) {}

    /// After every round. True: all processes stop here. COLLECTIVE.
    bool after_round();
    /// How long it may take, by the last vote, until all stop where one asks [s]; 0 before there is
    /// one. The same on every process, as all say: any value, also NaN.
    [[nodiscard]] double seconds_to_stop() const { return seconds_to_stop_; }
    /// Completes a vote that is under way; all processes call it after the last round. COLLECTIVE.
    void finish();

  private:
    void begin(double round_seconds);
    Network& network_;
    const std::function<bool()>& requested_;
    bool pending_ = false;
    long interval_ = 1, rounds_left_ = 1;
    VotePace pace_;
    bool waited_long_ = false;
    double seconds_to_stop_ = 0;
    Clock::time_point started_ = Clock::now();
};

}  // namespace sotto
