#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_result.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// One of the mechanisms that are compared, with what is said of it alone.
struct ComparedMechanism {
    std::string label;    ///< as the user wrote it
    OptionTexts options;  ///< of `sotto train`, mechanism among them
};

/// Mechanisms separated by commas: NAME or FILE.npy (a covariance of one's own), each with options
/// of its own behind plus signs, "pairs+coalition-size=2".
/// @throws ConfigError naming the word, for a mechanism or an option that does not exist, and for
/// one that is there twice.
[[nodiscard]] std::vector<ComparedMechanism> parse_compared_mechanisms(const std::string& option,
                                                                       const std::string& text);

/// What `sotto compare` is asked.
struct CompareConfig {
    std::vector<ComparedMechanism> mechanisms;
    OptionTexts common;  ///< of trainings, for all of them
    bool train = false;
    std::vector<std::string> seeds{"1", "2", "3"};
    std::vector<std::string> step_sizes;  ///< to choose from; empty: the one that is given
    std::filesystem::path directory;
    int threads = 1;
};

/// What is known of one mechanism; not a number where it is not: of agents that take a share of
/// their records only trainings know the plan.
struct ComparedFigures {
    std::string label;
    double noise = 0;      ///< that survives, of what ldp leaves
    double noise_std = 0;  ///< the largest of any message
    double outsider = 0;   ///< epsilon against whoever records every message; may be infinite
    double curious = 0;    ///< the same with the seeds of the worst agent
    std::string problem;   ///< why there is no plan; empty: there is
    /// Of trainings, where there are any.
    std::optional<SweepMean> accuracy{}, loss{};
    std::string step_size{};  ///< where it was chosen
};

/// What its plan says. Cost: that of the plan, and of worst_curious_agent up to 128 agents.
[[nodiscard]] ComparedFigures compared_figures(const CompareConfig& config,
                                               const ComparedMechanism& mechanism);

/// Trainings of all mechanisms that have a plan, as a sweep with one variant each.
[[nodiscard]] SweepConfig compared_trainings(const CompareConfig& config,
                                             const std::vector<ComparedFigures>& figures);
/// Adds what trainings came to.
void add_trainings(std::vector<ComparedFigures>& figures, const SweepResult& result);

}  // namespace sotto
