#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <deque>

namespace sotto {

/// Anderson's acceleration of a fixed point x = g(x): the next point is the affine combination of
/// the last images g(x_i) whose residuals g(x_i) - x_i cancel best.
class AndersonSteps {
  public:
    /// @param memory steps that are combined, >= 1.
    explicit AndersonSteps(std::size_t memory) : memory_(memory) {}
    /// Where to go from `point`, whose image is g(point). Cost: O(size memory^2).
    [[nodiscard]] Eigen::VectorXd next(const Eigen::VectorXd& point, const Eigen::VectorXd& image);
    /// What came before counts no more.
    void forget();

  private:
    std::size_t memory_;
    Eigen::VectorXd last_image_, last_residual_;
    std::deque<Eigen::VectorXd> image_changes_, residual_changes_;
};

}  // namespace sotto
