#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <filesystem>

#include "audit/audit_subject.hpp"
#include "audit/recorded_messages.hpp"
#include "tasks/task.hpp"
#include "views/view_innovations.hpp"

namespace sotto {

/// Least-squares estimates of agents' contributions from what a view saw.
///
/// Innovations are y = R Theta + e, e independent and standard normal, and z = N Theta without
/// noise, Theta unknowns x coordinates (ViewInnovations, docs/equations.md#partial-views). z is
/// solved first: Theta = N^+ z + V phi, V a basis of the null space of N; then phi minimises |y - R
/// Theta|^2. Under Gaussian noise variances() is the Cramer-Rao bound, and estimates() attain it;
/// under Laplace noise it is the variance of the best linear estimate.
class ContributionEstimator {
  public:
    /// @param responses R and N of ViewInnovations::responses, one column per unknown.  @param
    /// coordinates d. Cost O(rows unknowns^2).
    ContributionEstimator(ViewInnovations::Innovation responses, Eigen::Index coordinates);

    /// Adds the next gossip step; steps in order. Cost O(rows unknowns d).
    /// @throws ConfigError for more rows than the responses have.
    void add(const ViewInnovations::Innovation& seen);

    /// From all added steps, unknowns x coordinates; of an unknown that cannot be identified, the
    /// identifiable part.
    [[nodiscard]] Eigen::MatrixXd estimates() const;
    /// Variance of the estimate of one coordinate of every unknown, the others unknown too: [(R^T
    /// R)^-1]_uu without directions free of noise. 0: no noise covers it, infinite: not
    /// identifiable.
    [[nodiscard]] const Eigen::VectorXd& variances() const { return variances_; }

  private:
    Eigen::MatrixXd noisy_projection_, noiseless_projection_;  // left singular vectors
    Eigen::MatrixXd from_noisy_, from_noiseless_;  // estimates from projected innovations
    Eigen::MatrixXd noisy_from_noiseless_;         // what N^+ z explains of y, projected
    Eigen::MatrixXd noisy_, noiseless_;            // projected innovations, accumulated
    Eigen::VectorXd variances_;
    Eigen::Index noisy_rows_ = 0, noiseless_rows_ = 0;
};

/// Probability that the mean square of this many independent normal errors of this variance is at
/// most `mean_square` (chi-squared). @throws ConfigError unless variance > 0.
[[nodiscard]] double chance_of_smaller_error(double mean_square,
                                             double variance,
                                             Eigen::Index errors);

/// Independent views of one agent's contributions: z_k = sum_t response(t, k) g_t + standard normal
/// noise, per coordinate. They contain all that a view learns about them. If all messages are seen
/// a mode is a round, z_t = sqrt([(R^(I))^-1]_uu) y_t; otherwise modes are eigenvectors of the Gram
/// matrix over rounds, whose columns of `response` are orthogonal.
struct ContributionModes {
    Eigen::SparseMatrix<double> response;  ///< rounds x modes [1 / gradient unit]
    bool by_round = false;                 ///< whether `response` is diagonal
    Eigen::MatrixXd values;                ///< z, modes x coordinates
};

/// Reads all recordings. @param by_round whether the view sees all messages. Cost O(rounds state
/// (state + observed) coordinates), and rounds times as much for responses if not all messages are
/// seen.
/// @throws ConfigError if no noise covers contributions in the view: epsilon is infinite.
[[nodiscard]] ContributionModes read_contribution_modes(RecordedInnovations& recorded,
                                                        int target,
                                                        long rounds,
                                                        Eigen::Index coordinates,
                                                        bool by_round);

/// Private mean estimation under attack: every agent holds one row of data, of norm at most the
/// clip, and contributes it in every round of its participation.
struct Rows {
    Eigen::MatrixXd values;       ///< agents x d: the truth, unknown to the attacker
    Eigen::VectorXd divisors;     ///< B_u: one record is a B_u-th of a contribution
    Eigen::VectorXd rounds;       ///< 1 in rounds in which a row takes part, else 0
    Eigen::Index image_rows = 0;  ///< rows of the image that a row is; 0: none
};

/// Divisors and rounds, which are public; no values.
[[nodiscard]] Rows public_rows(const PlanConfig& plan, const AccountSubject& account);

/// The first record of every agent, clipped (in L1 norm under Laplace noise), on every process.
/// COLLECTIVE.
/// @param rows without values.  @throws DataError for an agent without records, or a record that is
/// not finite; as read_local_values.
[[nodiscard]] Rows read_rows(Rows rows,
                             const TrainConfig& train,
                             StreamDistribution noise,
                             Control& network);

/// Values kept in a run directory. LOCAL. @throws DataError for those of another run.
[[nodiscard]] Eigen::MatrixXd recorded_rows(const std::filesystem::path& file, int agents);

/// Contributions of the local agents: minus their row in the rounds in which it takes part. LOCAL.
[[nodiscard]] LocalTask make_rows_task(const Rows& rows, const Control& network);

}  // namespace sotto
