#pragma once

#include "design/mixing_search.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Which noise a gossip polynomial is to leave as little of as possible.
enum class NoiseKind {
    independent,  ///< Tr M: agents draw noise of their own
    correlated    ///< (sum_i sqrt(m_i))^2 / n: the best covariance between agents of the same
                  ///< exposure (exact on vertex-transitive graphs), m_i the eigenvalues of M
};

/// The polynomial sum_k c_k P_k(W), sum_k c_k = 1, with P_k the Chebyshev polynomials of
/// GossipPolynomial, that leaves least noise after K exchanges. Nothing more is sent for it.
///
/// With p_i its value at eigenvalue i of W and s(p) the eigenvalue of M, it minimises sum_i s(p_i),
/// or sum_i sqrt(s(p_i) + 1e-6), over c by Newton's method; the mean's eigenvalue is left out.
/// Weights are rounded to 2^-26, so that processors that differ in the last digits get the same.
/// Source: docs/equations.md#what-is-done-beside-mixing-once-a-round. The result is at most the
/// plain and the Chebyshev polynomial's figure, and may have negative weights.
/// @param gain s(p) for a gossip of one plain exchange.
/// @throws ConfigError if the matrix is not symmetric or its second eigenvalue is not below 1.
/// Cost: one eigendecomposition O(n^3), and about 30 evaluations of s at n eigenvalues.
[[nodiscard]] GossipPolynomial optimal_gossip(const MixingMatrix& mixing,
                                              int steps,
                                              const UtilityGain& gain,
                                              NoiseKind noise);

}  // namespace sotto
