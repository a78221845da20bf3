#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

namespace sotto {

/// Where a descent is, or ended.
struct DescentPoint {
    Eigen::VectorXd point, gradient;
    double value = 0;
};

struct DescentOptions {
    int max_steps = 100;
    double first_length = 0.1;     ///< at most, of the first step and of those after a failed one
    double least_decrease = 1e-7;  ///< relative, over the last ten steps together; else it ends
};

/// f(x), and its gradient in the second argument; infinite, whatever the gradient, where x is not
/// allowed.
using DescentFunction = std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>;

/// Minimum near `start` of a smooth function that need not be convex and is bounded by infinity:
/// limited-memory BFGS (20 steps), backtracking (Armijo). Only steps of positive curvature are
/// remembered, so that every direction descends. LBFGSpp's backtracking remembers all of them.
/// Ends where nothing improves, too; at the start, if f is infinite there. Pure: the same calls
/// give the same bits. Cost: f once or twice a step.
[[nodiscard]] DescentPoint find_minimum(const DescentFunction& f,
                                        Eigen::VectorXd start,
                                        const DescentOptions& options = {});

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

/// S <- C^-1 # (S G S), # the geometric mean: the S that makes Tr(C S) + Tr(S_0 G S_0 S^-1) least.
/// With C = L L^T it is L^-T (L^T S G S L)^1/2 L^-1.
/// @param kept share of the trace inside the root that every direction keeps: a block that has
///        collapsed in a direction hardly turns back to it.
/// @return S itself where C is not positive definite. Cost: O(m^3).
[[nodiscard]] Eigen::MatrixXd bought(const Eigen::MatrixXd& s,
                                     const Eigen::MatrixXd& gain,
                                     const Eigen::MatrixXd& cost,
                                     double kept);

/// Largest a with det(gain - a cost) = 0; infinite where the cost is not positive definite.
[[nodiscard]] double largest_ratio(const Eigen::MatrixXd& gain, const Eigen::MatrixXd& cost);

/// Steps s <- s e^p of numbers in a row towards where all e are 1: the square root, p = 1/2, where
/// a number turns, and longer by 1.3 each time that it goes on in one direction.
class NumberSteps {
  public:
    /// @param earned  e, >= 0.   @param haste 0 (always the root) to 1 (p up to 8); with haste a
    /// number grows or shrinks to at most four times or a quarter at once, without to twice or
    /// half.
    void take(const Eigen::VectorXd& earned, double haste, Eigen::VectorXd& numbers);

  private:
    Eigen::VectorXd power_;
    std::vector<bool> rose_;
};

}  // namespace sotto
