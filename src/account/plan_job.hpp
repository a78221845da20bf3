#pragma once

#include <optional>
#include <string>
#include <vector>

#include "account/published_bound.hpp"
#include "config/config.hpp"
#include "options/option_set.hpp"
#include "options/written_options.hpp"
#include "planning/budgets.hpp"
#include "planning/build_topography.hpp"
#include "planning/planning.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

/// The options of `sotto plan`.
struct PlanJobConfig {
    GraphConfig graph;
    AskedPlan plan;
    bool secure_sum = false;
    int mask_partners = TrainConfig{}.mask_partners;
    std::optional<std::string> out;
    double dropout_probability = 0;    ///< that an agent misses a round
    long dimension = 1;                ///< d, for bytes, time and published bounds
    std::optional<double> smoothness;  ///< of losses, for published bounds
    bool unrestricted_bound = false;   ///< computes MadePlan::unrestricted
};

[[nodiscard]] OptionSet<PlanJobConfig> plan_option_set();
/// @throws ConfigError naming the option, the text and what is allowed.
[[nodiscard]] PlanJobConfig read_plan_options(const OptionTexts& given);

/// A solved plan, with what `sotto plan` says about it.
struct MadePlan {
    PlanJobConfig config;  ///< with all values of the plan filled in
    BuiltTopography built;
    PlannedNoise planned;
    CountedPlan counted;
    std::optional<SumHiding> sums;                  ///< what secure sums hide, if asked for
    std::vector<TrainingBoundFigure> bounds;        ///< published bounds for a training with it
    std::optional<MissedRounds> missed;             ///< if agents may miss rounds
    std::optional<UnrestrictedNoise> unrestricted;  ///< if asked for

    [[nodiscard]] const NoisePlan& plan() const { return planned.design.plan; }
    /// The privacy record of a training with it, as far as the options tell.
    [[nodiscard]] PrivacyRecord record() const;
};

/// Solves the plan. Pure. @throws ConfigError, DataError, PrivacyError.
[[nodiscard]] MadePlan make_plan(PlanJobConfig config);

/// The JSON object of `sotto plan` (docs/cli.md), as text.
/// @param exposures, budgets from count_plan.  @param sums, bounds, missed, unrestricted as in
/// MadePlan.
[[nodiscard]] std::string plan_report_json(
    const PlannedNoise& planned,
    const PlanConfig& config,
    const std::vector<Exposure>& exposures,
    const std::vector<PrivacyBudget>& budgets,
    const std::optional<SumHiding>& sums = {},
    const std::vector<TrainingBoundFigure>& bounds = {},
    const std::optional<MissedRounds>& missed = {},
    const std::optional<UnrestrictedNoise>& unrestricted = {});

}  // namespace sotto
