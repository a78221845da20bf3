#pragma once

#include <Eigen/Dense>
#include <complex>
#include <functional>
#include <vector>

#include "sotto/design/design.hpp"
#include "sotto/design/mixing_design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// w_a as a function of the age a = 1 .. length: ones, or T + 1 - a.
struct UtilityWeights {
    long length = 1;
    bool decreasing = false;
    [[nodiscard]] double at(long age) const {
        return decreasing ? static_cast<double>(length + 1 - age) : 1.0;
    }
};
[[nodiscard]] UtilityWeights utility_weights(const Utility& utility, long rounds);

/// The smoothing that a utility counts: all for `final`, otherwise correction and momentum only.
[[nodiscard]] Smoothing counted_smoothing(const Utility& utility, Smoothing smoothing);

/// Eigenvalue of M for an eigenvalue x of a symmetric W: s(x) = sum_a w_a g_a(x)^2.
class UtilityGain {
  public:
    UtilityGain(const Utility& utility, long rounds, GossipPolynomial gossip, Smoothing smoothing);
    /// Cost: O(rounds that count).
    [[nodiscard]] double at(double eigenvalue) const;
    /// s'(x), exact up to rounding (complex step of 1e-100 i).
    [[nodiscard]] double derivative_at(double eigenvalue) const;

  private:
    template <class Value>
    [[nodiscard]] Value gain(const Value& eigenvalue) const;

    UtilityWeights weights_;
    GossipPolynomial gossip_;
    Smoothing smoothing_;
};

/// Symmetric mixing matrices of a graph with one weight per edge:
///
///     W(w) = I - sum_e w_e b_e b_e^T,  b_e = e_u - e_v for the edge e = (u, v),
///
/// so that W 1 = 1 for every w; self weights may be negative.
class EdgeMixing {
  public:
    explicit EdgeMixing(const Graph& graph);

    [[nodiscard]] Eigen::Index edges() const { return static_cast<Eigen::Index>(edges_.size()); }
    /// W(w), n x n.
    [[nodiscard]] Eigen::MatrixXd matrix(const Eigen::VectorXd& weights) const;
    /// w of a symmetric matrix.
    [[nodiscard]] Eigen::VectorXd weights_of(const MixingMatrix& mixing) const;
    /// b_e^T A b_e of every edge.
    [[nodiscard]] Eigen::VectorXd differences(const Eigen::MatrixXd& matrix) const;

  private:
    int agents_;
    std::vector<Edge> edges_;
};

/// Eigenvalues of a symmetric W and M at W, except the mean's, which is the same for every w.
class MixingPoint {
  public:
    /// Cost: one eigendecomposition, and O(n length) with the gain.
    explicit MixingPoint(const Eigen::MatrixXd& mixing);

    /// Largest |l_i|; must be below 1.
    [[nodiscard]] double modulus() const { return values_.size() > 0 ? largest_modulus_ : 0; }
    /// M = V diag(s(l_i)) V^T + s(1) 11^T/n.  @param mean_gain s(1). Cost: O(n^3 + n length).
    [[nodiscard]] Eigen::MatrixXd utility(const UtilityGain& gain, double mean_gain);
    /// d Tr(M R) / dW = V G V^T, G_ij = (V^T R V)_ij (s_i - s_j)/(l_i - l_j), s'(l_i) if l_i and
    /// l_j are (nearly) equal; without the rows and columns of the mean, to which b_e is
    /// orthogonal. Call after utility(). Cost: O(n^3 + n length).
    [[nodiscard]] Eigen::MatrixXd derivative(const UtilityGain& gain,
                                             const Eigen::MatrixXd& covariance) const;

  private:
    Eigen::VectorXd values_, gains_;  // n - 1
    Eigen::MatrixXd vectors_;         // n x (n - 1)
    double largest_modulus_ = 0;
};

/// R for a given M, and its cost.
struct NoiseAnswer {
    Eigen::MatrixXd covariance;
    double value = 0;  ///< Tr(M R), or a smooth function near it whose derivative by M is R
};

/// Best R for M within a set that does not depend on M, so that the derivative of the value by M is
/// R (envelope theorem). [R^-1]_uu <= 1 for all agents.
using BestNoise = std::function<NoiseAnswer(const Eigen::MatrixXd& utility)>;

/// Always this R.
[[nodiscard]] BestNoise given_noise(Eigen::MatrixXd covariance);

/// Any R, by the dual of solve_spatial_covariance, with value Tr((M + price I) R): the price on
/// variance approximates the cost of noise that must withstand coalitions. 1e-8 of its mean
/// eigenvalue is also added to M, so that R stays finite and the value smooth if M is (nearly)
/// singular. Every answer starts from the previous one, so the order of calls matters, to the gap
/// of 1e-7. Cost: two to ten eigendecompositions and Newton systems.
/// @param price >= 0.
[[nodiscard]] BestNoise free_noise(double price = 0);

/// Edge weights and their minimised value.
struct FoundMixing {
    Eigen::VectorXd weights;
    double value = 0;
};

/// Descents over edge weights for one graph and one gain.
class MixingSearch {
  public:
    MixingSearch(const MixingDesignInput& input, GossipPolynomial gossip);

    [[nodiscard]] const EdgeMixing& edges() const { return edges_; }
    /// Metropolis (first), maximum degree, and 2 / (l_2 + l_n) of the Laplacian's eigenvalues,
    /// which minimises lambda_2 among constant weights. All have lambda_2 < 1.
    [[nodiscard]] const std::vector<Eigen::VectorXd>& starts() const { return starts_; }
    /// min_R Tr(M(W) R) for the given noise, and its gradient by the weights, -b_e^T (dTr(M R)/dW)
    /// b_e; infinite if lambda_2 >= 1 - 1e-9.
    [[nodiscard]] double value(const BestNoise& noise,
                               const Eigen::VectorXd& weights,
                               Eigen::VectorXd& gradient) const;
    /// A local minimum from `weights`.
    /// @param steps at most.
    [[nodiscard]] FoundMixing descend_from(const BestNoise& noise,
                                           const Eigen::VectorXd& weights,
                                           int steps) const;
    /// The best local minimum from all starts and `more`: a few steps from each, the rest from the
    /// best two.
    /// @param make a new BestNoise for every descent.
    [[nodiscard]] FoundMixing best_of_starts(const std::function<BestNoise()>& make,
                                             const std::vector<Eigen::VectorXd>& more) const;
    /// Weights rounded to multiples of 2^-40, for which row sums are exact.
    [[nodiscard]] static Eigen::VectorXd rounded(const Eigen::VectorXd& weights);
    /// @throws Error unless lambda_2 < 1.
    [[nodiscard]] MixingMatrix mixing(const Eigen::VectorXd& weights) const;

  private:
    const Graph& graph_;
    EdgeMixing edges_;
    UtilityGain gain_;
    double mean_gain_;
    std::vector<Eigen::VectorXd> starts_;
};

/// Eigenvectors of a symmetric W: noise of different modes does not interact.
struct MixingModes {
    Eigen::VectorXd values;   ///< P_K(lambda_i)
    Eigen::MatrixXd vectors;  ///< V, columns
};
/// Cost: O(n^3).
[[nodiscard]] MixingModes mixing_modes(const MixingMatrix& mixing, const GossipPolynomial& gossip);

/// w_i = [V^T R V]_ii: the variance of noise of covariance R in every mode.
[[nodiscard]] Eigen::VectorXd mode_weights(const MixingModes& modes,
                                           const Eigen::MatrixXd& covariance);

}  // namespace sotto
