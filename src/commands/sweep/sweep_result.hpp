#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/sweep/sweep_folder.hpp"
#include "commands/sweep/sweep_grid.hpp"
#include "privacy/private_choice.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// One training, and its outcome if it has ended.
struct SweepRow {
    SweepTraining training;
    std::optional<SweepOutcome> outcome;
};

/// The trainings of one cell, and the candidate chosen.
struct CellResult {
    std::optional<std::size_t> candidate;  ///< the chosen one; none until validation is over
    /// The chosen value of an option is the smallest or largest tried; a value whose training
    /// failed does not count as tried.
    bool at_edge = false;
    std::vector<SweepRow> validation, test;
};

/// The privacy loss of all trainings together.
struct SweepPrivacy {
    long runs = 0;  ///< that reached their first round
    PrivacyLoss loss;
    double epsilon = 0, delta = 0;
};

/// What is known of a private choice before its first training, from public options alone.
struct ChoicePlan {
    ChoiceCost cost;
    /// Standard deviation of the noise on the number of held-out records that a model predicts
    /// correctly; 0: scores are of public test data.
    double score_deviation = 0;
    std::string unit;  ///< what is protected, in words
};

/// The training that a private choice releases.
struct ChosenTraining {
    OptionValues options;
    std::string score_of;  ///< metric that chose; with noise if it is of held-out records
    double score = 0;
    ChoicePlan plan;
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
    /// Of all trainings of the sweep, validation included, for any data owner
    /// (ComposedRuns::anybody). None if nothing was trained, or the runs cannot be composed.
    std::optional<SweepPrivacy> privacy;
    std::string privacy_problem;           ///< why there is none
    std::optional<ChosenTraining> chosen;  ///< privately; cells and results then stay secret
};

/// Fills in done, diverged, failed and the first failure, in the order of the cells. A further
/// value that a training refuses (exit code 2) is not counted as a failure.
void count_outcomes(SweepResult& result);

/// The mean of a metric over the test seeds of a cell, and the half width of its 95% interval (NaN
/// with one seed). Nothing unless all trainings are done and have the metric.
struct SweepMean {
    double mean = 0, half_width = 0;
};
[[nodiscard]] std::optional<SweepMean> mean_of(const CellResult& result, const std::string& metric);

/// "done", "diverged", "failed", or "missing".
[[nodiscard]] std::string status_of(const SweepRow& row);
/// The number of test trainings of a cell with this status.
[[nodiscard]] long count_of(const CellResult& result, std::string_view status);

/// The candidate with the best mean of a metric: the largest for an accuracy, else the smallest;
/// the first of equal ones. A candidate is never better if a training of it is not done or lacks
/// the metric.
/// @param validation trainings of one cell.
/// @param candidates how many there are; with 0 or 1 the result is 0.
/// @throws ConfigError if a candidate's trainings are done, and no candidate has the metric.
[[nodiscard]] std::size_t best_candidate(std::span<const SweepRow> validation,
                                         std::size_t candidates,
                                         const std::string& metric);

/// Whether all trainings of a candidate are done.
[[nodiscard]] bool has_ended_well(std::span<const SweepRow> validation, std::size_t candidate);
/// Whether they are done or diverged. A failed training says nothing about its values.
[[nodiscard]] bool is_judged(std::span<const SweepRow> validation, std::size_t candidate);

}  // namespace sotto
