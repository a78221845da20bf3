#include "views/dense_temporal_grams.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "views/whitening.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr long most_observed_values = 12000;

/// Observations of all rounds, one below the other, when `input(round)` times the columns of
/// `state_input(step)` and `observed_input(step)` enter every round from `start` on.
template <class Factor, class StateInput, class ObservedInput>
MatrixXd played(const ObservationModel& model,
                long start,
                Index columns,
                Factor&& factor,
                StateInput&& state_input,
                ObservedInput&& observed_input) {
    MatrixXd all = MatrixXd::Zero(model.observed_values(), columns);
    Index row = 0;
    MatrixXd state;
    for (long time = 0; time < model.rounds * model.gossip_steps; ++time) {
        const LinearStep& step = model.at(time);
        const long round = time / model.gossip_steps;
        if (round >= start) {
            if (time == start * model.gossip_steps)
                state = MatrixXd::Zero(step.transition.cols(), columns);
            MatrixXd seen = step.observation * state;
            MatrixXd next = step.transition * state;
            const double weight = time % model.gossip_steps == 0 ? factor(round) : 0.0;
            if (weight != 0) {
                seen += weight * observed_input(step);
                next += weight * state_input(step);
            }
            all.middleRows(row, seen.rows()) = seen;
            state = std::move(next);
        }
        row += step.observation.rows();
    }
    return all;
}

/// source_factor of every stretch, with no more columns than rows.
std::vector<MatrixXd> thin_source_factors(const ObservationModel& model) {
    std::vector<MatrixXd> halves;
    for (const auto& factor : model.source_factors) {
        MatrixXd& half = halves.emplace_back(factor);
        if (half.cols() <= half.rows()) continue;
        const SymmetricEigen eigen = symmetric_eigen(half * half.transpose());
        half = eigen.vectors * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
    }
    return halves;
}

/// Of all observed values, by the noise drawn in every round.
MatrixXd observed_covariance(const ObservationModel& model, const MatrixXd& inverse) {
    const long values = model.observed_values();
    const std::vector<MatrixXd> halves = thin_source_factors(model);
    MatrixXd covariance = MatrixXd::Zero(values, values);
    for (long source = 0; source < model.rounds; ++source) {
        const MatrixXd& half =
            halves[static_cast<std::size_t>(model.stretch_at[static_cast<std::size_t>(source)])];
        if (half.cols() == 0) continue;
        const MatrixXd response = played(
            model,
            source,
            half.cols(),
            [&](long round) {
                return inverse(round, source) * model.noise_scale[static_cast<std::size_t>(round)];
            },
            [&](const LinearStep& step) -> MatrixXd { return step.state_source * half; },
            [&](const LinearStep& step) -> MatrixXd { return step.observed_source * half; });
        add_gram(response.transpose(), covariance);
    }
    covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
    return covariance;
}

/// What a unit input of the target in every round (columns) makes all observed values.
MatrixXd observed_inputs(const ObservationModel& model, int target) {
    const MatrixXd unit = Eigen::VectorXd::Unit(model.steps.front().state_input.cols(), target);
    MatrixXd inputs(model.observed_values(), model.rounds);
    for (long start = 0; start < model.rounds; ++start)
        inputs.col(start) = played(
            model,
            start,
            1,
            [&](long round) { return round == start ? 1.0 : 0.0; },
            [&](const LinearStep& step) -> MatrixXd { return step.state_input * unit; },
            [&](const LinearStep& step) -> MatrixXd { return step.observed_input * unit; });
    return inputs;
}

}  // namespace

std::vector<TargetGram> dense_temporal_grams(const ObservationModel& model,
                                             const MatrixXd& inverse,
                                             std::span<const int> targets) {
    const long values = model.observed_values();
    if (values > most_observed_values)
        throw ConfigError(
            fmt::format("temporal factor: neither it nor its inverse is banded, and the observer "
                        "sees {} values; "
                        "at most {} can be accounted for (use fewer rounds or a banded factor)",
                        values,
                        most_observed_values));
    const MatrixXd covariance = observed_covariance(model, inverse);
    const Whitening whitening =
        whiten(covariance, values > 0 ? variance_rounding * covariance.diagonal().maxCoeff() : 0.0);
    std::vector<TargetGram> result(targets.size());
    const Eigen::Map<const Eigen::VectorXd> scale(model.input_scale.data(), model.rounds);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const MatrixXd inputs = observed_inputs(model, targets[i]);
        result[i].infinite = whitening.shows_without_noise(inputs);
        if (result[i].infinite) continue;
        const MatrixXd white = whitening.rows * inputs;
        result[i].gram = scale.asDiagonal() * (white.transpose() * white) * scale.asDiagonal();
    }
    return result;
}

}  // namespace sotto
