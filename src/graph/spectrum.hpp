#pragma once

#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Method of second_eigenvalue_modulus; use `automatic` unless both are to be compared.
enum class EigenMethod {
    /// Dense up to 400 agents, iterative above. If that does not converge, dense up to 5000 agents,
    /// and 1, which is never too low, above.
    automatic,
    dense,      ///< all eigenvalues, O(n^3)
    iterative   ///< Lanczos (symmetric W) or Arnoldi, converged to 1e-10; needs at least 4 agents
};

/// lambda_2: the second largest modulus among the eigenvalues of W (0 for one agent, 1 if the graph
/// is not connected). 1 - lambda_2 is the spectral gap, which bounds the rate of consensus.
/// @throws Error if a method other than `automatic` fails.
[[nodiscard]] double second_eigenvalue_modulus(const MixingMatrix& mixing,
                                               EigenMethod method = EigenMethod::automatic);

}  // namespace sotto
