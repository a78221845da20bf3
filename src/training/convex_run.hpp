#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/local_agent.hpp"
#include "core/json.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "tasks/local_task.hpp"
#include "training/run.hpp"

namespace sotto {

/// Largest curvature of the logistic loss of a record that is R long with its constant feature:
/// R^2 / 4.
[[nodiscard]] double curvature_of_logistic(double feature_norm);

/// With --feature-norm, what this process enforces for its agents and their plan, so that no step
/// moves two models further apart (docs/equations.md#convex-trainings). Nothing without it.
/// @param task whose training records were shortened.  @param agents the local ones.
/// @throws ConfigError naming the option that breaks it, its value and what is allowed.
[[nodiscard]] std::optional<ConvexLosses> convex_losses(const Run& run,
                                                        const LocalTask& task,
                                                        std::span<const LocalAgent> agents);

/// For the ledger; empty without `convex`.
[[nodiscard]] std::vector<std::string> convex_statements(const std::optional<ConvexLosses>& convex);

/// Checks that the ledger of process 0 says of convex losses what this process has enforced, the
/// steps within rounding: machines may differ in the last digits.
/// @throws DataError saying what differs.
void require_convex_stated(const JsonValue& ledger, const std::optional<ConvexLosses>& own);

}  // namespace sotto
