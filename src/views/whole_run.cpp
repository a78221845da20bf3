#include "views/whole_run.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr long most_observed_values = 12000;
constexpr double rounding = 1e-13;

/// Observations of all rounds, one below the other, when `input(round)` times the columns of
/// `state_input(step)` and `observed_input(step)` enter every round from `start` on.
template <class Factor, class StateInput, class ObservedInput>
MatrixXd played(const ObservationModel& model,
                long start,
                Index columns,
                Factor&& factor,
                StateInput&& state_input,
                ObservedInput&& observed_input) {
    MatrixXd all = MatrixXd::Zero(observed_values(model), columns);
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

}  // namespace

long observed_values(const ObservationModel& model) {
    long sum = 0;
    for (const int step : model.step_at)
        sum += model.steps[static_cast<std::size_t>(step)].observation.rows();
    return sum;
}

std::vector<TargetGram> dense_temporal_grams(const ObservationModel& model,
                                             const MatrixXd& inverse,
                                             std::span<const int> targets) {
    const long values = observed_values(model);
    if (values > most_observed_values)
        throw ConfigError(
            fmt::format("temporal factor: neither it nor its inverse is banded, and the observer "
                        "sees {} values; "
                        "at most {} can be accounted for (use fewer rounds or a banded factor)",
                        values,
                        most_observed_values));
    std::vector<MatrixXd> halves;
    for (const auto& factor : model.source_factors) {
        MatrixXd& half = halves.emplace_back(factor);
        if (half.cols() <= half.rows()) continue;
        const SymmetricEigen eigen = symmetric_eigen(half * half.transpose());
        half = eigen.vectors * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
    }
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
    const Whitening whitening =
        whiten(covariance, values > 0 ? rounding * covariance.diagonal().maxCoeff() : 0.0);

    std::vector<TargetGram> result(targets.size());
    const Eigen::Map<const Eigen::VectorXd> scale(model.input_scale.data(), model.rounds);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const int target = targets[i];
        const MatrixXd unit = Eigen::VectorXd::Unit(model.steps.front().state_input.cols(), target);
        MatrixXd inputs(values, model.rounds);
        for (long start = 0; start < model.rounds; ++start)
            inputs.col(start) = played(
                model,
                start,
                1,
                [&](long round) { return round == start ? 1.0 : 0.0; },
                [&](const LinearStep& step) -> MatrixXd { return step.state_input * unit; },
                [&](const LinearStep& step) -> MatrixXd { return step.observed_input * unit; });
        if (whitening.blind.rows() > 0 &&
            (whitening.blind * inputs).colwise().norm().maxCoeff() > seen_without_noise) {
            result[i].infinite = true;
            continue;
        }
        const MatrixXd white = whitening.rows * inputs;
        result[i].gram = scale.asDiagonal() * (white.transpose() * white) * scale.asDiagonal();
    }
    return result;
}

namespace {

bool equal(const SparseRows& a, const SparseRows& b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
    return a.rows() == 0 || SparseRows(a - b).squaredNorm() == 0;
}

/// The step of every round but the first, where all of them are the same and the first differs
/// only in that there is no state before it; something must depend on the state.
const LinearStep* repeated_step(const ObservationModel& model) {
    if (model.gossip_steps != 1 || model.rounds < 2 || model.source_factors.size() != 1)
        return nullptr;
    for (std::size_t t = 2; t < model.step_at.size(); ++t)
        if (model.step_at[t] != model.step_at[1]) return nullptr;
    for (const double scale : model.noise_scale)
        if (scale != model.noise_scale.front()) return nullptr;
    const LinearStep& first = model.at(0);
    const LinearStep& step = model.at(1);
    if (step.observation.rows() == 0 || first.observation.rows() != 0 ||
        !equal(first.state_source, step.state_source) ||
        !equal(first.state_input, step.state_input))
        return nullptr;
    return &step;
}

}  // namespace

