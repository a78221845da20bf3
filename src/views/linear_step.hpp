#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <vector>

#include "sotto/core/sparse_rows.hpp"

namespace sotto {

using Triplets = std::vector<Eigen::Triplet<double>>;

/// Rows of linear functions of the previous state, the step's noise, and inputs.
struct RowEntries {
    Eigen::Index rows = 0;
    Triplets from_state, from_sources, from_inputs;
};

/// A LinearStep under construction: its matrices as lists of entries.
struct StepEntries {
    Eigen::Index previous = 0;  ///< size of the previous state
    RowEntries state;           ///< F, N, B
    RowEntries observed;        ///< H, E, D
};

/// One gossip step of what a view does not know, up to known terms:
///
///     x+ = F x + nu N w + eta B g,     y = H x + nu E w + eta D g,     w ~ N(0, R) fresh,
///
/// with w and g in the first step of a round only. x is what the view cannot reconstruct: seen
/// messages are known and not part of it, so F and H are often much smaller than W. If a later
/// phase goes back to the models after some round, x contains them until then.
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
    /// Observations b that depend on no state, under noise independent of the state's, contribute
    /// [D_b^T C_bb^-1 D_b]_uu for one unit of agent u in round s alone, C = E R E^T. They are
    /// removed from H, E, D, which are conditioned on the noise that they show.
    Eigen::VectorXd alone;
    /// Whether E and D were conditioned: E R E^T then differs from observed_covariance.
    bool conditioned = false;
};

/// @param covariance R, sources x sources.
/// @param independent_rounds whether rounds have independent noise; only then may observations
/// stand alone.
[[nodiscard]] LinearStep linear_step(const StepEntries& entries,
                                     const SparseRows& covariance,
                                     int agents,
                                     bool independent_rounds);

}  // namespace sotto
