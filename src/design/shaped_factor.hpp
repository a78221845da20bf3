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

/// What a round costs an agent beside the noise of earlier rounds.
struct RoundWork {
    int agents = 1;      ///< n, whose past noise is kept
    long dimension = 1;  ///< d
    long batch = 0;      ///< gradients of records an agent sums in a round
};

/// Rounds of past noise that an agent can afford. Counts only: all agents come to the same,
/// wherever they are.
struct PastRounds {
    long kept = 1;  ///< whose noise all agents together keep in 2 GiB: 8 n d bytes a round
    /// That it costs no more to read than noise costs to draw and gradients to sum: one draw stands
    /// for 8 values of past noise, a record's gradient for 1 a parameter (docs/performance.md).
    /// What fits into 1 MiB costs nothing that counts. On average over the run.
    long read = 1;
};
/// At least 1 each.
[[nodiscard]] PastRounds affordable_past(const RoundWork& work);

/// A temporal factor's shape, and what it leaves.
struct ShapeCandidate {
    TemporalShape shape;
    /// Tr(H X_time^-1) sens2 / ceil(T / b) of independent agents; of a band of b and more with b -
    /// 1 subdiagonals only, which leave more. NaN: not asked.
    double noise = 0;
};

/// How the shape was chosen; without candidates nothing was to choose.
struct ShapeChoice {
    std::vector<ShapeCandidate> candidates;
    std::size_t chosen = 0;
    long reach = 0;                  ///< rounds that dense would keep
    std::string_view against_dense;  ///< why not all of them; empty where it is dense
    [[nodiscard]] const TemporalShape& best() const { return candidates[chosen].shape; }
    /// Nothing is given up: dense, or nothing was to choose.
    [[nodiscard]] bool keeps_all() const {
        return candidates.empty() || best().kind == TemporalShape::Kind::dense;
    }
};

/// `dense` where agents can afford to keep the noise of all rounds and to read half of them, and so
/// many can be planned for; otherwise `banded:B` with the largest B that they can afford, or
/// `one-lag`, whichever leaves less. With Poisson sampling in parts of a cycle B < b, and no
/// one-lag. A `restart` of the input's shape is kept.
/// @param input mixing, rounds, steps, gossip, participation, temporal.restart.
/// Cost: one factor of each shape where dense is not chosen, the band's without a certificate.
/// @throws as solve_shaped_factor.
[[nodiscard]] ShapeChoice affordable_shape(const DesignInput& input, const RoundWork& work);

/// "banded:72: ..." in words; empty where nothing was to choose.
[[nodiscard]] std::string text_of(const ShapeChoice& choice);

}  // namespace sotto
