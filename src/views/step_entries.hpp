#pragma once

#include <Eigen/Sparse>
#include <vector>

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

}  // namespace sotto
