#include "commands/sweep/sweep_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// Smaller is better; infinite where a training did not end well, or has no such figure.
double score(std::span<const SweepRow> rows, std::size_t candidate, const std::string& metric) {
    if (!has_ended_well(rows, candidate)) return infinity;
    double sum = 0;
    long count = 0;
    for (const SweepRow& row : rows) {
        if (row.training.candidate != candidate) continue;
        sum += row.outcome->metrics.at(metric);
        ++count;
    }
    if (std::isnan(sum)) return infinity;
    const bool largest_is_best = metric.starts_with("test_accuracy");
    return (largest_is_best ? -sum : sum) / static_cast<double>(count);
}

template <class Approves>
bool all_of_candidate(std::span<const SweepRow> rows, std::size_t candidate, Approves approves) {
    return std::ranges::all_of(rows, [&](const SweepRow& row) {
        return row.training.candidate != candidate ||
               (row.outcome && approves(row.outcome->status));
    });
}

}  // namespace

std::size_t best_candidate(std::span<const SweepRow> validation,
                           std::size_t candidates,
                           const std::string& metric) {
    if (candidates < 2) return 0;
    std::size_t best = 0;
    double lowest = infinity;
    bool any = false;
    for (std::size_t k = 0; k < candidates; ++k) {
        const double found = score(validation, k, metric);
        if (found < lowest) {
            best = k;
            lowest = found;
        }
        any = any || has_ended_well(validation, k);
    }
    if (any && !(lowest < infinity))
        throw ConfigError(
            fmt::format("choose-by: the trainings have no {} (docs/tasks.md says which figures "
                        "a task has)",
                        metric));
    return best;
}

bool has_ended_well(std::span<const SweepRow> validation, std::size_t candidate) {
    return all_of_candidate(validation, candidate, [](SweepOutcome::Status status) {
        return status == SweepOutcome::Status::done;
    });
}

bool is_judged(std::span<const SweepRow> validation, std::size_t candidate) {
    return all_of_candidate(validation, candidate, [](SweepOutcome::Status status) {
        return status != SweepOutcome::Status::failed;
    });
}

}  // namespace sotto
