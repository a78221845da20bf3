#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "design/coalition_problem.hpp"
#include "design/group_layout.hpp"
#include "sotto/core/inverse_change.hpp"

namespace sotto {

/// (R^(I))^-1 of one coalition, R^(I) what it does not know. Where it shares seeds with few agents
/// S it is an InverseChange of R^-1 of rank |I| + |S|. Cost: n |S|^2; n^3 where S is most of the
/// agents.
class UnknownPrecision {
  public:
    /// @param covariance  R.  @param precision  R^-1; both must outlive this.
    UnknownPrecision(const GroupLayout& layout,
                     const Eigen::VectorXd& values,
                     const Eigen::MatrixXd& covariance,
                     const Eigen::MatrixXd& precision,
                     const Coalition& coalition);

    /// False if R^(I) is not positive definite; then nothing else may be asked.
    [[nodiscard]] bool positive() const { return positive_; }
    /// [(R^(I))^-1]_uu, n; 0 for members. Cost: n |S|.
    [[nodiscard]] Eigen::VectorXd diagonal() const;
    /// Columns of it for agents outside, n x agents; rows of members are 0. Cost: n |S| a column.
    [[nodiscard]] Eigen::MatrixXd columns(std::span<const int> agents) const;

  private:
    bool invert(const Eigen::MatrixXd& covariance, const Eigen::MatrixXd& known);
    bool change(const Eigen::MatrixXd& precision, const Eigen::MatrixXd& known);

    const Coalition& coalition_;
    std::vector<int> support_;  // S
    bool positive_ = false;
    Eigen::MatrixXd whole_;  // the inverse itself, or
    std::optional<InverseChange> change_;
};

}  // namespace sotto
