#pragma once

#include <Eigen/Dense>
#include <functional>

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

}  // namespace sotto
