#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <string_view>

#include "design/shaped_factor.hpp"
#include "sotto/design/design.hpp"

namespace sotto {

struct JointOptions {
    /// Constraint on X_p, the rows and columns of X = C^T C of one participation pattern of agent u
    /// with at most m = ceil(T / cycle) rounds.
    enum class Columns {
        any,   ///< sens2(X_p) <= kappa_u m, over all changes of length 1 a round ([U] eq. 7)
        equal  ///< X_p <= kappa_u I: no column of C longer than alone; at the optimum X_p = kappa_u
               ///< I, the constraint of solve_temporal_gram
    };
    Columns columns = Columns::any;
    double relative_gap = 1e-6;  ///< stop when (value - lower_bound) <= relative_gap * value
    int max_iterations = 2000;   ///< eigendecompositions
};

struct JointSolution {
    Eigen::MatrixXd gram;    ///< X, n T x n T, within every limit; singular where H is
    double value = 0;        ///< Tr(H X^-1); with singular X of X + 0 I, its limit from above
    double lower_bound = 0;  ///< certified: no X within the limits has less
    int iterations = 0;
    [[nodiscard]] double relative_gap() const {
        return value > 0 ? (value - lower_bound) / value : 0;
    }
};

/// Optimal noise with any correlation of all agents and all rounds, against an observer of all
/// messages.
///
/// Solves  min_X Tr(H X^-1)  s.t. the constraint `columns` for every agent and pattern {j, j +
/// cycle, ...}.
/// Source: [U] Definition 11, docs/equations.md#any-correlation-of-agents-and-rounds (with the
/// dual)
///
/// With Z_p = B_p B_p^T the fixed point X B_p / kappa_u = B_p, for `any` with the rows of B_p at
/// one length, X = H^1/2 (H^1/2 Z H^1/2)^-1/2 H^1/2, ascends the dual; 10 to 40 steps with Anderson
/// acceleration. Directions of H below 1e-13 of the largest count as zero. Pure. Cost: an
/// eigendecomposition of n T rows an iteration.
/// @param utility H, n T x n T, symmetric, positive semidefinite, not 0; row t n + u.
/// @param kappa n, > 0.
/// @param cycle b >= 1.
/// @throws ConfigError if a kappa is not finite and positive, cycle < 1, H is 0, or its size is not
/// a multiple of n.
[[nodiscard]] JointSolution solve_joint_gram(const Eigen::MatrixXd& utility,
                                             const Eigen::VectorXd& kappa,
                                             long cycle,
                                             const JointOptions& options = {});

/// @throws ConfigError if every round counts against every other, which leaves only X_time = I (if
/// the input's shape requests more); with Poisson sampling, if the shape lets rounds of one record
/// share noise, or makes columns of C_time longer than 1 (require_separate_rounds).
void require_choice_of_rounds(const DesignInput& input, std::string_view mechanism);

/// The input scaled to smallest kappa 1. Factors over rounds are solved in this form, so that they
/// are bitwise the same for every budget.
[[nodiscard]] DesignInput relative_input(const DesignInput& input);

/// The plan's spatial covariance, scaled to smallest kappa 1.
[[nodiscard]] Eigen::MatrixXd relative_covariance(const NoisePlan& plan, const DesignInput& input);

/// M of the trajectory for noise correlated by this factor.
[[nodiscard]] Eigen::MatrixXd space_given_time(const DesignInput& input,
                                               const TemporalFactor& factor);

/// Size in memory.
[[nodiscard]] std::size_t bytes_of(const TemporalFactor& factor);

/// The optimal temporal factor of the input's shape, given the covariance across agents. Recent
/// solutions are cached.
[[nodiscard]] ShapedFactor time_given_space(const DesignInput& input,
                                            const Eigen::MatrixXd& covariance);
/// The same for this shape, with or without a lower bound (see solve_shaped_factor).
[[nodiscard]] ShapedFactor time_given_space(const DesignInput& input,
                                            const Eigen::MatrixXd& covariance,
                                            const TemporalShape& shape,
                                            Certificate certificate);

}  // namespace sotto
