#pragma once

#include <Eigen/Dense>
#include <filesystem>

#include "audit/audit_subject.hpp"
#include "tasks/task.hpp"

namespace sotto {

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
