#pragma once

#include <Eigen/Dense>
#include <span>

#include "sotto/design/temporal_shape.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A temporal factor of the shape asked for.
struct ShapedFactor {
    TemporalFactor factor;
    double value = 0;        ///< Tr(H X_time^-1) sens2(C_time) / ceil(T / cycle)
    double lower_bound = 0;  ///< over all factors of the shape; NaN where none is known
};
/// Whether a lower bound is wanted, which takes far longer for a band below the cycle.
enum class Certificate { wanted, omitted };

/// The factor that leaves the least noise given the covariance across agents: the solver for its
/// shape, and for the number of rounds; the identity for independent rounds. Blocks of rounds that
/// begin anew are problems of their own. With Certificate::omitted bands below the cycle are solved
/// as of runs too long for a bound.
/// @throws ConfigError for more than most_dense_rounds rounds (in a block, if it begins anew),
/// unless it is one-lag, or banded with band < cycle; and altogether where W is not symmetric.
[[nodiscard]] ShapedFactor solve_shaped_factor(const MixingMatrix& mixing,
                                               const Eigen::MatrixXd& spatial_covariance,
                                               std::span<const double> step_sizes,
                                               const GossipPolynomial& gossip,
                                               long cycle,
                                               const TemporalShape& shape,
                                               Certificate certificate = Certificate::wanted);

/// The same, given H (temporal_utility), T x T.
[[nodiscard]] ShapedFactor solve_shaped_factor(const Eigen::MatrixXd& utility,
                                               long cycle,
                                               const TemporalShape& shape);

}  // namespace sotto
