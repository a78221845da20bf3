#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "sotto/design/coalition_solver.hpp"

namespace sotto {

/// One term phi * b b^T of R: b = e_u, or e_u - e_v. Squares of such vectors span all symmetric
/// matrices, so a free block is a sum of them whose coefficients may be negative.
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

/// Parts that the coalitions are split into for threads; fixed, so that sums do not depend on how
/// many threads there are.
inline constexpr long coalition_parts = 4;

/// The convex problem of solve_coalition_covariance over the coalitions added so far. The unknowns
/// phi are the coefficients of the terms of R.
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
    /// Unknowns before this must be > 0; the others make free blocks.
    [[nodiscard]] Eigen::Index nonnegative() const { return nonnegative_; }
    [[nodiscard]] const Eigen::VectorXd& cost() const { return cost_; }  ///< Tr(M R) = cost.phi
    [[nodiscard]] const std::vector<Coalition>& coalitions() const { return coalitions_; }
    void add(Coalition coalition) { coalitions_.push_back(std::move(coalition)); }

    /// Threads worth starting: those that wait for each other cost more than small problems take.
    [[nodiscard]] int threads() const;

    /// Strictly feasible for every coalition, unless common noise needs more than a cap allows.
    [[nodiscard]] Eigen::VectorXd start() const;

    /// R_uu.
    [[nodiscard]] Eigen::VectorXd variances(const Eigen::VectorXd& phi) const;

    /// R_k, members x members.
    [[nodiscard]] Eigen::MatrixXd group_matrix(const Eigen::VectorXd& phi, std::size_t group) const;

    /// Whether every free block is positive definite.
    [[nodiscard]] bool blocks_positive(const Eigen::VectorXd& phi) const;

    /// Terms of R^(I).
    [[nodiscard]] std::vector<CoalitionTerm> unknown_terms(const Coalition& coalition) const;

    /// (R^(I))^-1, rows and columns of the coalition zero; nothing if R^(I) is not positive
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

}  // namespace sotto
