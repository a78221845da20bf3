#include "commands/sweep/sweep_choice.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// Smaller is better; infinite where a training did not end well.
double score(std::span<const SweepRow> rows, std::size_t candidate, const std::string& metric) {
    double sum = 0;
    long count = 0;
    for (const SweepRow& row : rows) {
        if (row.training.candidate != candidate) continue;
        if (!row.outcome || row.outcome->status != SweepOutcome::Status::done) return infinity;
        sum += row.outcome->metrics.at(metric);
        ++count;
    }
    if (std::isnan(sum))
        throw ConfigError(
            fmt::format("choose-by: the trainings have no {} (docs/tasks.md says which figures "
                        "a task has)",
                        metric));
    const bool largest_is_best = metric.starts_with("test_accuracy");
    return (largest_is_best ? -sum : sum) / static_cast<double>(count);
}

}  // namespace

std::size_t best_candidate(std::span<const SweepRow> validation,
                           std::size_t candidates,
                           const std::string& metric) {
    if (candidates < 2) return 0;
    std::size_t best = 0;
    double lowest = score(validation, 0, metric);
    for (std::size_t k = 1; k < candidates; ++k)
        if (const double other = score(validation, k, metric); other < lowest) {
            best = k;
            lowest = other;
        }
    return best;
}

}  // namespace sotto
