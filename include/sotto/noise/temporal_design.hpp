#pragma once

#include "sotto/noise/mechanism.hpp"

namespace sotto {

/// Gives the noise of a spatial plan a temporal factor, scaled so that its squared sensitivity is
/// the number of participations, as for independent rounds: the spatial part stays as it is. The
/// grid becomes finer where single rounds are conditionally quieter.
/// @param factor C_time of all input.rounds rounds, up to scale. @throws PrivacyError if the plan
/// becomes invalid.
void correlate_over_rounds(NoisePlan& plan, const DesignInput& input, TemporalFactor factor);

}  // namespace sotto
