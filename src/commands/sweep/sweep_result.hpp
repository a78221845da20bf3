#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/sweep/sweep_folder.hpp"
#include "commands/sweep/sweep_grid.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// One training with how it ended, where it did.
struct SweepRow {
    SweepTraining training;
    std::optional<SweepOutcome> outcome;
};

/// One cell, measured.
struct CellResult {
    std::optional<std::size_t> candidate;  ///< chosen; none if validation is not over
    /// Of an option that is chosen no smaller, or no larger, value than the one chosen has been
    /// tried (one that failed has not).
    bool at_edge = false;
    std::vector<SweepRow> validation, test;
};

/// What trainings have revealed together.
struct SweepPrivacy {
    long runs = 0;  ///< that came to their first round
    PrivacyLoss loss;
    double epsilon = 0, delta = 0;
};

struct SweepResult {
    std::vector<SweepCell> cells;
    std::vector<CellResult> results;  ///< one per cell
    long trainings = 0, done = 0, diverged = 0, failed = 0;
    long reused = 0;  ///< of these, from earlier starts
    bool interrupted = false;
    double seconds = 0;
    std::optional<SweepOutcome> first_failure;
    std::string picture;  ///< path; empty if there is none
    /// Of all trainings of the sweep together, those that choose among them, by whoever had the
    /// data (ComposedRuns::anybody); none where nothing was trained, or they do not add up.
    std::optional<SweepPrivacy> privacy;
    std::string privacy_problem;  ///< why there is none
};

/// Fills in done, diverged, failed and the first failure, in the order of the cells. That a
/// training refuses a further value as bad usage is no failure of the sweep.
void count_outcomes(SweepResult& result);

/// Mean of a metric over the test seeds of a cell, and the half width of its 95% interval (NaN with
/// one seed). Nothing unless all trainings are done, and have it.
struct SweepMean {
    double mean = 0, half_width = 0;
};
[[nodiscard]] std::optional<SweepMean> mean_of(const CellResult& result, const std::string& metric);

/// "done", "diverged", "failed", or "missing".
[[nodiscard]] std::string status_of(const SweepRow& row);
/// Test trainings of a cell with this status.
[[nodiscard]] long count_of(const CellResult& result, std::string_view status);

/// The candidate whose trainings have the best mean of a metric: the smallest, of an accuracy the
/// largest; the first of equal ones. One whose trainings did not all end well, or lack the metric,
/// is never better.
/// @param validation trainings of one cell.  @param candidates their number; 0 for 1 or less.
/// @throws ConfigError if trainings have ended well, and no candidate has the metric.
[[nodiscard]] std::size_t best_candidate(std::span<const SweepRow> validation,
                                         std::size_t candidates,
                                         const std::string& metric);

/// Whether all trainings of a candidate are done.
[[nodiscard]] bool has_ended_well(std::span<const SweepRow> validation, std::size_t candidate);
/// Whether they are done or diverged: one that failed says nothing about its values.
[[nodiscard]] bool is_judged(std::span<const SweepRow> validation, std::size_t candidate);

}  // namespace sotto
