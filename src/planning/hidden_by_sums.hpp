#pragma once

#include "config/config.hpp"
#include "sotto/graph/topography.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/privacy/sum_hiding.hpp"
#include "sotto/sums/learnt_sums.hpp"

namespace sotto {

/// Sizes of coalitions that are looked at for people who ask what secure sums hide.
inline constexpr int colluders_to_tell_of = 4;

/// What secure sums hide from the colluders asked for, at least from one, and, to tell of, from up
/// to `further`; agents by number. LOCAL. Cost: what_sums_hide.
/// @param coalition_size that noise is to withstand.
/// @throws ConfigError where they hide nothing from those asked for.
[[nodiscard]] SumHiding hidden_by_sums(const Topography& topography,
                                       const Membership& members,
                                       SumRules rules,
                                       int coalition_size,
                                       int further);

/// How the sums of a training are carried out; the exchanges of final gossip count as further ones
/// of a round.
[[nodiscard]] SumRules sum_rules(const PlanConfig& config,
                                 const Topography& topography,
                                 int mask_partners);

}  // namespace sotto
