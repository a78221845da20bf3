#pragma once

#include <Eigen/Dense>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "audit/audit_job.hpp"
#include "privacy/private_choice.hpp"

namespace sotto {

// Private choices in an audit: trials of one hypothesis stand for trainings, and the attackers'
// likelihood ratio, which tells most about the secret sign, is the score. Each choice takes as many
// trials of one sign as are drawn, and releases the largest score.

/// The number of trainings that --private-choice and --choice-shape ask for.
/// @throws ConfigError without a private choice.
[[nodiscard]] TrainingCount choice_count(const AuditConfig& config);

/// Choices of both signs together that an audit has by default, and at least.
inline constexpr long usual_choices = 2000;
inline constexpr long fewest_choices = 400;

/// Choices for which so many trainings of one sign suffice, unless their number is five standard
/// deviations above its mean.
[[nodiscard]] long choices_from(const TrainingCount& count, long trainings);
/// Trials of both signs for so many choices of both signs. May be above 1e18.
[[nodiscard]] double trials_for_choices(const TrainingCount& count, long choices);
/// @throws ConfigError for trials of both signs that suffice for fewer than fewest_choices.
void require_choices(const TrainingCount& count, long trials);

/// The number of trainings of the next choice.
using DrawnCount = std::function<long()>;
/// That of a real private choice (draw_configurations), whose bits follow from --noise-seed if the
/// audit has one.
[[nodiscard]] DrawnCount drawn_counts(const AuditConfig& config);

/// What choices released.
struct ReleasedScores {
    Eigen::VectorXd scores, signs;  ///< one per choice
    long trainings = 0;             ///< of all choices
};
/// Deals trials into choices, in their order, for each sign; how many choices there are does not
/// depend on what is drawn. A choice for which too few trials are left takes these; one without any
/// is left out.
/// @param scores, signs (+-1) of trials.
[[nodiscard]] ReleasedScores release_best(const Eigen::VectorXd& scores,
                                          const Eigen::VectorXd& signs,
                                          const TrainingCount& count,
                                          const DrawnCount& draw);

/// P[best <= c] where one training has a score of at most c with this probability: the generating
/// function of the number of trainings.
[[nodiscard]] double released_at_most(const TrainingCount& count, double probability);

/// Largest distance of the empirical distribution from a continuous one.
/// @param values of that distribution at the observations, at least one.
[[nodiscard]] double distribution_distance(Eigen::VectorXd values);
/// P[distance of `observations` from their own distribution >= distance] is at most this (Massart
/// 1990): 2 exp(-2 n distance^2).
[[nodiscard]] double distance_p_value(double distance, long observations);

/// What private choices show, against what is accounted for.
struct ChoiceFigures {
    TrainingCount count;
    std::string hypothesis;
    long choices = 0;           ///< of both signs
    double trainings_mean = 0;  ///< drawn, of a choice
    double epsilon_one = 0;     ///< certified, of one training
    ChoiceCost cost;
    double epsilon_lower = 0;  ///< at the audit's level
    double distance = 0;       ///< of the released scores' distribution, of the sign that is worse
    double p_value = 1;        ///< of both signs
    std::vector<std::string> findings;
};

/// How an audit judges.
struct ChoiceRisks {
    double delta = 0;
    double level = 0.99;  ///< of the figures
    double risk = 0;      ///< of a false alarm of each of two tests
};

/// Compares epsilon of what choices release with choice_cost, and the distribution of the released
/// scores of both signs with f(Phi(c -+ mu / 2)), f the generating function of the count.
/// @param scores of trials, N(b mu / 2, 1) for sign b.
/// @param mu of one trial, finite.  @param mu_theory the accountant's, for the cost.
/// @throws ConfigError for trials that suffice for fewer than fewest_choices.
[[nodiscard]] ChoiceFigures measure_choices(const Eigen::VectorXd& scores,
                                            const Eigen::VectorXd& signs,
                                            double mu,
                                            double mu_theory,
                                            const TrainingCount& count,
                                            const DrawnCount& draw,
                                            const ChoiceRisks& risks);

[[nodiscard]] nlohmann::ordered_json choice_figures_json(const ChoiceFigures& figures);
/// Lines for people, with line ends.
[[nodiscard]] std::string choice_figures_text(const ChoiceFigures& figures);

}  // namespace sotto
