#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "sotto/design/coalition_solver.hpp"

namespace sotto {

/// Private noise and noise of seed groups as numbers in a row: the private variances (one where
/// they are common), then S_k of every group, column by column, with R_k = T S_k T^T on its
/// members: T = (1, -1)^T for differences, T = I for free blocks.
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
    /// With how many others an agent shares groups, one counted for each group.
    [[nodiscard]] double partners_of(int agent) const;
    [[nodiscard]] Eigen::Index size() const { return size_; }
    [[nodiscard]] Eigen::Index variances() const { return common_variance_ ? 1 : agents_; }
    [[nodiscard]] Eigen::Index variance_of(int agent) const { return common_variance_ ? 0 : agent; }
    /// Where S_k begins, and its rows.
    [[nodiscard]] Eigen::Index first(std::size_t group) const { return first_[group]; }
    [[nodiscard]] Eigen::Index rank(std::size_t group) const;

    /// R.
    [[nodiscard]] Eigen::MatrixXd covariance(const Eigen::VectorXd& values) const;
    /// R_uu.
    [[nodiscard]] Eigen::VectorXd diagonal(const Eigen::VectorXd& values) const;
    /// R_k, members x members.
    [[nodiscard]] Eigen::MatrixXd block(const Eigen::VectorXd& values, std::size_t group) const;
    /// T^T A T on every part: the derivative of Tr(A R) by the numbers.
    [[nodiscard]] Eigen::VectorXd along(const Eigen::MatrixXd& a) const;
    /// The same of a diagonal matrix.
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

/// What a solver finds.
struct LayoutSolution {
    Eigen::VectorXd values;  ///< of the layout; feasible for every coalition
    double value = 0;        ///< Tr(M R)
    double lower_bound = 0;  ///< certified, within the variance cap
    int iterations = 0;
    long coalitions = 0;  ///< that took part
};

}  // namespace sotto
