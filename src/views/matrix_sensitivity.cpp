#include "sotto/views/matrix_sensitivity.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/views/gram_sensitivity.hpp"
#include "views/whitening.hpp"

namespace sotto {

std::vector<SquaredSensitivity> matrix_sensitivity(const Eigen::MatrixXd& a,
                                                   const Eigen::MatrixXd& b,
                                                   int agents,
                                                   std::span<const int> targets,
                                                   const Participation& participation,
                                                   double tight_gap) {
    if (a.rows() != b.rows())
        throw ConfigError(fmt::format(
            "A and B: {} and {} rows; both need one row an observed value", a.rows(), b.rows()));
    if (agents < 1 || a.cols() == 0 || a.cols() % agents != 0)
        throw ConfigError(fmt::format(
            "A: {} columns are not allowed with {} agents (one column a round and agent)",
            a.cols(),
            agents));
    if (!a.allFinite()) throw DataError("A: a value is not finite");
    if (!b.allFinite()) throw DataError("B: a value is not finite");
    const Eigen::MatrixXd covariance = b * b.transpose();
    const Whitening whitening =
        whiten(covariance, a.rows() > 0 ? 1e-15 * covariance.diagonal().maxCoeff() : 0.0);
    const Eigen::Index rounds = a.cols() / agents;
    std::vector<SquaredSensitivity> result;
    for (const int target : targets) {
        if (target < 0 || target >= agents)
            throw ConfigError(fmt::format(
                "target: agent {} does not exist (allowed: 0 to {})", target, agents - 1));
        const Eigen::MatrixXd columns = a(Eigen::all, Eigen::seqN(target, rounds, agents));
        if (whitening.shows_without_noise(columns)) {
            result.push_back(SquaredSensitivity::unbounded());
            continue;
        }
        const Eigen::MatrixXd white = whitening.rows * columns;
        result.push_back(gram_sensitivity(white.transpose() * white, participation, tight_gap));
    }
    return result;
}

}  // namespace sotto
