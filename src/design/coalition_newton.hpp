#pragma once

#include <Eigen/Dense>
#include <vector>

#include "core/numbers.hpp"
#include "design/coalition_point.hpp"
#include "design/coalition_solver.hpp"

namespace sotto {

/// The linear system of a primal-dual Newton step at a point.
struct NewtonSystem {
    Eigen::VectorXd gradient;    ///< of cost.phi - target * sum log slack
    Eigen::MatrixXd hessian;     ///< lower triangle, positive definite
    Eigen::MatrixXd cap_slopes;  ///< of R_uu: agents x unknowns
    /// Slopes of the slacks, one block per part of the coalitions: (agents of its coalitions) x
    /// unknowns.
    std::vector<Eigen::MatrixXd> slack_slopes;
};

/// Gradient and Hessian of the barrier problem with the constraints in the concave form 1/f >=
/// 1/kappa_u, f = [(R^(I))^-1]_uu (docs/equations.md#coalitions). Free blocks have a log-det
/// barrier. Cost: with N unknowns and m constraints O(m N^2).
[[nodiscard]] NewtonSystem newton_system(const CoalitionProblem& problem,
                                         const CoalitionPoint& point,
                                         double target);

/// First-order change of the slacks, agents x coalitions; 0 for members.
[[nodiscard]] Eigen::MatrixXd slack_change(const CoalitionProblem& problem,
                                           const NewtonSystem& system,
                                           const Eigen::VectorXd& direction);

struct CoalitionStep {
    double length = 0;     ///< share of the full step that was taken; 0 if none was possible
    CoalitionPoint point;  ///< after it; empty if none was possible
};

/// One primal-dual Newton step towards slack times multiplier = `target`. Cost: with N unknowns and
/// m constraints O(m N^2 + N^3).
[[nodiscard]] CoalitionStep take_step(const CoalitionProblem& problem,
                                      const CoalitionPoint& point,
                                      double target);

/// Up to this many coalitions all are included from the start.
inline constexpr double few_coalitions = 300;

/// The path of iterates from the start to the solution. Of many coalitions, violated ones are added
/// on the way.
class CoalitionPath {
  public:
    /// @param problem with the coalitions included from the start.
    /// @throws ConfigError if no noise within the cap protects every agent.
    CoalitionPath(CoalitionProblem problem, const CoalitionOptions& options);

    /// Runs until the gap is met or rounding ends the progress.
    void follow();

    [[nodiscard]] const CoalitionProblem& problem() const { return problem_; }
    /// The best phi, feasible for all coalitions of the size, and a certified lower bound on the
    /// optimal cost.
    [[nodiscard]] const Eigen::VectorXd& best() const { return best_; }
    [[nodiscard]] double lower_bound() const { return best_bound_; }
    [[nodiscard]] int iterations() const { return iterations_; }

  private:
    void begin(Eigen::VectorXd phi);
    void restart(Eigen::VectorXd phi, double share);
    bool advance();
    double check_all();
    [[nodiscard]] bool stalled(double gap, double present);

    CoalitionProblem problem_;
    CoalitionOptions options_;
    bool all_;  // all coalitions are included
    CoalitionPoint point_;
    Eigen::VectorXd best_;
    double best_value_ = infinity, best_bound_ = 0;
    double last_gap_ = infinity, last_present_ = last_gap_;
    int last_progress_ = 0, iterations_ = 0;
    double target_ = 0, aim_ = 0;
};

/// Private noise alone, 1 / kappa_u each (the largest if common): protects every agent against any
/// coalition.
[[nodiscard]] Eigen::VectorXd private_values(const GroupLayout& layout,
                                             const Eigen::VectorXd& kappa);

/// Start values, feasible for a list of coalitions: the cheapest of two families, over the amount
/// of shared noise: equal in every group (as in decor), or equal for every agent at low cost, with
/// private noise for what each lacks. Every group shares some noise. Cost: 20 times
/// excess_of_agents.
/// @param cost of the layout's values.
/// @param cap largest R_uu, n, > 1 / kappa.
[[nodiscard]] Eigen::VectorXd first_values(const GroupLayout& layout,
                                           const Eigen::VectorXd& cost,
                                           const Eigen::VectorXd& cap,
                                           const Eigen::VectorXd& kappa,
                                           const std::vector<Coalition>& coalitions);

/// Whether some agents share seeds with many more others than most: first values are then off by
/// different factors, and long steps oscillate.
[[nodiscard]] bool is_uneven(const GroupLayout& layout);

/// A certified lower bound on cost.phi over all feasible phi, from the multipliers of a point
/// (docs/equations.md#coalitions). Cost: O(n^3) a coalition.
[[nodiscard]] double certified_lower_bound(const CoalitionProblem& problem,
                                           const CoalitionPoint& point);

}  // namespace sotto
