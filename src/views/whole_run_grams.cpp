#include "views/whole_run_grams.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

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
    if (step.conditioned || step.observation.rows() == 0 || first.observation.rows() != 0 ||
        !equal(first.state_source, step.state_source) ||
        !equal(first.state_input, step.state_input))
        return nullptr;
    return &step;
}

/// What is observed j rounds after unit noise (rows: sources) and unit inputs (rows: targets)
/// entered, in columns j * observed and on.
struct ImpulseResponses {
    MatrixXd to_noise, to_input;
};

/// By adjoints of the few observed rows.
ImpulseResponses adjoint_responses(const ObservationModel& model,
                                   const LinearStep& step,
                                   std::span<const int> targets) {
    const Index observed = step.observation.rows();
    const auto rounds = static_cast<Index>(model.rounds);
    const auto count = static_cast<Index>(targets.size());
    const Eigen::SparseMatrix<double>& source_factor = model.source_factors.front();
    ImpulseResponses responses{MatrixXd(source_factor.cols(), observed * rounds),
                               MatrixXd(count, observed * rounds)};
    const SparseRows factor = SparseRows(source_factor.transpose());
    const SparseRows state_source = factor * SparseRows(step.state_source.transpose());
    const SparseRows state_input = SparseRows(step.state_input.transpose());
    const SparseRows backward = SparseRows(step.transition.transpose());
    const auto of_targets = [&](const MatrixXd& of_agents) {
        MatrixXd chosen(count, of_agents.cols());
        for (Index i = 0; i < count; ++i)
            chosen.row(i) = of_agents.row(targets[static_cast<std::size_t>(i)]);
        return chosen;
    };
    responses.to_noise.leftCols(observed) =
        factor * MatrixXd(SparseRows(step.observed_source.transpose()));
    responses.to_input.leftCols(observed) =
        of_targets(MatrixXd(SparseRows(step.observed_input.transpose())));
    MatrixXd adjoint = MatrixXd(SparseRows(step.observation.transpose()));
    for (Index j = 1; j < rounds; ++j) {
        responses.to_noise.middleCols(j * observed, observed) = state_source * adjoint;
        responses.to_input.middleCols(j * observed, observed) = of_targets(state_input * adjoint);
        adjoint = MatrixXd(backward * adjoint);
    }
    return responses;
}

/// Cholesky factor of the covariance of all observed values but those of the first round, which
/// hear nothing of the state and stand alone; nothing where it is singular.
std::optional<MatrixXd> covariance_factor(const MatrixXd& to_noise,
                                          Index observed,
                                          Index rounds,
                                          double noise) {
    // Covariance of rounds k and l: sum over noise of rounds s <= min(k, l).
    MatrixXd all = MatrixXd::Zero(observed * rounds, observed * rounds);
    add_gram(to_noise, all);
    for (Index l = 1; l < rounds; ++l)
        for (Index k = l; k < rounds; ++k)
            all.block(k * observed, l * observed, observed, observed) +=
                all.block((k - 1) * observed, (l - 1) * observed, observed, observed);
    const Index values = observed * (rounds - 1);
    MatrixXd lower = noise * all.bottomRightCorner(values, values);
    all.resize(0, 0);
    const double largest = values > 0 ? lower.diagonal().maxCoeff() : 0;
    if (!cholesky(lower)) return std::nullopt;
    if (values > 0 && !(lower.diagonal().cwiseAbs2().minCoeff() > 1e-7 * largest))
        return std::nullopt;
    return lower;
}

/// @param response of one target to a unit input.
MatrixXd gram_of(const Eigen::RowVectorXd& response,
                 const MatrixXd& lower,
                 Index observed,
                 Index rounds) {
    MatrixXd gram = MatrixXd::Zero(rounds, rounds);
    if (lower.rows() == 0 || !(response.cwiseAbs().maxCoeff() > 0)) return gram;
    MatrixXd inputs = MatrixXd::Zero(lower.rows(), rounds);
    for (Index s = 0; s < rounds; ++s)
        for (Index k = std::max<Index>(s, 1); k < rounds; ++k)
            inputs.col(s).segment((k - 1) * observed, observed) =
                response.segment((k - s) * observed, observed).transpose();
    solve_lower(lower, inputs);
    add_product(1, inputs, true, inputs, false, gram);
    return gram;
}

}  // namespace

std::optional<std::vector<TargetGram>> whole_run_grams(const ObservationModel& model,
                                                       std::span<const int> targets) {
    const LinearStep* const step = repeated_step(model);
    if (step == nullptr) return std::nullopt;
    const Index observed = step->observation.rows();
    const auto rounds = static_cast<Index>(model.rounds);
    const double noise = model.noise_scale.front() * model.noise_scale.front();
    const ImpulseResponses responses = adjoint_responses(model, *step, targets);
    const std::optional<MatrixXd> lower =
        covariance_factor(responses.to_noise, observed, rounds, noise);
    if (!lower) return std::nullopt;
    std::vector<TargetGram> result(targets.size());
    const Eigen::Map<const Eigen::VectorXd> scale(model.input_scale.data(), rounds);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        MatrixXd gram =
            gram_of(responses.to_input.row(static_cast<Index>(i)), *lower, observed, rounds);
        gram(0, 0) += model.at(0).alone(targets[i]) / noise;
        gram.diagonal().tail(rounds - 1).array() += step->alone(targets[i]) / noise;
        result[i].gram = scale.asDiagonal() * gram * scale.asDiagonal();
    }
    return result;
}

}  // namespace sotto
