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

/// What `sotto plan` is asked.
struct PlanJobConfig {
    GraphConfig graph;
    AskedPlan plan;
    bool secure_sum = false;
    int mask_partners = TrainConfig{}.mask_partners;
    std::optional<std::string> out;
    double dropout_probability = 0;    ///< with which an agent misses a round
    long dimension = 1;                ///< d, for bytes and time, and published bounds
    std::optional<double> smoothness;  ///< of losses, for published bounds
    bool unrestricted_bound = false;   ///< whether to say what any correlation would leave
};

[[nodiscard]] OptionSet<PlanJobConfig> plan_option_set();
/// @throws ConfigError naming the option, the text and what is allowed.
[[nodiscard]] PlanJobConfig read_plan_options(const OptionTexts& given);

/// A plan that nobody runs yet, and what it is for.
struct MadePlan {
    PlanJobConfig config;  ///< nothing left open in its plan
    BuiltTopography built;
    PlannedNoise planned;
    CountedPlan counted;
    std::optional<SumHiding> sums;            ///< what secure sums hide, where they are asked for
    std::vector<TrainingBoundFigure> bounds;  ///< what papers say of a training with it
    std::optional<MissedRounds> missed;       ///< where agents may miss rounds
    std::optional<UnrestrictedNoise> unrestricted;  ///< where it is asked for

    [[nodiscard]] const NoisePlan& plan() const { return planned.design.plan; }
    /// What happens in a training with it, as far as options say it.
    [[nodiscard]] PrivacyRecord record() const;
};

/// Solves the plan. Pure. @throws ConfigError, DataError, PrivacyError.
[[nodiscard]] MadePlan make_plan(PlanJobConfig config);

}  // namespace sotto
