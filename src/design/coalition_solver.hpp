#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Form of one seed group's noise across its members.
enum class GroupNoise {
    difference,  ///< of two members: c (e_u - e_v)(e_u - e_v)^T, c >= 0, which cancels in the mean
    free         ///< any positive semidefinite block
};

struct CoalitionOptions {
    int coalition_size = 1;        ///< q: colluding agents, 0 <= q < n
    bool common_variance = false;  ///< one private variance for all agents
    /// Stops when (value - lower_bound) <= relative_gap * value. At 0.001 and above, Newton's
    /// method is used only if it takes less than a second, and then to 1e-5.
    double relative_gap = 1e-5;
    double variance_cap = 1e4;  ///< R_uu <= variance_cap / kappa_u; > 1
    int max_iterations = 400;   ///< Newton steps
    /// Relative. Above 0, groups that earn least are left out, so that agents draw fewer streams,
    /// as long as the value is at most this much above that of all groups.
    double extra_noise = 0;
    /// Other choices for a problem that is too large, ", or ...", appended to the message.
    std::string instead = {};
};

struct CoalitionSolution {
    Eigen::VectorXd private_variance;               ///< s2_u, n, > 0
    std::vector<Eigen::MatrixXd> group_covariance;  ///< R_k, members x members, PSD; may be 0
    double value = 0;                               ///< Tr(M R)
    /// Certified, over all plans of this form within the variance cap, with all groups.
    double lower_bound = 0;
    int iterations = 0;   ///< Newton steps
    long coalitions = 0;  ///< included in the optimisation; all are checked at the end
    bool capped = false;  ///< the variance cap binds
    [[nodiscard]] double relative_gap() const {
        return value > 0 ? (value - lower_bound) / value : 0;
    }
};

/// Optimal private noise and noise of seed groups against every coalition of q agents. [C] section
/// V-D, docs/equations.md#coalitions.
///
/// A coalition I knows every seed of a group that meets I, and its members' own noise. Unknown to
/// it is R^(I) = diag(s2_u) + sum over groups H_k disjoint from I of R_k, and
///
///     minimise Tr(M R)  s.t.  [(R^(I))^-1]_uu <= kappa_u  for every |I| = q and u not in I.
///
/// Small problems use Newton's method on a logarithmic barrier (coalition_newton.hpp), others
/// prices and weights (coalition_weights.hpp). Of many coalitions, violated ones are added on the
/// way. With extra_noise > 0, groups are left out from the weakest on (trace of R_k) while each of
/// their members keeps more than K, and the rest is solved again, for K from 1 on until the value
/// is low enough.
///
/// @param utility M, n x n, symmetric, PSD.
/// @param kappa n, > 0, [1 / gradient-unit^2].
/// @param groups seed groups of at least two members; exactly two with GroupNoise::difference.
/// @return feasible for every coalition of size q; see `lower_bound` for its quality. Pure. Cost:
/// with N unknowns and m constraints O(m N^2 + N^3) a Newton step, 30 to 60 steps; by weights n^3 +
/// sum over coalitions of n |S_I|^2 (S_I: agents that share seeds with it) an iteration, 50 to 500
/// of them, and n^2 numbers of memory.
/// @throws ConfigError for kappa, coalition size, groups or cap out of range, and for a million
/// coalitions or more; for a gap below 0.001 also for more than 6000 unknowns or 2.4 GB.
[[nodiscard]] CoalitionSolution solve_coalition_covariance(const Eigen::MatrixXd& utility,
                                                           const Eigen::VectorXd& kappa,
                                                           std::span<const SeedGroup> groups,
                                                           GroupNoise shape,
                                                           const CoalitionOptions& options = {});

/// One term phi * b b^T of R: b = e_u, or e_u - e_v. Such squares span all symmetric matrices, so a
/// free block is a sum of them with coefficients of either sign.
struct CoalitionTerm {
    int u = 0;
    int v = -1;      ///< -1: b = e_u
    int group = -1;  ///< -1: private noise of u
    int unknown = 0;
};

/// b^T A c for the vectors of two terms.
[[nodiscard]] double along(const Eigen::MatrixXd& a,
                           const CoalitionTerm& b,
                           const CoalitionTerm& c);

using Coalition = std::vector<int>;

/// Whether the coalition holds the seed of a group.
[[nodiscard]] bool meets(const SeedGroup& group, const Coalition& coalition);

/// Parts into which coalitions are split for threads; fixed, so that sums do not depend on the
/// number of threads.
inline constexpr long coalition_parts = 4;

/// The convex problem of solve_coalition_covariance over the included coalitions. The unknowns phi
/// are the coefficients of the terms of R.
class CoalitionProblem {
  public:
    /// @throws ConfigError for too many unknowns.
    CoalitionProblem(Eigen::MatrixXd utility,
                     Eigen::VectorXd kappa,
                     std::span<const SeedGroup> groups,
                     GroupNoise shape,
                     const CoalitionOptions& options);

