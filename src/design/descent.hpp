#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

namespace sotto {

/// An iterate or the result of a descent.
struct DescentPoint {
    Eigen::VectorXd point, gradient;
    double value = 0;
};

struct DescentOptions {
    int max_steps = 100;
    double first_length = 0.1;     ///< at most, for the first step and after a failed one
    double least_decrease = 1e-7;  ///< relative, over the last ten steps together; otherwise it
                                   ///< ends
};

/// Returns f(x) and writes its gradient; infinite, with any gradient, if x is not allowed.
using DescentFunction = std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>;

/// Local minimum near `start` of a smooth function, perhaps not convex, by limited-memory BFGS (20
/// steps) with backtracking (Armijo). Remembers only steps of positive curvature (LBFGSpp's
/// backtracking remembers all), so every direction descends. Also ends if nothing improves, and at
/// the start if f is infinite there. Pure and deterministic. Cost: f once or twice a step.
[[nodiscard]] DescentPoint find_minimum(const DescentFunction& f,
                                        Eigen::VectorXd start,
                                        const DescentOptions& options = {});

/// Anderson acceleration of a fixed point x = g(x): the next point is the affine combination of the
/// last images g(x_i) that minimises the combined residual.
class AndersonSteps {
  public:
    /// @param memory number of combined steps, >= 1.
    explicit AndersonSteps(std::size_t memory) : memory_(memory) {}
    /// The next point after `point` with image g(point). Cost: O(size memory^2).
    [[nodiscard]] Eigen::VectorXd next(const Eigen::VectorXd& point, const Eigen::VectorXd& image);
    /// Drops the memory.
    void forget();

  private:
    std::size_t memory_;
    Eigen::VectorXd last_image_, last_residual_;
    std::deque<Eigen::VectorXd> image_changes_, residual_changes_;
};

/// S <- C^-1 # (S G S), # the geometric mean: the minimiser of Tr(C S) + Tr(S_0 G S_0 S^-1). With C
/// = L L^T it is L^-T (L^T S G S L)^1/2 L^-1. Cost: O(m^3).
/// @param kept share of the trace inside the root that every direction keeps, since a direction
/// that has collapsed hardly recovers.
/// @return S itself if C is not positive definite.
[[nodiscard]] Eigen::MatrixXd bought(const Eigen::MatrixXd& s,
                                     const Eigen::MatrixXd& gain,
                                     const Eigen::MatrixXd& cost,
                                     double kept);

/// Largest a with det(gain - a cost) = 0; infinite if the cost is not positive definite.
[[nodiscard]] double largest_ratio(const Eigen::MatrixXd& gain, const Eigen::MatrixXd& cost);

/// Steps s <- s e^p for several numbers towards e = 1: p = 1/2 when a number turns, times 1.3 each
/// time it continues in one direction.
class NumberSteps {
  public:
    /// @param earned e, >= 0.
    /// @param haste 0 (always the root) to 1 (p up to 8). A number changes by at most a factor of 4
    /// with haste, and of 2 without.
    void take(const Eigen::VectorXd& earned, double haste, Eigen::VectorXd& numbers);

  private:
    Eigen::VectorXd power_;
    std::vector<bool> rose_;
};

}  // namespace sotto
