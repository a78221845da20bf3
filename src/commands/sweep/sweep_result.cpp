#include "commands/sweep/sweep_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/numbers.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Whether a training refused a value that the sweep added: that side of the scale ends there.
bool ends_a_side(const SweepTraining& training, const SweepOutcome& outcome) {
    return training.further && outcome.exit_code == static_cast<int>(ExitCode::usage);
}

void count(SweepResult& result, const SweepTraining& training, const SweepOutcome& outcome) {
    switch (outcome.status) {
        case SweepOutcome::Status::done:
            ++result.done;
            break;
        case SweepOutcome::Status::diverged:
            ++result.diverged;
            break;
        case SweepOutcome::Status::failed:
            ++result.failed;
            if (!result.first_failure && !ends_a_side(training, outcome))
                result.first_failure = outcome;
            break;
    }
}

}  // namespace

void count_outcomes(SweepResult& result) {
    for (const CellResult& cell : result.results)
        for (const auto* rows : {&cell.validation, &cell.test})
            for (const SweepRow& row : *rows)
                if (row.outcome) count(result, row.training, *row.outcome);
}

std::optional<SweepMean> mean_of(const CellResult& result, const std::string& metric) {
    const auto n = static_cast<double>(result.test.size());
    double sum = 0, squares = 0;
    for (const SweepRow& row : result.test) {
        if (!row.outcome || row.outcome->status != SweepOutcome::Status::done) return std::nullopt;
        sum += row.outcome->metrics.at(metric);
    }
    SweepMean mean{sum / n, not_a_number};
    if (!std::isfinite(mean.mean)) return std::nullopt;
    for (const SweepRow& row : result.test)
        squares += std::pow(row.outcome->metrics.at(metric) - mean.mean, 2);
    if (n > 1)
        mean.half_width = boost::math::quantile(boost::math::students_t(n - 1), 0.975) *
                          std::sqrt(squares / (n - 1) / n);
    return mean;
}

std::string status_of(const SweepRow& row) {
    return row.outcome ? sweep_statuses.name_of(row.outcome->status) : "missing";
}

long count_of(const CellResult& result, std::string_view status) {
    return std::ranges::count_if(result.test,
                                 [&](const SweepRow& row) { return status_of(row) == status; });
}

namespace {

/// Smaller is better; infinite if a training is not done or lacks the metric.
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
