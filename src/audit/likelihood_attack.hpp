#pragma once

#include "audit/attack.hpp"

namespace sotto {

/// Which of two contributions did an agent make? Every coordinate is a trial: the target adds its
/// canaries, the others nothing (AuditDesign), and the view's optimal test guesses them.
/// A run directory keeps canaries.json.
[[nodiscard]] AttackRecord likelihood_attack();

}  // namespace sotto
