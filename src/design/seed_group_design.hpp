#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <vector>

#include "design/coalition_solver.hpp"
#include "sotto/design/design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// The covariance for the input's seed groups and coalitions, scaled to smallest kappa 1. Recent
/// solutions are cached: one for 100 agents takes seconds, and does not depend on epsilon, clip
/// norm, step size, task or seeds.
/// @throws ConfigError as solve_coalition_covariance.
[[nodiscard]] CoalitionSolution solve_for_seed_groups(const DesignInput& input, GroupNoise shape);

/// The finished plan of a solution.
/// @param factors R_k = F_k F_k^T of every group's noise, members x streams.
[[nodiscard]] Design make_seed_group_design(std::string mechanism,
                                            const DesignInput& input,
                                            const CoalitionSolution& solution,
                                            const std::vector<Eigen::MatrixXd>& factors);

/// The finished plan with the best covariance of every group's members. [C] (10).
/// @throws ConfigError as solve_coalition_covariance.
[[nodiscard]] Design design_free_groups(std::string mechanism, const DesignInput& input);

/// A plan of private noise and noise of seed groups: stream u is agent u's own; then come the
/// streams of every group with a non-empty factor.
/// @param private_variance s2_u.
/// @param factors R_k = F_k F_k^T, members x streams of the group.
[[nodiscard]] NoisePlan make_group_plan(std::string mechanism,
                                        const Eigen::VectorXd& private_variance,
                                        std::span<const SeedGroup> groups,
                                        const std::vector<Eigen::MatrixXd>& factors);

/// R = L L^T from n streams that derive from one seed held by all agents. @param lower L.
[[nodiscard]] NoisePlan one_seed_plan(std::string mechanism,
                                      const Eigen::MatrixXd& lower,
                                      double scale);

/// F with F F^T = block, with the fewest columns that omit at most `negligible` on the diagonal.
[[nodiscard]] Eigen::MatrixXd block_factor(const Eigen::MatrixXd& block, double negligible);

/// sqrt(c) (1, -1)^T for c (e_u - e_v)(e_u - e_v)^T: exact opposites, which cancel.
[[nodiscard]] Eigen::MatrixXd difference_factor(double variance);

/// Multipliers lambda_Iu >= 0 of the limits [(R^(I))^-1]_uu <= kappa_u. Coalitions that share a
/// seed with u have one from the start. To all others u looks nearly as to an eavesdropper: each
/// pass gives a multiplier to the one that learns most about u, if it learns too much. Memory:
/// linear in pairs, not in coalitions x agents.
class LimitPrices {
  public:
    /// Agents whose limit has a price for a coalition, and their multipliers.
    struct Priced {
        std::vector<int> agents;
        Eigen::VectorXd prices;
    };
    /// For every agent, the coalition without a multiplier that learns most about it.
    struct Far {
        explicit Far(int agents);
        Eigen::VectorXd excess;      ///< [(R^(I))^-1]_uu / kappa_u; 0 if none
        std::vector<int> coalition;  ///< index; -1 if none
        void merge(const Far& other);
    };
    /// Update of prices: lambda <- lambda (excess / mean)^power.
    struct Step {
        double power = 1;
        double mean = 1;        ///< excess at which prices stay
        double negligible = 0;  ///< lambda kappa up to this is dropped
    };

    LimitPrices(const GroupLayout& layout, Eigen::VectorXd kappa);

    /// @param typical initial price times kappa.
    void add(const std::vector<int>& coalition, double typical);

    /// For coalition `c`: updates its prices, reports what it learns to `far`, and returns the
    /// priced agents. Different coalitions may be processed concurrently, with a `far` each.
    /// @param excess n; 0 for members.
    [[nodiscard]] Priced follow(std::size_t c,
                                const Eigen::VectorXd& excess,
                                const Step& step,
                                Far& far);
    /// After a pass over all: adds multipliers for those of `far` that learn more than the mean.
    void settle(const Far& far, const Step& step);

  private:
    /// Agents with a multiplier, ascending, and lambda.
    struct Limits {
        std::vector<int> agents;
        std::vector<double> prices;
    };

    const GroupLayout* layout_;
    Eigen::VectorXd kappa_;
    std::vector<Limits> limits_;  // of every coalition
};

}  // namespace sotto
