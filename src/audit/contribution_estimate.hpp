#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <filesystem>

#include "audit/audit_subject.hpp"
#include "audit/recorded_messages.hpp"
#include "tasks/task.hpp"
#include "views/view_innovations.hpp"

namespace sotto {

/// Least-squares estimates of what agents contribute, from what a view saw.
///
/// Innovations are y = R Theta + e, e independent and standard normal, and z = N Theta without
/// noise, Theta unknowns x coordinates (ViewInnovations, docs/equations.md 8). z is solved first:
/// Theta = N^+ z + V phi, V a basis of the null space of N; then phi minimises |y - R Theta|^2.
/// Under Gaussian noise no unbiased estimate is better: variances() is the Cramer-Rao bound, and
/// estimates() attain it. Under Laplace noise it is the variance of the best linear estimate.
class ContributionEstimator {
  public:
    /// @param responses R and N of ViewInnovations::responses, one column an unknown.  @param
    /// coordinates d. Cost O(rows unknowns^2).
    ContributionEstimator(ViewInnovations::Innovation responses, Eigen::Index coordinates);

    /// What was seen in the next gossip step; steps in order. Cost O(rows unknowns d).
    /// @throws ConfigError for more rows than the responses have.
    void add(const ViewInnovations::Innovation& seen);

    /// Of all that was added, unknowns x coordinates. Of an unknown that cannot be identified, the
    /// part that can.
    [[nodiscard]] Eigen::MatrixXd estimates() const;
    /// Variance of the estimate of one coordinate of every unknown, the others unknown too: [(R^T
    /// R)^-1]_uu without directions free of noise. 0: no noise covers it, infinite: many values of
    /// it would have looked the same.
    [[nodiscard]] const Eigen::VectorXd& variances() const { return variances_; }

  private:
    Eigen::MatrixXd noisy_projection_, noiseless_projection_;  // left singular vectors
    Eigen::MatrixXd from_noisy_, from_noiseless_;  // estimates from projected innovations
    Eigen::MatrixXd noisy_from_noiseless_;         // what N^+ z explains of y, projected
    Eigen::MatrixXd noisy_, noiseless_;            // projected innovations, accumulated
    Eigen::VectorXd variances_;
    Eigen::Index noisy_rows_ = 0, noiseless_rows_ = 0;
};

/// How often that many independent normal errors of this variance have so small a mean square, or a
/// smaller one (chi-squared). @throws ConfigError unless variance > 0.
[[nodiscard]] double chance_of_smaller_error(double mean_square,
                                             double variance,
                                             Eigen::Index errors);

/// Independent views of one agent's contributions: z_k = sum_t response(t, k) g_t + standard normal
/// noise, for every coordinate. Nothing else that a view saw tells anything about them. Where all
/// messages are seen a mode is a round, z_t = sqrt([(R^(I))^-1]_uu) y_t; otherwise modes are
/// eigenvectors of the Gram matrix over rounds, whose columns of `response` are orthogonal.
struct ContributionModes {
    Eigen::SparseMatrix<double> response;  ///< rounds x modes [1 / gradient unit]
    bool by_round = false;                 ///< whether `response` is diagonal
    Eigen::MatrixXd values;                ///< z, modes x coordinates
};

/// Reads all recordings. @param by_round whether the view sees all messages.
/// Cost O(rounds state (state + observed) coordinates), and rounds times as much of responses
/// where not all messages are seen.
/// @throws ConfigError where the view sees contributions that no noise covers: epsilon is infinite.
[[nodiscard]] ContributionModes read_contribution_modes(RecordedInnovations& recorded,
                                                        int target,
                                                        long rounds,
                                                        Eigen::Index coordinates,
                                                        bool by_round);

/// Private mean estimation, attacked: every agent holds one row of data, of norm at most the clip,
/// and contributes it in every round of its participation.
struct Rows {
    Eigen::MatrixXd values;       ///< agents x d: the truth; the attacker does not have it
    Eigen::VectorXd divisors;     ///< B_u: one record is a B_u-th of a contribution
    Eigen::VectorXd rounds;       ///< 1 in the rounds in which a row takes part, else 0
    Eigen::Index image_rows = 0;  ///< a row is an image of this many rows; 0: it is none
};

/// Divisors and rounds, which everybody knows; no values.
[[nodiscard]] Rows public_rows(const PlanConfig& plan, const AccountSubject& account);

/// The first record of every agent, scaled down to the clip where it is longer (in L1 norm under
/// Laplace noise), on every process. COLLECTIVE.
/// @param rows without values.  @throws DataError for an agent without records, or a record that is
/// not finite; as read_local_values.
[[nodiscard]] Rows read_rows(Rows rows,
                             const TrainConfig& train,
                             StreamDistribution noise,
                             Network& network);

/// The values that a run directory keeps. LOCAL. @throws DataError for those of another run.
[[nodiscard]] Eigen::MatrixXd recorded_rows(const std::filesystem::path& file, int agents);

/// What the agents of this process contribute: minus their row in the rounds in which it takes
/// part. LOCAL.
[[nodiscard]] LocalTask make_rows_task(const Rows& rows, const Network& network);

}  // namespace sotto
