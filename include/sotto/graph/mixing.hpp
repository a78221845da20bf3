#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/sparse_rows.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {

/// Rules for mixing weights (docs/equations.md#mixing).
enum class MixingRule {
    metropolis,       ///< w_uv = 1/(1 + max(d_u, d_v)), w_uu = 1 - sum. Doubly stochastic.
    max_degree,       ///< w_uv = 1/(d_max + 1). Doubly stochastic.
    lazy_metropolis,  ///< (I + metropolis) / 2. Doubly stochastic, all eigenvalues >= 0.
    row_stochastic,   ///< 1/(1 + agents u hears) for them and u. Not symmetric on irregular graphs.
    push_sum,         ///< w_vu = 1/(1 + agents that hear u) for them and u: columns sum to 1.
    uniform           ///< 1/n everywhere; complete graph only.
};

/// What mixing computes (docs/equations.md#directed-graphs).
enum class MixingKind {
    averaging,  ///< rows sum to 1: a model is the weighted mean of models
    /// Columns sum to 1: models are sums of parts. Agents also mix w, initially 1, and models
    /// divided by w converge to the mean.
    push_sum
};

/// n x n matrix W whose rows sum to 1, or columns for push_sum, with w_uv != 0 only if v is u or u
/// hears v. Weights may be negative, also on the diagonal, as long as no eigenvalue other than the
/// mean's has modulus above 1; not with push_sum. Immutable, valid by existing.
class MixingMatrix {
  public:
    /// @throws ConfigError for `uniform` on a graph that is not complete, and on directed graphs
    /// for all rules but row_stochastic and push_sum.
    [[nodiscard]] static MixingMatrix from_rule(const Graph& graph, MixingRule rule);
    /// @param dense n x n.   @param name begins messages.
    /// @throws DataError naming the entry for: wrong size, a value that is not finite, a weight
    /// where u hears nothing, a row (push_sum: column) that does not sum to 1 (1e-9), a negative
    /// entry with push_sum, and an eigenvalue other than the mean's of modulus above 1 (1e-9).
    [[nodiscard]] static MixingMatrix from_dense(const Graph& graph,
                                                 const Eigen::MatrixXd& dense,
                                                 MixingKind kind = MixingKind::averaging,
                                                 const std::string& name = "mixing matrix");
    /// The same from weights of closed neighbourhoods alone, which takes no n x n numbers.
    /// @param weight called for every u, ascending, with every v of its closed neighbourhood,
    /// ascending.
    /// @throws DataError as from_dense.
    [[nodiscard]] static MixingMatrix from_weights(
        const Graph& graph,
        const std::function<double(int u, int v)>& weight,
        MixingKind kind = MixingKind::averaging,
        const std::string& name = "mixing matrix");
    /// W = 11^T/n over all agents, for any graph: averaging by a trusted aggregator.
    [[nodiscard]] static MixingMatrix average(int agents);

    /// (1 - share) I + share W. @param share in (0, 1].
    [[nodiscard]] MixingMatrix damped(double share) const;

    [[nodiscard]] int agents() const { return static_cast<int>(sparse_.rows()); }
    [[nodiscard]] double weight(int u, int v) const { return sparse_.coeff(u, v); }
    /// Closed neighbourhood of u, ascending, including entries with weight 0, and its weights.
    [[nodiscard]] std::span<const int> members(int u) const;
    [[nodiscard]] std::span<const double> weights(int u) const;
    [[nodiscard]] Eigen::MatrixXd dense() const { return Eigen::MatrixXd(sparse_); }
    [[nodiscard]] const SparseRows& sparse() const { return sparse_; }
    [[nodiscard]] MixingKind kind() const { return kind_; }
    [[nodiscard]] bool push_sum() const { return kind_ == MixingKind::push_sum; }
    [[nodiscard]] bool symmetric() const { return symmetric_; }
    [[nodiscard]] bool doubly_stochastic() const { return doubly_stochastic_; }
    [[nodiscard]] Digest hash() const;

  private:
    // Takes a valid matrix that stores every entry of the closed neighbourhoods, including zeros.
    explicit MixingMatrix(SparseRows sparse, MixingKind kind = MixingKind::averaging);
    SparseRows sparse_;
    MixingKind kind_ = MixingKind::averaging;
    bool symmetric_ = false;
    bool doubly_stochastic_ = false;
};

/// Mixing matrices of all rounds: round t uses matrices[t mod period]. All are on the same (union)
/// graph.
class MixingSchedule {
  public:
    /// @throws ConfigError for an empty list, or matrices with different members() or kinds.
    explicit MixingSchedule(std::vector<MixingMatrix> matrices);
    /// @param round >= 0.
    [[nodiscard]] const MixingMatrix& at(long round) const;
    [[nodiscard]] bool fixed() const { return matrices_.size() == 1; }
    [[nodiscard]] bool push_sum() const { return matrices_.front().push_sum(); }
    /// The schedule from this round on, as its round 0.
    [[nodiscard]] MixingSchedule from(long round) const;
    [[nodiscard]] long period() const { return static_cast<long>(matrices_.size()); }
    [[nodiscard]] int agents() const { return matrices_.front().agents(); }
    [[nodiscard]] Digest hash() const;

  private:
    std::vector<MixingMatrix> matrices_;
};

/// Names of the rules.
[[nodiscard]] std::vector<std::string> mixing_names();

/// A mixing matrix by rule name, or from a file: n x n as .npy or text (one row a line, numbers
/// separated by blanks or commas, # comments).
/// @throws ConfigError for a text that is neither a rule nor an existing file, suggesting the
/// nearest rule.
/// @throws DataError naming file and entry as MixingMatrix::from_dense.
[[nodiscard]] MixingMatrix make_mixing(const Graph& graph, const std::string& rule_or_file);

}  // namespace sotto
