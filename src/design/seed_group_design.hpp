#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <vector>

#include "design/coalition_solver.hpp"
#include "sotto/design/design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// The covariance for the input's seed groups and coalitions, where the smallest kappa is 1. The
/// last solutions of this process are kept: one for 100 agents takes seconds, and trainings of a
/// sweep often share it, since it depends neither on epsilon nor on the clip norm, step size, task
/// or seeds. @throws ConfigError as solve_coalition_covariance.
[[nodiscard]] CoalitionSolution solve_for_seed_groups(const DesignInput& input, GroupNoise shape);

/// Its finished plan.
/// @param factors R_k = F_k F_k^T of every group's noise, members x streams.
[[nodiscard]] Design make_seed_group_design(std::string mechanism,
                                            const DesignInput& input,
                                            const CoalitionSolution& solution,
                                            const std::vector<Eigen::MatrixXd>& factors);

/// The finished plan with the best covariance of every group's members, whatever it looks like.
/// [C] (10). @throws ConfigError as solve_coalition_covariance.
[[nodiscard]] Design design_free_groups(std::string mechanism, const DesignInput& input);

/// A plan of private noise and noise of seed groups: stream u is agent u's own; then the streams of
/// every group whose factor is not empty.
/// @param private_variance s2_u.  @param factors R_k = F_k F_k^T, members x streams of the group.
[[nodiscard]] NoisePlan make_group_plan(std::string mechanism,
                                        const Eigen::VectorXd& private_variance,
                                        std::span<const SeedGroup> groups,
                                        const std::vector<Eigen::MatrixXd>& factors);

/// R = L L^T from n streams that derive from one seed held by all agents. @param lower L.
[[nodiscard]] NoisePlan one_seed_plan(std::string mechanism,
                                      const Eigen::MatrixXd& lower,
                                      double scale);

/// F with F F^T = block, as few columns as leave out no more than `negligible` on the diagonal.
[[nodiscard]] Eigen::MatrixXd block_factor(const Eigen::MatrixXd& block, double negligible);

/// sqrt(c) (1, -1)^T for c (e_u - e_v)(e_u - e_v)^T: exact opposites, so that it cancels.
[[nodiscard]] Eigen::MatrixXd difference_factor(double variance);

/// Multipliers lambda_Iu >= 0 of the limits [(R^(I))^-1]_uu <= kappa_u. Coalitions that share a
/// seed with u have one from the start. To all others u looks nearly as to an eavesdropper: of
/// those each pass gives one to the coalition that learns most of u, if it learns too much.
/// Memory: linear in pairs, not in coalitions x agents.
class LimitPrices {
  public:
    /// Agents whose limit costs something for a coalition, and their multipliers.
    struct Priced {
        std::vector<int> agents;
        Eigen::VectorXd prices;
    };
    /// For every agent, the coalition without a multiplier that learns most of it.
    struct Far {
        explicit Far(int agents);
        Eigen::VectorXd excess;      ///< [(R^(I))^-1]_uu / kappa_u; 0 where there is none
        std::vector<int> coalition;  ///< by number; -1 where there is none
        void merge(const Far& other);
    };
    /// How prices follow excesses: lambda <- lambda (excess / mean)^power.
    struct Step {
        double power = 1;
        double mean = 1;        ///< excess that leaves prices as they are
        double negligible = 0;  ///< lambda kappa at or below it is left out
    };

    LimitPrices(const GroupLayout& layout, Eigen::VectorXd kappa);

    /// @param typical  a price times kappa to begin with.
    void add(const std::vector<int>& coalition, double typical);

    /// Of coalition `c`: multiplies its prices, tells `far` what it learns, and returns what is
    /// priced. Different coalitions may be asked at once, with a `far` each.
    /// @param excess  n; of members 0.
    [[nodiscard]] Priced follow(std::size_t c,
                                const Eigen::VectorXd& excess,
                                const Step& step,
                                Far& far);
    /// After a pass over all: multipliers for those of `far` that learn more than the mean.
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
