#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <span>
#include <vector>

#include "sotto/core/sparse_rows.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {

/// How an agent weighs the models of its closed neighbourhood. Rules of docs/equations.md 2.
enum class MixingRule {
    metropolis,       ///< w_uv = 1/(1 + max(d_u, d_v)), w_uu = 1 - sum. Doubly stochastic.
    max_degree,       ///< w_uv = 1/(d_max + 1). Doubly stochastic.
    lazy_metropolis,  ///< (I + metropolis) / 2. Doubly stochastic, all eigenvalues >= 0.
    row_stochastic,   ///< A + I, rows divided by their sums. Not symmetric on irregular graphs.
    uniform           ///< 1/n everywhere; complete graph only.
};

/// n x n matrix W whose rows sum to 1, with w_uv != 0 only where v is u or a neighbour of u.
/// Weights of the rules are at least 0; others may be negative, of an agent's own model too, as
/// long as no eigenvalue beside that of the mean has modulus above 1. Immutable; the factories
/// check every property, so a MixingMatrix is valid by existing.
class MixingMatrix {
  public:
    /// @throws ConfigError for `uniform` on a graph that is not complete.
    [[nodiscard]] static MixingMatrix from_rule(const Graph& graph, MixingRule rule);
    /// @param dense n x n. @throws DataError naming the entry for: wrong size, a value that is not
    /// finite, a weight where there is no edge, a row that does not sum to 1 (1e-9); and, with
    /// negative entries, for an eigenvalue off the mean of modulus above 1 (1e-9).
    [[nodiscard]] static MixingMatrix from_dense(const Graph& graph, const Eigen::MatrixXd& dense);
    /// W = 11^T/n over all agents, whatever the graph: averaging by a trusted aggregator.
    [[nodiscard]] static MixingMatrix average(int agents);

    [[nodiscard]] int agents() const { return static_cast<int>(sparse_.rows()); }
    [[nodiscard]] double weight(int u, int v) const { return sparse_.coeff(u, v); }
    /// Closed neighbourhood of u, ascending (entries with weight 0 included), and its weights.
    [[nodiscard]] std::span<const int> members(int u) const;
    [[nodiscard]] std::span<const double> weights(int u) const;
    [[nodiscard]] Eigen::MatrixXd dense() const { return Eigen::MatrixXd(sparse_); }
    [[nodiscard]] const SparseRows& sparse() const { return sparse_; }
    [[nodiscard]] bool symmetric() const { return symmetric_; }
    [[nodiscard]] bool doubly_stochastic() const { return doubly_stochastic_; }
    [[nodiscard]] Digest hash() const;

  private:
    // Takes a valid matrix that stores every entry of the closed neighbourhoods, also zeros.
    explicit MixingMatrix(SparseRows sparse);
    SparseRows sparse_;
    bool symmetric_ = false;
    bool doubly_stochastic_ = false;
};

/// The mixing matrix of every round: round t uses matrices[t mod period]. One matrix is the fixed
/// schedule. All matrices live on the same (union) graph.
class MixingSchedule {
  public:
    /// @throws ConfigError for an empty list, or matrices whose members() differ.
    explicit MixingSchedule(std::vector<MixingMatrix> matrices);
    /// @param round >= 0.
    [[nodiscard]] const MixingMatrix& at(long round) const;
    [[nodiscard]] bool fixed() const { return matrices_.size() == 1; }
    /// The same from this round on: its round 0 is that round.
    [[nodiscard]] MixingSchedule from(long round) const;
    [[nodiscard]] long period() const { return static_cast<long>(matrices_.size()); }
    [[nodiscard]] int agents() const { return matrices_.front().agents(); }
    [[nodiscard]] Digest hash() const;

  private:
    std::vector<MixingMatrix> matrices_;
};

}  // namespace sotto
