#include "views/linear_step.hpp"

#include <vector>

namespace sotto {

namespace {

SparseRows sparse(Eigen::Index rows, Eigen::Index columns, const Triplets& entries) {
    SparseRows matrix(rows, columns);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
}

/// Moves observations that hear nothing of the state, under noise of their own, to `alone`.
void set_apart(LinearStep& step) {
    const Eigen::Index observed = step.observation.rows();
    std::vector<bool> apart(static_cast<std::size_t>(observed), true);
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(observed);
    for (Eigen::Index i = 0; i < observed; ++i) {
        for (SparseRows::InnerIterator it(step.observation, i); it; ++it)
            if (it.value() != 0) apart[static_cast<std::size_t>(i)] = false;
        for (SparseRows::InnerIterator it(step.observed_covariance, i); it; ++it) {
            if (it.col() == i)
                variance(i) = it.value();
            else if (it.value() != 0)
                apart[static_cast<std::size_t>(i)] = false;
        }
    }
    for (Eigen::Index i = 0; i < step.cross_covariance.rows(); ++i)
        for (SparseRows::InnerIterator it(step.cross_covariance, i); it; ++it)
            if (it.value() != 0) apart[static_cast<std::size_t>(it.col())] = false;
    const double smallest = 1e-11 * (observed > 0 ? variance.maxCoeff() : 0.0);
    Triplets kept;
    Eigen::Index rows = 0;
    for (Eigen::Index i = 0; i < observed; ++i) {
        if (!apart[static_cast<std::size_t>(i)] || !(variance(i) > smallest)) {
            kept.emplace_back(static_cast<int>(rows++), static_cast<int>(i), 1.0);
            continue;
        }
        for (SparseRows::InnerIterator it(step.observed_input, i); it; ++it)
            step.alone(it.col()) += it.value() * it.value() / variance(i);
    }
    if (rows == observed) return;
    const SparseRows keep = sparse(rows, observed, kept);
    step.observation = keep * step.observation;
    step.observed_source = keep * step.observed_source;
    step.observed_input = keep * step.observed_input;
    step.cross_covariance = step.cross_covariance * SparseRows(keep.transpose());
    step.observed_covariance =
        SparseRows(keep * step.observed_covariance) * SparseRows(keep.transpose());
}

}  // namespace

LinearStep linear_step(const StepEntries& entries,
                       const SparseRows& covariance,
                       int agents,
                       bool independent_rounds) {
    const auto& [previous, state, observed] = entries;
    const Eigen::Index sources = covariance.rows();
    LinearStep step;
    step.transition = sparse(state.rows, previous, state.from_state);
    step.observation = sparse(observed.rows, previous, observed.from_state);
    step.state_source = sparse(state.rows, sources, state.from_sources);
    step.observed_source = sparse(observed.rows, sources, observed.from_sources);
    step.state_input = sparse(state.rows, agents, state.from_inputs);
    step.observed_input = sparse(observed.rows, agents, observed.from_inputs);
    const SparseRows state_half = step.state_source * covariance;
    const SparseRows observed_half = step.observed_source * covariance;
    step.state_covariance = state_half * SparseRows(step.state_source.transpose());
    step.cross_covariance = state_half * SparseRows(step.observed_source.transpose());
    step.observed_covariance = observed_half * SparseRows(step.observed_source.transpose());
    step.alone = Eigen::VectorXd::Zero(agents);
    if (independent_rounds) set_apart(step);
    return step;
}

}  // namespace sotto
