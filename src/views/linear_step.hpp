#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <vector>

#include "sotto/core/sparse_rows.hpp"

namespace sotto {

using Triplets = std::vector<Eigen::Triplet<double>>;

/// Rows of linear functions of the state before a step, of the noise drawn in it, and of inputs.
struct RowEntries {
    Eigen::Index rows = 0;
    Triplets from_state, from_sources, from_inputs;
};

/// A LinearStep while it is put together: its matrices as lists of entries.
struct StepEntries {
    Eigen::Index previous = 0;  ///< size of the state before
    RowEntries state;           ///< F, N, B
    RowEntries observed;        ///< H, E, D
};

/// One gossip step of what a view does not know, up to known terms:
///
///     x+ = F x + nu N w + eta B g,     y = H x + nu E w + eta D g,     w ~ N(0, R) fresh,
///
/// with w and g present in the first step of a round only. x is what the view cannot reconstruct:
/// messages it saw are known and no part of x, so F and H are often much smaller than W. Where a
/// later phase goes back to the models after some round, x holds them besides until then.
struct LinearStep {
    SparseRows transition;           ///< F, state x previous state
    SparseRows observation;          ///< H, observed x previous state
    SparseRows state_source;         ///< N, state x sources
    SparseRows observed_source;      ///< E, observed x sources
    SparseRows state_input;          ///< B, state x agents
    SparseRows observed_input;       ///< D, observed x agents
    SparseRows state_covariance;     ///< N R N^T
    SparseRows cross_covariance;     ///< N R E^T
    SparseRows observed_covariance;  ///< E R E^T
    /// Observations b that hear nothing of the state, under noise independent of the state's, show
    /// [D_b^T C_bb^-1 D_b]_uu about one unit of agent u in round s alone, C = E R E^T. They are
    /// left out of H, E, D, and what they show of the noise of the others is taken out of these.
    Eigen::VectorXd alone;
    /// Whether something was taken out: E R E^T is then more than observed_covariance.
    bool conditioned = false;
};

/// @param covariance R, sources x sources.  @param independent_rounds whether noise of one round
/// says nothing about that of another; only then observations may stand alone.
[[nodiscard]] LinearStep linear_step(const StepEntries& entries,
                                     const SparseRows& covariance,
                                     int agents,
                                     bool independent_rounds);

}  // namespace sotto
