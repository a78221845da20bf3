#pragma once

#include <Eigen/Dense>

#include "design/coalition_point.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

/// Up to this many coalitions all take part from the start.
inline constexpr double few_coalitions = 300;

/// The way of the iterates from the problem's start to its solution. Coalitions are added to the
/// problem when they are violated, if there are many.
class CoalitionPath {
  public:
    /// @param problem with the coalitions that take part from the start.
    /// @throws ConfigError if no noise within the cap protects every agent.
    CoalitionPath(CoalitionProblem problem, const CoalitionOptions& options);

    /// Until the gap is met or rounding ends the progress.
    void follow();

    [[nodiscard]] const CoalitionProblem& problem() const { return problem_; }
    /// The best phi, feasible for all coalitions of the size, and a certified lower bound on what
    /// any other costs.
    [[nodiscard]] const Eigen::VectorXd& best() const { return best_; }
    [[nodiscard]] double lower_bound() const { return best_bound_; }
    [[nodiscard]] int iterations() const { return iterations_; }

  private:
    void restart(Eigen::VectorXd phi, double share);
    bool advance();
    double check_all();
    [[nodiscard]] bool stalled(double gap, double present);

    CoalitionProblem problem_;
    CoalitionOptions options_;
    bool all_;  // coalitions take part
    CoalitionPoint point_;
    Eigen::VectorXd best_;
    double best_value_ = infinity, best_bound_ = 0;
    double last_gap_ = infinity, last_present_ = last_gap_;
    int last_progress_ = 0, iterations_ = 0;
    double target_ = 0, aim_ = 0;
};

}  // namespace sotto
