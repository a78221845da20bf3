#pragma once

#include "sotto/graph/mixing.hpp"

namespace sotto {

/// How second_eigenvalue_modulus computes; `automatic` unless both are to be compared.
enum class EigenMethod {
    automatic,  ///< dense up to 1500 agents, iterative above, dense where that does not converge
    dense,      ///< all eigenvalues, O(n^3)
    iterative   ///< Lanczos (symmetric W) or Arnoldi, converged to 1e-10; needs at least 4 agents
};

/// lambda_2: the second largest modulus among the eigenvalues of W (0 for one agent, 1 when the
/// graph is not connected). It bounds how slowly models agree; 1 - lambda_2 is the spectral gap.
/// @throws Error if the chosen method fails, which `automatic` does not for want of convergence.
[[nodiscard]] double second_eigenvalue_modulus(const MixingMatrix& mixing,
                                               EigenMethod method = EigenMethod::automatic);

}  // namespace sotto