std::optional<std::vector<TargetGram>> whole_run_grams(const ObservationModel& model,
                                                       std::span<const int> targets) {
    const LinearStep* const step = repeated_step(model);
    if (step == nullptr) return std::nullopt;
    const Index observed = step->observation.rows();
    const auto rounds = static_cast<Index>(model.rounds);
    const auto count = static_cast<Index>(targets.size());
    const double noise = model.noise_scale.front() * model.noise_scale.front();

    // What is observed j rounds after noise or input entered: by adjoints of the few observed rows.
    const Eigen::SparseMatrix<double>& source_factor = model.source_factors.front();
    MatrixXd from_noise(source_factor.cols(), observed * rounds);
    MatrixXd from_input(count, observed * rounds);
    const SparseRows factor = SparseRows(source_factor.transpose());
    const SparseRows state_source = factor * SparseRows(step->state_source.transpose());
    const SparseRows state_input = SparseRows(step->state_input.transpose());
    const SparseRows backward = SparseRows(step->transition.transpose());
    const auto of_targets = [&](const MatrixXd& of_agents) {
        MatrixXd chosen(count, of_agents.cols());
        for (Index i = 0; i < count; ++i)
            chosen.row(i) = of_agents.row(targets[static_cast<std::size_t>(i)]);
        return chosen;
    };
    from_noise.leftCols(observed) =
        factor * MatrixXd(SparseRows(step->observed_source.transpose()));
    from_input.leftCols(observed) =
        of_targets(MatrixXd(SparseRows(step->observed_input.transpose())));
    MatrixXd adjoint = MatrixXd(SparseRows(step->observation.transpose()));
    for (Index j = 1; j < rounds; ++j) {
        from_noise.middleCols(j * observed, observed) = state_source * adjoint;
        from_input.middleCols(j * observed, observed) = of_targets(state_input * adjoint);
        adjoint = MatrixXd(backward * adjoint);
    }

    // Covariance of rounds k and l: sum over noise of rounds s <= min(k, l).
    MatrixXd all = MatrixXd::Zero(observed * rounds, observed * rounds);
    add_gram(from_noise, all);
    for (Index l = 1; l < rounds; ++l)
        for (Index k = l; k < rounds; ++k)
            all.block(k * observed, l * observed, observed, observed) +=
                all.block((k - 1) * observed, (l - 1) * observed, observed, observed);
    // Observations of the first round hear nothing of the state: they stand alone.
    const Index values = observed * (rounds - 1);
    MatrixXd lower = noise * all.bottomRightCorner(values, values);
    all.resize(0, 0);
    const double largest = values > 0 ? lower.diagonal().maxCoeff() : 0;
    if (!cholesky(lower)) return std::nullopt;
    if (values > 0 && !(lower.diagonal().cwiseAbs2().minCoeff() > 1e-7 * largest))
        return std::nullopt;

    std::vector<TargetGram> result(targets.size());
    const Eigen::Map<const Eigen::VectorXd> scale(model.input_scale.data(), rounds);
    for (Index i = 0; i < count; ++i) {
        const int target = targets[static_cast<std::size_t>(i)];
        MatrixXd gram = MatrixXd::Zero(rounds, rounds);
        if (values > 0 && from_input.row(i).cwiseAbs().maxCoeff() > 0) {
            MatrixXd inputs = MatrixXd::Zero(values, rounds);
            for (Index s = 0; s < rounds; ++s)
                for (Index k = std::max<Index>(s, 1); k < rounds; ++k)
                    inputs.col(s).segment((k - 1) * observed, observed) =
                        from_input.row(i).segment((k - s) * observed, observed).transpose();
            solve_lower(lower, inputs);
            add_product(1, inputs, true, inputs, false, gram);
        }
        gram(0, 0) += model.at(0).alone(target) / noise;
        gram.diagonal().tail(rounds - 1).array() += step->alone(target) / noise;
        result[static_cast<std::size_t>(i)].gram = scale.asDiagonal() * gram * scale.asDiagonal();
    }
    return result;
}

}  // namespace sotto
