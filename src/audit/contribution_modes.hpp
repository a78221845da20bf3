#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include "audit/recorded_innovations.hpp"

namespace sotto {

/// Independent views of one agent's contributions: z_k = sum_t response(t, k) g_t + standard normal
/// noise, for every coordinate. Nothing else that a view saw tells anything about them. Where all
/// messages are seen a mode is a round, z_t = sqrt([(R^(I))^-1]_uu) y_t; otherwise modes are
/// eigenvectors of the Gram matrix over rounds, whose columns of `response` are orthogonal.
struct ContributionModes {
    Eigen::SparseMatrix<double> response;  ///< rounds x modes [1 / gradient unit]
    bool by_round = false;                 ///< whether `response` is diagonal
    Eigen::MatrixXd values;                ///< z, modes x coordinates
};

/// Reads all recordings. @param by_round whether the view sees all messages.
/// Cost O(rounds state (state + observed) coordinates), and rounds times as much of responses
/// where not all messages are seen.
/// @throws ConfigError where the view sees contributions that no noise covers: epsilon is infinite.
[[nodiscard]] ContributionModes read_contribution_modes(RecordedInnovations& recorded,
                                                        int target,
                                                        long rounds,
                                                        Eigen::Index coordinates,
                                                        bool by_round);

}  // namespace sotto
