#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/exposure.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// How mu* is found from (epsilon, delta).
enum class Calibration {
    exact,  ///< the exact Gaussian-DP curve; least noise
    rdp,    ///< inverted Theorem 2 of [W], [C]
    paper   ///< [W] eq. 10b; refused where it misses its own target
};
[[nodiscard]] Calibration parse_calibration(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Calibration calibration);

/// What may be learnt about one agent's neighbouring inputs. Valid by existing.
struct PrivacyBudget {
    double epsilon = 0;  ///< requested
    double delta = 0;    ///< 0 where the epsilon is pure
    Calibration calibration = Calibration::exact;
    StreamDistribution noise = StreamDistribution::gaussian;  ///< it is calibrated for
    PrivacyLoss limit;                                        ///< what meets it under that noise
};
/// Against Gaussian noise: the limit is the calibration's mu.
/// @throws ConfigError unless epsilon is finite and > 0 and 0 < delta < 1 (NaN fails), and for
///         `paper` where the exact epsilon of its mu exceeds the target.
[[nodiscard]] PrivacyBudget make_budget(double epsilon, double delta, Calibration calibration);
/// Against Laplace noise: the limit is the epsilon itself, with delta 0 and nothing to calibrate.
/// @throws ConfigError unless epsilon > 0.
[[nodiscard]] PrivacyBudget make_pure_budget(double epsilon);
/// Against this noise. @throws as both.
[[nodiscard]] PrivacyBudget make_budget(StreamDistribution noise,
                                        double epsilon,
                                        double delta,
                                        Calibration calibration);
/// The budget as it is if it is calibrated for this noise, otherwise a new one of its epsilon.
[[nodiscard]] PrivacyBudget budget_against(StreamDistribution noise,
                                           const PrivacyBudget& budget,
                                           double delta,
                                           Calibration calibration);
/// What this loss, caused by this noise, spends. @param delta strictly between 0 and 1.
[[nodiscard]] PrivacyBudget budget_spent_by(const PrivacyLoss& loss,
                                            StreamDistribution noise,
                                            double delta);
/// Of agents that are promised nothing, because no noise is added.
[[nodiscard]] PrivacyBudget no_budget(double delta, Calibration calibration);

/// What exposures allow somebody to learn who knows [R^-1]_uu = precision (loss_of_rounds).
[[nodiscard]] PrivacyLoss loss_of(StreamDistribution noise,
                                  const Exposure& exposure,
                                  double precision);
/// Secretly sampled rounds to come of one participation pattern, and what was spent in it before.
struct SampledPattern {
    long rounds = 0;
    PrivacyLoss spent;
};
/// The same epsilon at the same delta, for secretly sampled rounds: the limit is that of the
/// longest pattern with the smallest noise multiplier which keeps every pattern, together with what
/// was spent in it, within it (noise_multiplier_for, for each pattern that differs).
/// @param sampling_probability in each of these rounds.  @param patterns not empty.
/// @throws ConfigError for a calibration that is not exact; PrivacyError if nothing is left.
[[nodiscard]] PrivacyBudget sampled_budget(PrivacyBudget budget,
                                           double sampling_probability,
                                           std::span<const SampledPattern> patterns);
/// Of one pattern.
[[nodiscard]] PrivacyBudget sampled_budget(PrivacyBudget budget,
                                           double sampling_probability,
                                           long rounds,
                                           const PrivacyLoss& spent = {});

/// "epsilon 10 at delta 1e-05, exact calibration: mu 1.2", "epsilon 3, pure": what is allowed, and
/// the parameter of its limit ("mu 2, of which 1.2 is left" of a run that is taken up). What a plan
/// reaches may be less.
[[nodiscard]] std::string text_of(const PrivacyBudget& budget);

/// kappa_u = mu_u^2 / (Delta_u^2 sens2_u): the largest [R^-1]_uu that keeps agent u within budget.
[[nodiscard]] double precision_limit(const PrivacyBudget& budget, const Exposure& exposure);

}  // namespace sotto
