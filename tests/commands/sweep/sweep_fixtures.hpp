#pragma once

#include "commands/sweep/sweep_result.hpp"
#include "config/run_fixtures.hpp"

namespace sotto::test {

/// A training that is done, whose metrics all have this value.
inline SweepRow row(double value, std::size_t candidate = 0) {
    SweepOutcome outcome;
    for (const std::string& metric : sweep_metrics()) outcome.metrics[metric] = value;
    SweepRow row{{}, outcome};
    row.training.candidate = candidate;
    return row;
}

}  // namespace sotto::test
