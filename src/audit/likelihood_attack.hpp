#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audit/attack.hpp"
#include "audit/attack_statistics.hpp"
#include "audit/audit_job.hpp"
#include "audit/canaries.hpp"
#include "audit/choice_audit.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// Which of two contributions did an agent make? Every coordinate is a trial: the target adds its
/// canaries, the others nothing (AuditDesign), and the view's optimal test guesses. A run directory
/// keeps canaries.json.
[[nodiscard]] AttackRecord likelihood_attack();

/// Private choices to look at.
struct AuditedChoice {
    TrainingCount count;
    DrawnCount draw;
};

struct HypothesisVerdict {
    AttackFigures figures;  ///< intervals at the audit's level
    /// Set if the lower end, at the level corrected for the number of tests, exceeds the
    /// accountant's figure.
    std::vector<std::string> findings;
    [[nodiscard]] bool exceeds() const { return !findings.empty(); }
};

/// What members can say about the contributions of one agent, or of one person's agents.
struct LikelihoodResult : AuditResult {
    double delta = 0;
    AuditDesign design;
    std::vector<HypothesisVerdict> verdicts;    ///< as design.hypotheses
    std::optional<WhitenessFigures> whiteness;  ///< Gaussian noise only
    bool noise_as_accounted = true;
    long mask_pairs = 0;  ///< masked shares compared; 0 without secure sums
    std::optional<ChoiceFigures> choice;
    /// Of runs that record steps: mu of every hypothesis in the messages that were sent, and how
    /// many were not.
    std::vector<double> mu_of_run;
    long messages_missed = 0;

    [[nodiscard]] std::size_t strongest() const;  ///< with the largest theory
    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
};

/// Analyses recordings alone: merges those of the view's members, runs the optimal test of every
/// trial, and compares with the accountant.
/// @param views folder `views` of the run directory.  @param process the run according to its plan.
/// @param steps whether the run records them (TrainConfig::records_steps).
/// @param choice the private choices that trials are dealt into, if any, and how their numbers of
/// trainings are drawn.
/// @return mechanism, findings and the attack's own results.
/// @throws ConfigError for a choice without a finite mu, and as measure_choices.
[[nodiscard]] LikelihoodResult analyse_likelihood(const std::filesystem::path& views,
                                                  const MessageProcess& process,
                                                  const View& view,
                                                  const AuditDesign& design,
                                                  double delta,
                                                  double level,
                                                  int threads,
                                                  bool steps = false,
                                                  const std::optional<AuditedChoice>& choice = {});

/// The same while the view's members lie to their neighbours, "poison:sign-flip": what do honest
/// agents keep?
[[nodiscard]] std::vector<AttackRecord> poison_attacks();

}  // namespace sotto
