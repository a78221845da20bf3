#pragma once

#include <Eigen/Dense>
#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/mixing.hpp"

namespace sotto {

/// How the exchanges of one round are combined.
enum class GossipRule {
    plain,      ///< W^K m
    chebyshev,  ///< P_K(W) m, P_K(x) = T_K(x / lambda) / T_K(1 / lambda): about as near to the mean
                ///< as K^2 plain steps
    optimal     ///< the polynomial of degree K that leaves least noise (optimal_gossip)
};
[[nodiscard]] GossipRule parse_gossip_rule(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(GossipRule rule);
[[nodiscard]] std::vector<std::string> gossip_rule_names();

/// The polynomial P_K(W) that K exchanges apply to the messages of a round, by the recurrence
///
///     m_(k+1) = here_k W m_k - before_k m_(k-1),   here_k - before_k = 1,   before_0 = 0.
///
/// The result is m_K, or a combination of all of them, sum_k c_k m_k with sum_k c_k = 1, for which
/// nothing more is sent.
///
/// Chebyshev semi-iteration: with r_0 = lambda, r_k = 1 / (2 / lambda - r_(k-1)) (r_k = c_k /
/// c_(k+1) for c_k = T_k(1 / lambda)), here_k = 2 r_k / lambda and before_k = r_k r_(k-1); P_K(1) =
/// 1, and |P_K(x)| <= 1 / c_K for |x| <= lambda.
/// docs/equations.md#what-is-done-beside-mixing-once-a-round. Immutable.
class GossipPolynomial {
  public:
    /// Plain steps; 0: no exchange.
    GossipPolynomial(int plain_steps = 1);  // NOLINT(google-explicit-constructor)
    /// @param steps K >= 0.
    /// @param lambda in [0, 1), at least the largest modulus of the eigenvalues of W other than 1.
    /// Steps are plain if it is 0 or steps < 2.
    /// @throws ConfigError otherwise.
    [[nodiscard]] static GossipPolynomial chebyshev(int steps, double lambda);

    /// The combination of the messages of another polynomial.
    /// @param weights c_0, ..., c_K.
    /// @throws ConfigError unless there are K + 1, and their sum is 1 to 1e-9.
    [[nodiscard]] static GossipPolynomial combined(GossipPolynomial base,
                                                   std::vector<double> weights);
    /// (1 - a) P + a for this P, a combination with m_0. @throws ConfigError unless 0 <= a < 1.
    [[nodiscard]] GossipPolynomial with_laziness(double laziness) const;

    [[nodiscard]] int steps() const { return steps_; }
    [[nodiscard]] bool plain() const { return here_.empty() && !combines(); }
    /// The result is not simply m_K.
    [[nodiscard]] bool combines() const { return !combination_.empty(); }
    /// c_k, 0 <= k <= steps().
    [[nodiscard]] double share(int message) const;
    /// @param step k, 0 <= k < steps().
    [[nodiscard]] double here(int step) const;
    [[nodiscard]] double before(int step) const;
    /// a of with_laziness, which the combination counts.
    [[nodiscard]] double laziness() const { return laziness_; }

    /// P_K(x). For x + i h with tiny h the imaginary part is h P_K'(x).
    [[nodiscard]] double at(double eigenvalue) const;
    [[nodiscard]] std::complex<double> at(std::complex<double> eigenvalue) const;
    /// P_K(W). Cost: O(n^3) a step; log K of them if steps are plain.
    [[nodiscard]] Eigen::MatrixXd of(const Eigen::MatrixXd& mixing) const;
    /// P_K(W) columns. Cost: K sparse products.
    [[nodiscard]] Eigen::MatrixXd times(const MixingMatrix& mixing,
                                        const Eigen::MatrixXd& columns) const;

  private:
    int steps_;
    std::vector<double> here_, before_;  // empty: all 1 and 0
    std::vector<double> combination_;    // c; empty: m_K alone
    double laziness_ = 0;                // counted in combination_
};

/// What makes agents' own models approach the best common model although their data differ, from
/// earlier messages and noisy gradients alone. docs/equations.md#corrections-for-data-that-differ.
enum class Correction {
    none,             ///< x <- P (x - eta (g + v))
    exact_diffusion,  ///< psi_t = x_t - eta_t (g_t + v_t),
                      ///< x_(t+1) = P (psi_t + (eta_t / eta_(t-1)) (x_t - psi_(t-1)))
    tracking,         ///< y <- P (y + g_t + v_t - g_(t-1) - v_(t-1)), x <- P (x - eta y)
};
/// "none", "exact-diffusion", "tracking". @throws ConfigError.
[[nodiscard]] Correction parse_correction(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Correction correction);
[[nodiscard]] std::vector<std::string> correction_names();
/// Exchanges of a round: K, or 2 K with tracking, first those of y.
[[nodiscard]] int exchanges_a_round(Correction correction, int gossip_steps);

/// Polynomial of K steps on a mixing matrix; the same in every process.
/// @throws ConfigError for chebyshev if the matrix is not symmetric or its second eigenvalue is not
/// below 1, and for optimal, which depends on the noise.
[[nodiscard]] GossipPolynomial gossip_polynomial(const MixingMatrix& mixing,
                                                 GossipRule rule,
                                                 int steps);

/// Smallest eigenvalue that exact diffusion leaves a round's mixing. It is stable above -1/3, and
/// noise of a mode with eigenvalue 0 would vanish from M, so that noise without bound were best.
inline constexpr double least_lazy_eigenvalue = 0.02;

/// The least a for which no eigenvalue of (1 - a) P_K(W) + a is below least_lazy_eigenvalue,
/// rounded up so that it is the same in every process: max(0, (.02 - l) / (1 - l)) for the smallest
/// eigenvalue l of P_K(W). Cost: O(n^3) for up to 400 agents; otherwise Lanczos steps of K sparse
/// products each, and a is rounded up to 1e-4.
/// @param mixing symmetric.
[[nodiscard]] double laziness_for(const MixingMatrix& mixing, const GossipPolynomial& gossip);

/// Upper bound on the moduli of all eigenvalues of W other than 1, for GossipPolynomial::chebyshev:
/// 0 if one step is exact consensus; 1 or more if the graph mixes too slowly for doubles.
[[nodiscard]] double mixing_radius(const MixingMatrix& mixing);

/// Least k >= 1 such that k steps leave at most `residual` of any disagreement (approximately, if W
/// is not symmetric); at most `most`.
[[nodiscard]] int consensus_steps(const MixingMatrix& mixing,
                                  GossipRule rule,
                                  double residual,
                                  int most);

}  // namespace sotto
