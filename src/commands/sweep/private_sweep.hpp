#pragma once

#include <functional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_folder.hpp"
#include "commands/sweep/sweep_grid.hpp"
#include "commands/sweep/sweep_result.hpp"
#include "config/config.hpp"

namespace sotto {

// `sotto sweep --private-choice`: a random number of trainings, each of a configuration drawn
// uniformly from the grid, and only the best of them is released (docs/sweeps.md).

/// Plans every training of the grid, on as many agents as it has, without a round.
/// @param read gives the configuration of a training.
/// @throws ConfigError for trainings that cannot be chosen from privately: without privacy, with
/// noise that can be repeated, with models that are secret or data that no epsilon counts, with
/// different deltas or adjacencies, or scores that reveal more than a count of records.
[[nodiscard]] ChoicePlan plan_choice(const SweepConfig& config,
                                     const std::vector<SweepCell>& cells,
                                     const std::function<TrainConfig(const std::string&)>& read);

/// The drawn configurations, which stay the same when a stopped sweep goes on. Process 0 only.
/// The file DIR/draws.json is secret, as is the number of trainings, until the choice is made.
/// @return numbers of configurations, as in `drawn_cell`; at least one.
/// @throws ConfigError if the folder holds a choice among other trainings, or one that has been
/// made. Of the latter it first removes what release_choice removes, if that did not end.
[[nodiscard]] std::vector<std::size_t> draw_choice(const SweepConfig& config,
                                                   const std::vector<SweepCell>& cells,
                                                   const SweepFolder& folder);

/// Metrics of a training beside sweep_metrics().
inline constexpr const char* noisy_accuracy_name = "test_accuracy_with_noise";
inline constexpr const char* test_records_name = "test_records";
/// Replaces the metrics of a training that is done by the accuracy of the mean model on held-out
/// records with noise: (right + deviation z, rounded) / records, z standard normal from the
/// operating system's generator.
void hide_held_out(SweepOutcome& outcome, double deviation);

/// Copies the models of the chosen training to DIR/released, writes choice.json there, and removes
/// runs, outcomes and draws of all; their ledgers stay in DIR/spent. Process 0 only.
/// @param cell, result of the drawn trainings.
/// @throws Error if no training ended well.
[[nodiscard]] ChosenTraining release_choice(const SweepConfig& config,
                                            const ChoicePlan& plan,
                                            const SweepCell& cell,
                                            const CellResult& result,
                                            const SweepFolder& folder);

/// As JSON text (choice.json), and as text for people.
[[nodiscard]] std::string choice_json(const SweepConfig& config, const ChosenTraining& chosen);
[[nodiscard]] std::string choice_text(const SweepConfig& config, const ChosenTraining& chosen);
/// What the choice will cost, before the first training.
[[nodiscard]] std::string choice_plan_text(const SweepConfig& config, const ChoicePlan& plan);

}  // namespace sotto
