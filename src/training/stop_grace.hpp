#pragma once

// Whether a run that is asked to stop has the time to; not installed.

#include <optional>
#include <string>

namespace sotto {

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

}  // namespace sotto
