#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/sparse_rows.hpp"
#include "sotto/graph/graph.hpp"

namespace sotto {

/// How an agent weighs the models of its closed neighbourhood. Rules of docs/equations.md 2.
enum class MixingRule {
    metropolis,       ///< w_uv = 1/(1 + max(d_u, d_v)), w_uu = 1 - sum. Doubly stochastic.
    max_degree,       ///< w_uv = 1/(d_max + 1). Doubly stochastic.
    lazy_metropolis,  ///< (I + metropolis) / 2. Doubly stochastic, all eigenvalues >= 0.
    row_stochastic,   ///< 1/(1 + agents u hears) for them and u. Not symmetric on irregular graphs.
    push_sum,         ///< w_vu = 1/(1 + agents that hear u) for them and u: columns sum to 1.
    uniform           ///< 1/n everywhere; complete graph only.
};

/// What agents make of what they mix (docs/equations.md 19).
enum class MixingKind {
    averaging,  ///< rows sum to 1: a model is the weighted mean of models
    /// Columns sum to 1: models are sums of parts. Agents mix w beside them, from 1 on, and models
    /// divided by w come to the mean of all.
    push_sum
};

/// n x n matrix W whose rows sum to 1, or columns where the kind is push_sum, with w_uv != 0 only
/// where v is u or u hears v. Weights of the rules are at least 0; others may be negative, of an
/// agent's own model too, as long as no eigenvalue beside that of the mean has modulus above 1; not
/// with push_sum. Immutable; the factories check every property, so a MixingMatrix is valid by
/// existing.
class MixingMatrix {
  public:
    /// @throws ConfigError for `uniform` on a graph that is not complete, and for rules that need
    /// undirected graphs: all but row_stochastic and push_sum.
    [[nodiscard]] static MixingMatrix from_rule(const Graph& graph, MixingRule rule);
    /// @param dense n x n. @throws DataError naming the entry for: wrong size, a value that is not
    /// finite, a weight where u hears nothing, a row (push_sum: column) that does not sum to 1
    /// (1e-9); with negative entries, for push_sum, and for an eigenvalue off the mean of modulus
    /// above 1 (1e-9).
    [[nodiscard]] static MixingMatrix from_dense(const Graph& graph,
                                                 const Eigen::MatrixXd& dense,
                                                 MixingKind kind = MixingKind::averaging);
    /// W = 11^T/n over all agents, whatever the graph: averaging by a trusted aggregator.
    [[nodiscard]] static MixingMatrix average(int agents);

    [[nodiscard]] int agents() const { return static_cast<int>(sparse_.rows()); }
    [[nodiscard]] double weight(int u, int v) const { return sparse_.coeff(u, v); }
    /// Closed neighbourhood of u, ascending (entries with weight 0 included), and its weights.
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
    // Takes a valid matrix that stores every entry of the closed neighbourhoods, also zeros.
    explicit MixingMatrix(SparseRows sparse, MixingKind kind = MixingKind::averaging);
    SparseRows sparse_;
    MixingKind kind_ = MixingKind::averaging;
    bool symmetric_ = false;
    bool doubly_stochastic_ = false;
};

/// The mixing matrix of every round: round t uses matrices[t mod period]. One matrix is the fixed
/// schedule. All matrices live on the same (union) graph.
class MixingSchedule {
  public:
    /// @throws ConfigError for an empty list, or matrices whose members() or kinds differ.
    explicit MixingSchedule(std::vector<MixingMatrix> matrices);
    /// @param round >= 0.
    [[nodiscard]] const MixingMatrix& at(long round) const;
    [[nodiscard]] bool fixed() const { return matrices_.size() == 1; }
    [[nodiscard]] bool push_sum() const { return matrices_.front().push_sum(); }
    /// The same from this round on: its round 0 is that round.
    [[nodiscard]] MixingSchedule from(long round) const;
    [[nodiscard]] long period() const { return static_cast<long>(matrices_.size()); }
    [[nodiscard]] int agents() const { return matrices_.front().agents(); }
    [[nodiscard]] Digest hash() const;

  private:
    std::vector<MixingMatrix> matrices_;
};

/// Names of the rules.
[[nodiscard]] std::vector<std::string> mixing_names();

/// By rule name, or from a file: an n x n matrix as .npy, or as text (one row a line, numbers
/// separated by blanks or commas, # comments). A text that is neither a rule nor an existing file
/// is an error that suggests the nearest rule.
/// @throws ConfigError for an unknown name. @throws DataError naming file and entry for a file that
/// does not hold a mixing matrix of this graph (see MixingMatrix::from_dense).
[[nodiscard]] MixingMatrix make_mixing(const Graph& graph, const std::string& rule_or_file);

}  // namespace sotto
