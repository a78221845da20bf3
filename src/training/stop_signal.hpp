#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/stopwatch.hpp"
#include "net/control.hpp"

namespace sotto {

// SIGINT and SIGTERM end a process at once, except where a stop between two rounds is near. Signals
// that were ignored when the process started stay ignored (signal_actions.hpp).

/// Clears earlier requests. From now on SIGINT or SIGTERM requests a stop, and a second one ends
/// the process at once. SIGUSR1, which mpirun forwards without ending its ranks, requests a stop
/// however often it arrives.
void watch_for_stop();
[[nodiscard]] bool stop_requested();

/// From now on SIGINT, SIGTERM or SIGUSR1 ends the process at once. An unanswered request does so
/// too.
void end_when_stopped();

/// For work of unknown length between watched stops: a request, earlier or new, ends the process
/// after half a second unless watch_on() comes first. watch_on() restores the state of
/// watch_for_stop() and keeps requests.
void end_soon_when_stopped();
void watch_on();

/// How many rounds apart votes are: about 0.05 s. Over a slow network, where votes themselves take
/// long, the distance grows up to 0.2 s until no process waits for them. At most 256 rounds.
class VotePace {
  public:
    /// Whether this wait for a vote is more than a twentieth of the time between two votes.
    /// Processes share this answer instead of a time.
    [[nodiscard]] bool is_long(double waited_seconds) const;
    /// Rounds until the next vote. @param round_seconds largest of all processes, as reported: any
    /// value, including NaN.  @param long_wait of any process.
    [[nodiscard]] long rounds_after(double round_seconds, bool long_wait);

  private:
    double seconds_between_ = 0.05;
};

/// Lets all processes agree to stop after the same round. A process that wants to stop raises a
/// flag that travels with a non-blocking maximum. The maximum starts every few rounds and is
/// collected before the next one starts. The distance adapts to the time of a round, so that the
/// answer takes about 0.1 s and costs nothing (VotePace).
class StopVote {
  public:
    /// @param requested whether this process wants to stop. Both are borrowed.
    StopVote(Control& network, const std::function<bool()>& requested)
        : network_(network), requested_(requested) {}

    /// Call it after every round. True: all processes stop here. COLLECTIVE.
    bool after_round();
    /// Estimate from the last vote of how long all processes take to stop after a request [s]; 0
    /// before the first vote. The same on every process; any value as reported, including NaN.
    [[nodiscard]] double seconds_to_stop() const { return seconds_to_stop_; }
    /// Completes a pending vote. All processes call it after the last round. COLLECTIVE.
    void finish();

  private:
    void begin(double round_seconds);
    Control& network_;
    const std::function<bool()>& requested_;
    bool pending_ = false;
    long interval_ = 1, rounds_left_ = 1;
    VotePace pace_;
    bool waited_long_ = false;
    double seconds_to_stop_ = 0;
    Clock::time_point started_ = Clock::now();
};

// Whether there is enough time for a clean stop.

/// Compares the duration of a clean stop with what the launcher grants (seconds_before_kill).
class StopGrace {
  public:
    /// @param kill_seconds from the stop request until the launcher kills; none: no limit.
    explicit StopGrace(std::optional<int> kill_seconds) : kill_seconds_(kill_seconds) {}

    /// Advice before the first round. @param compute_seconds lower bound of a round's time; any
    /// value.
    [[nodiscard]] std::optional<std::string> advice_before(double compute_seconds);
    /// A line of advice, once: when the time is too short twice in a row, so that one long round
    /// does not trigger it.  @param stop_seconds until all have stopped; any value, including NaN.
    /// @param checkpoint_seconds that the last checkpoint took.
    [[nodiscard]] std::optional<std::string> advice(double stop_seconds, double checkpoint_seconds);

  private:
    [[nodiscard]] std::string words_about(double needed);
    std::optional<int> kill_seconds_;
    bool was_short_ = false;
};

/// Factor on the time limit outside the rounds: the bootstrap may read large files and solve a
/// large plan, and the end may compute figures of many views.
inline constexpr int patience_outside_rounds = 10;

/// How long a training waits for other processes. After a tenth of that, at most 30 s, it asks the
/// processes that it waits for and reports the silent ones on standard error.
/// @param abort_seconds --stall-abort; 0: never.  @param process_name of the reporting process.
/// @param patience factor on --stall-abort.
[[nodiscard]] StallLimits stall_limits(double abort_seconds,
                                       const std::string& process_name,
                                       int patience = 1);

}  // namespace sotto
