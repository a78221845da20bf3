#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A temporal factor of the requested shape.
struct ShapedFactor {
    TemporalFactor factor;
    double value = 0;        ///< Tr(H X_time^-1) sens2(C_time) / ceil(T / cycle)
    double lower_bound = 0;  ///< over all factors of the shape; NaN if unknown
};
/// Whether to compute a lower bound, which takes far longer for a band below the cycle.
enum class Certificate { wanted, omitted };

/// The factor with the least noise given the covariance across agents, by the solver for its shape
/// and number of rounds; the identity for independent rounds. Blocks after restarts are separate
/// problems. With Certificate::omitted, bands below the cycle are solved as in runs too long for a
/// bound.
/// @throws ConfigError for more than most_dense_rounds rounds (in a block, with restarts), unless W
/// is symmetric and the shape is one-lag, or banded with band < cycle.
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

/// Work of one round for an agent besides the noise of earlier rounds.
struct RoundWork {
    int agents = 1;      ///< n, whose past noise is stored
    long dimension = 1;  ///< d
    long batch = 0;      ///< record gradients that an agent sums in a round
};

/// Rounds of past noise that an agent can afford. Depends on counts only, so that all agents agree.
struct PastRounds {
    long kept = 1;  ///< rounds whose noise of all agents fits in 2 GiB: 8 n d bytes a round
    /// Rounds that cost no more to read than drawing noise and summing gradients: one draw counts
    /// as 8 values of past noise, a record's gradient as 1 per parameter (docs/performance.md). Up
    /// to 1 MiB is free. On average over the run.
    long read = 1;
};
/// At least 1 each.
[[nodiscard]] PastRounds affordable_past(const RoundWork& work);

/// A temporal factor's shape and its noise.
struct ShapeCandidate {
    TemporalShape shape;
    /// Tr(H X_time^-1) sens2 / ceil(T / b) of independent agents; for a band of b or more, of b - 1
    /// subdiagonals, an upper bound. NaN: not computed.
    double noise = 0;
};

/// How the shape was chosen; without candidates there was no choice.
struct ShapeChoice {
    std::vector<ShapeCandidate> candidates;
    std::size_t chosen = 0;
    long reach = 0;                  ///< rounds that dense would keep
    std::string_view against_dense;  ///< reason against dense; empty if it is dense
    [[nodiscard]] const TemporalShape& best() const { return candidates[chosen].shape; }
    /// Whether nothing was given up: dense, or no choice.
    [[nodiscard]] bool keeps_all() const {
        return candidates.empty() || best().kind == TemporalShape::Kind::dense;
    }
};

/// `dense` if agents can afford to store the noise of all rounds and to read half of them, and so
/// many can be planned; otherwise the better of `one-lag` and `banded:B` with the largest
/// affordable B. With Poisson sampling in parts of a cycle B < b, and no one-lag. Keeps a `restart`
/// of the input's shape. Cost: one factor of each shape unless dense is chosen, the band's without
/// a certificate.
/// @param input mixing, rounds, steps, gossip, participation, temporal.restart.
/// @throws as solve_shaped_factor.
[[nodiscard]] ShapeChoice affordable_shape(const DesignInput& input, const RoundWork& work);

/// "banded:72: ..." in words; empty without a choice.
[[nodiscard]] std::string text_of(const ShapeChoice& choice);

}  // namespace sotto
