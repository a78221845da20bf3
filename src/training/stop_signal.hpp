#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/stopwatch.hpp"
#include "net/network.hpp"

namespace sotto {

// SIGINT and SIGTERM end a process at once, as they do any other, but where a stop between two
// rounds is near. What a process was started to ignore stays ignored (signal_actions.hpp).

/// Nothing was asked yet; from now on an interrupt or termination asks for a stop; a second one
/// ends the process at once. SIGUSR1, which mpirun passes on to its ranks without ending them, asks
/// however often it comes.
void watch_for_stop();
[[nodiscard]] bool stop_requested();

/// From now on an interrupt, termination or SIGUSR1 ends the process at once. So does one that was
/// asked for and not yet answered.
void end_when_stopped();

/// For work of unknown length between stops that are watched for: whoever asks meanwhile, or has
/// asked, ends the process after half a second, unless watch_on() comes first, by which everything
/// is again as after watch_for_stop(). What was asked stays asked.
void end_soon_when_stopped();
void watch_on();

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

// Whether a run that is asked to stop has the time to.

/// Compares what a clean stop takes with what the launcher grants (seconds_before_kill).
class StopGrace {
  public:
    /// @param kill_seconds from asking to killing; nothing: there is no limit.
    explicit StopGrace(std::optional<int> kill_seconds) : kill_seconds_(kill_seconds) {}

    /// Before the first round. @param compute_seconds of one, which then takes no less; any value.
    [[nodiscard]] std::optional<std::string> advice_before(double compute_seconds);
    /// A line of advice, once: as soon as the time is short twice in a row, so that one long round
    /// alone says nothing.  @param stop_seconds until all have stopped; any value, also NaN.
    /// @param checkpoint_seconds that the last checkpoint took.
    [[nodiscard]] std::optional<std::string> advice(double stop_seconds, double checkpoint_seconds);

  private:
    [[nodiscard]] std::string words_about(double needed);
    std::optional<int> kill_seconds_;
    bool was_short_ = false;
};

/// The bootstrap may read large files and solve a large plan, and what follows the rounds compute
/// figures of many views: as many times what a round may take.
inline constexpr int patience_outside_rounds = 10;

/// How long a training waits for other processes. After a tenth of that, at most 30 s, it asks
/// those that it waits for and reports the silent ones on standard error.
/// @param abort_seconds --stall-abort; 0: never.  @param process_name of who reports.
/// @param patience how many times --stall-abort it waits.
[[nodiscard]] StallLimits stall_limits(double abort_seconds,
                                       const std::string& process_name,
                                       int patience = 1);

}  // namespace sotto