    [[nodiscard]] const Eigen::MatrixXd& utility() const { return utility_; }
    [[nodiscard]] const Eigen::VectorXd& kappa() const { return kappa_; }
    [[nodiscard]] const std::vector<SeedGroup>& groups() const { return groups_; }
    [[nodiscard]] GroupNoise shape() const { return shape_; }
    [[nodiscard]] bool common_variance() const { return common_variance_; }
    [[nodiscard]] int agents() const { return agents_; }
    [[nodiscard]] const Eigen::VectorXd& cap() const { return cap_; }  ///< largest R_uu
    [[nodiscard]] const std::vector<CoalitionTerm>& terms() const { return terms_; }
    [[nodiscard]] std::span<const CoalitionTerm> terms_of(std::size_t group) const;
    [[nodiscard]] int unknowns() const { return unknowns_; }
    /// Unknowns before this must be > 0; the others form free blocks.
    [[nodiscard]] Eigen::Index nonnegative() const { return nonnegative_; }
    [[nodiscard]] const Eigen::VectorXd& cost() const { return cost_; }  ///< Tr(M R) = cost.phi
    [[nodiscard]] const std::vector<Coalition>& coalitions() const { return coalitions_; }
    void add(Coalition coalition) { coalitions_.push_back(std::move(coalition)); }

    /// Number of threads worth starting for this size.
    [[nodiscard]] int threads() const;

    /// Strictly feasible for every coalition, unless common noise exceeds the cap.
    [[nodiscard]] Eigen::VectorXd start() const;

    /// R_uu.
    [[nodiscard]] Eigen::VectorXd variances(const Eigen::VectorXd& phi) const;

    /// R_k, members x members.
    [[nodiscard]] Eigen::MatrixXd group_matrix(const Eigen::VectorXd& phi, std::size_t group) const;

    /// Whether every free block is positive definite.
    [[nodiscard]] bool blocks_positive(const Eigen::VectorXd& phi) const;

    /// Terms of R^(I).
    [[nodiscard]] std::vector<CoalitionTerm> unknown_terms(const Coalition& coalition) const;

    /// (R^(I))^-1 with zero rows and columns for the coalition; nothing unless R^(I) is positive
    /// definite. Cost: O(n^3).
    [[nodiscard]] std::optional<Eigen::MatrixXd> unknown_precision(
        const Eigen::VectorXd& phi, const Coalition& coalition) const;

    /// max_u [(R^(I))^-1]_uu / kappa_u; infinite if R^(I) is singular.
    [[nodiscard]] double excess(const Eigen::VectorXd& phi, const Coalition& coalition) const;

  private:
    void add_terms_of_groups();

    Eigen::MatrixXd utility_;
    Eigen::VectorXd kappa_;
    std::vector<SeedGroup> groups_;
    GroupNoise shape_;
    bool common_variance_;
    int agents_;
    Eigen::VectorXd cap_;
    double louder_at_start_;  // private noise, relative to what an agent alone needs
    std::vector<CoalitionTerm> terms_;
    std::vector<std::size_t> first_term_;  // of every group, and the end
    int unknowns_ = 0;
    Eigen::Index nonnegative_ = 0;
    Eigen::VectorXd cost_;
    std::vector<Coalition> coalitions_;
};

/// Private noise and noise of seed groups as a vector: the private variances (one if common), then
/// S_k of every group, column by column, with R_k = T S_k T^T on its members: T = (1, -1)^T for
/// differences, T = I for free blocks.
class GroupLayout {
  public:
    GroupLayout(int agents,
                std::span<const SeedGroup> groups,
                GroupNoise shape,
                bool common_variance);

    [[nodiscard]] int agents() const { return agents_; }
    [[nodiscard]] GroupNoise shape() const { return shape_; }
    [[nodiscard]] std::span<const SeedGroup> groups() const { return groups_; }
    [[nodiscard]] std::span<const int> groups_of(int agent) const {
        return groups_of_[static_cast<std::size_t>(agent)];
    }
    /// Number of others with whom an agent shares groups, counted once per group.
    [[nodiscard]] double partners_of(int agent) const;
    [[nodiscard]] Eigen::Index size() const { return size_; }
    [[nodiscard]] Eigen::Index variances() const { return common_variance_ ? 1 : agents_; }
    [[nodiscard]] Eigen::Index variance_of(int agent) const { return common_variance_ ? 0 : agent; }
    /// Offset of S_k, and its number of rows.
    [[nodiscard]] Eigen::Index first(std::size_t group) const { return first_[group]; }
    [[nodiscard]] Eigen::Index rank(std::size_t group) const;

    /// R.
    [[nodiscard]] Eigen::MatrixXd covariance(const Eigen::VectorXd& values) const;
    /// R_uu.
    [[nodiscard]] Eigen::VectorXd diagonal(const Eigen::VectorXd& values) const;
    /// R_k, members x members.
    [[nodiscard]] Eigen::MatrixXd block(const Eigen::VectorXd& values, std::size_t group) const;
    /// T^T A T on every part: the gradient of Tr(A R).
    [[nodiscard]] Eigen::VectorXd along(const Eigen::MatrixXd& a) const;
    /// The same for a diagonal matrix.
    [[nodiscard]] Eigen::VectorXd along_diagonal(const Eigen::VectorXd& a) const;

  private:
    int agents_;
    std::vector<SeedGroup> groups_;
    GroupNoise shape_;
    bool common_variance_;
    std::vector<std::vector<int>> groups_of_;
    std::vector<Eigen::Index> first_;
    Eigen::Index size_ = 0;
};

/// Result of a solver.
struct LayoutSolution {
    Eigen::VectorXd values;  ///< of the layout; feasible for every coalition
    double value = 0;        ///< Tr(M R)
    double lower_bound = 0;  ///< certified, within the variance cap
    int iterations = 0;
    long coalitions = 0;  ///< included in the optimisation
};

}  // namespace sotto
