#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_result.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// One mechanism to compare, with its own options.
struct ComparedMechanism {
    std::string label;    ///< as the user wrote it
    OptionTexts options;  ///< of `sotto train`, including mechanism
};

/// Parses mechanisms separated by commas: NAME, or FILE.npy for a covariance; each may have options
/// after plus signs: "pairs+coalition-size=2".
/// @throws ConfigError naming the word, for an unknown or repeated mechanism or option.
[[nodiscard]] std::vector<ComparedMechanism> parse_compared_mechanisms(const std::string& option,
                                                                       const std::string& text);

/// The options of `sotto compare`.
struct CompareConfig {
    std::vector<ComparedMechanism> mechanisms;
    OptionTexts common;  ///< options of all trainings
    bool train = false;
    std::vector<std::string> seeds{"1", "2", "3"};
    std::vector<std::string> step_sizes;  ///< to choose from; empty: no choice
    std::filesystem::path directory;
    int threads = 1;
};

/// The figures of one mechanism; NaN if unknown. If batches are a share of each agent's records,
/// only trainings know the plan.
struct ComparedFigures {
    std::string label;
    double noise = 0;      ///< noise in the mean model, relative to that of ldp
    double noise_std = 0;  ///< the largest of any message
    double outsider = 0;   ///< epsilon against an observer of every message; may be infinite
    double curious = 0;    ///< the same if the observer is the worst agent and uses its seeds
    std::string problem;   ///< why there is no plan; empty: there is one
    /// From trainings, if there are any.
    std::optional<SweepMean> accuracy{}, loss{};
    std::string step_size{};  ///< if it was chosen
};

/// The figures of the plan. Cost: that of the plan, and of worst_curious_agent up to 128 agents.
[[nodiscard]] ComparedFigures compared_figures(const CompareConfig& config,
                                               const ComparedMechanism& mechanism);

/// A sweep over the mechanisms that have a plan, with one variant for each.
[[nodiscard]] SweepConfig compared_trainings(const CompareConfig& config,
                                             const std::vector<ComparedFigures>& figures);
/// Adds the results of trainings; and, of rows without a plan, the largest epsilons of their
/// ledgers. @param directory of the sweep.
void add_trainings(std::vector<ComparedFigures>& figures,
                   const SweepResult& result,
                   const std::filesystem::path& directory);

}  // namespace sotto
