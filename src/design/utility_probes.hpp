#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <utility>

#include "design/mixing_search.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// The polynomial of W that probes are multiplied by: M = exact W^2 + of_mean 11^T / n + h(W)^2 off
/// the mean, for the eigenvalue s(x) of M, h = sqrt(s - exact x^2). Chebyshev coefficients.
struct ProbePolynomial {
    double exact = 0;    ///< largest a with s(x) >= a x^2
    double of_mean = 0;  ///< s(1) - a
    std::vector<double> coefficients;
};
/// @param gain s. Cost: O(degree rounds); the degree is up to 1024, for long horizons.
[[nodiscard]] ProbePolynomial probe_polynomial(const UtilityGain& gain);

/// What noise costs: Tr(M R) = agents . s2 + pairs . b for R = diag(s2) + sum b (e_i - e_j)(e_i -
/// e_j)^T.
struct NoiseCosts {
    Eigen::VectorXd agents;  ///< M_uu
    Eigen::VectorXd pairs;   ///< M_ii + M_jj - 2 M_ij, >= 0
};

/// Estimates M_uu and M_ij = E[(h z)_i (h z)_j] from probes z of random signs; W^2 and the mean are
/// exact. Relative error of an estimated part: sqrt(2 / probes). The same on every machine with the
/// same arithmetic, whatever the number of threads. Cost: probes x degree products with W.
/// @param mixing symmetric.
[[nodiscard]] NoiseCosts estimate_costs(const MixingMatrix& mixing,
                                        const ProbePolynomial& polynomial,
                                        std::span<const std::pair<int, int>> pairs,
                                        int probes,
                                        std::uint64_t seed);

/// A mean and its standard error.
struct Estimate {
    double value = 0, standard_error = 0;
};

/// Tr(M R) from probes of the noise itself, whose signs are random.
[[nodiscard]] Estimate estimate_objective(const MixingMatrix& mixing,
                                          const ProbePolynomial& polynomial,
                                          std::span<const std::pair<int, int>> pairs,
                                          const Eigen::VectorXd& private_variance,
                                          const Eigen::VectorXd& pair_variance,
                                          int probes,
                                          std::uint64_t seed);

}  // namespace sotto
