#include "views/linear_step.hpp"

#include <algorithm>
#include <vector>

#include "core/linear_algebra.hpp"
#include "views/view_grams.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

SparseRows sparse(Eigen::Index rows, Eigen::Index columns, const Triplets& entries) {
    SparseRows matrix(rows, columns);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
}

/// Observations independent of the state: they depend on no state, and their noise is independent
/// of the state's.
std::vector<bool> apart_from_state(const LinearStep& step) {
    std::vector<bool> apart(static_cast<std::size_t>(step.observation.rows()), true);
    for (Index i = 0; i < step.observation.rows(); ++i)
        for (SparseRows::InnerIterator it(step.observation, i); it; ++it)
            if (it.value() != 0) apart[static_cast<std::size_t>(i)] = false;
    for (Index i = 0; i < step.cross_covariance.rows(); ++i)
        for (SparseRows::InnerIterator it(step.cross_covariance, i); it; ++it)
            if (it.value() != 0) apart[static_cast<std::size_t>(it.col())] = false;
    return apart;
}

bool is_zero_row(const SparseRows& matrix, Index row) {
    for (SparseRows::InnerIterator it(matrix, row); it; ++it)
        if (it.value() != 0) return false;
    return true;
}

/// Observations of a step by treatment.
struct Split {
    std::vector<Index> kept;   ///< stay in the filter
    std::vector<Index> alone;  ///< each with noise of its own
    std::vector<Index>
        shared;  ///< independent of the state, with noise shared with other observations
};

Split split_observations(const LinearStep& step) {
    const Index observed = step.observation.rows();
    const std::vector<bool> apart = apart_from_state(step);
    const VectorXd variance = MatrixXd(step.observed_covariance).diagonal();
    const double smallest = 1e-11 * (observed > 0 ? variance.maxCoeff() : 0.0);
    Split split;
    for (Index i = 0; i < observed; ++i) {
        if (!apart[static_cast<std::size_t>(i)]) {
            split.kept.push_back(i);
            continue;
        }
        if (!(variance(i) > smallest)) {
            // Zero observations are dropped; inputs without noise stay.
            if (!is_zero_row(step.observed_input, i) || !is_zero_row(step.observed_covariance, i))
                split.kept.push_back(i);
            continue;
        }
        bool own = true;
        for (SparseRows::InnerIterator it(step.observed_covariance, i); it; ++it)
            if (it.col() != i && it.value() != 0) own = false;
        (own ? split.alone : split.shared).push_back(i);
    }
    return split;
}

SparseRows chosen_rows(Index observed, const std::vector<Index>& rows) {
    Triplets entries;
    for (std::size_t i = 0; i < rows.size(); ++i)
        entries.emplace_back(static_cast<int>(i), static_cast<int>(rows[i]), 1.0);
    return sparse(static_cast<Index>(rows.size()), observed, entries);
}

/// Conditions the kept observations on the shared noise of these: D_a - C_ab C_bb^-1 D_b and C_aa -
/// C_ab C_bb^-1 C_ba, and adds [D_b^T C_bb^-1 D_b]_uu to `alone`. False, with nothing changed, if
/// C_bb is close to singular.
bool condition_on_shared(LinearStep& step, const SparseRows& keep, const SparseRows& take) {
    constexpr double well_conditioned = 1e-7;  // smallest squared pivot, as in whiten()
    const SparseRows half = take * step.observed_covariance;
    MatrixXd lower = SparseRows(half * SparseRows(take.transpose()));
    const double largest = lower.diagonal().maxCoeff();
    if (!cholesky(lower) || !(lower.diagonal().cwiseAbs2().minCoeff() > well_conditioned * largest))
        return false;
    const SparseRows inputs = take * step.observed_input;
    std::vector<Index> agents;  // contained in these observations
    for (Index u = 0; const double size :
                      VectorXd(inputs.cwiseAbs().transpose() * VectorXd::Ones(inputs.rows()))) {
        if (size > 0) agents.push_back(u);
        ++u;
    }
    const SparseRows pick = chosen_rows(inputs.cols(), agents);
    MatrixXd own = SparseRows(inputs * SparseRows(pick.transpose()));
    MatrixXd with_kept = SparseRows(half * SparseRows(keep.transpose()));
    solve_lower(lower, own);
    solve_lower(lower, with_kept);
    for (std::size_t i = 0; i < agents.size(); ++i)
        step.alone(agents[i]) += own.col(static_cast<Index>(i)).squaredNorm();
    const SparseRows back = SparseRows(product(with_kept, true, own).sparseView(0, 0)) * pick;
    step.observed_input = SparseRows(keep * step.observed_input) - back;
    const SparseRows known = product(with_kept, true, with_kept).sparseView(0, 0);
    step.observed_covariance =
        SparseRows(SparseRows(keep * step.observed_covariance) * SparseRows(keep.transpose())) -
        known;
    return true;
}

/// Moves observations independent of the state to `alone`; drops those that are always 0.
void set_apart(LinearStep& step) {
    const Index observed = step.observation.rows();
    Split split = split_observations(step);
    for (const Index i : split.alone) {
        const double variance = step.observed_covariance.coeff(i, i);
        for (SparseRows::InnerIterator it(step.observed_input, i); it; ++it)
            step.alone(it.col()) += it.value() * it.value() / variance;
    }
    SparseRows keep = chosen_rows(observed, split.kept);
    step.conditioned = !split.shared.empty() &&
                       condition_on_shared(step, keep, chosen_rows(observed, split.shared));
    if (!step.conditioned) {
        split.kept.insert(split.kept.end(), split.shared.begin(), split.shared.end());
        std::ranges::sort(split.kept);
        if (static_cast<Index>(split.kept.size()) == observed) return;
        keep = chosen_rows(observed, split.kept);
        step.observed_input = keep * step.observed_input;
        step.observed_covariance =
            SparseRows(keep * step.observed_covariance) * SparseRows(keep.transpose());
    }
    step.observation = keep * step.observation;
    step.observed_source = keep * step.observed_source;
    step.cross_covariance = step.cross_covariance * SparseRows(keep.transpose());
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
