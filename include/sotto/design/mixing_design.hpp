#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>
#include <vector>

#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

struct Mechanism;

/// Input of a mixing design. Weights are designed for equal budgets (kappa_u = 1), so they do not
/// depend on data sizes or epsilon.
struct MixingDesignInput {
    const Graph* graph = nullptr;          ///< connected
    const Mechanism* mechanism = nullptr;  ///< null: private independent noise, as in ldp
    Utility utility;
    long rounds = 1;
    GossipRule gossip_rule = GossipRule::plain;
    int gossip_steps = 1;                ///< K
    Smoothing smoothing{};               ///< final gossip is not optimised
    int coalition_size = 0;              ///< as in DesignInput
    bool common_variance = false;        ///< as in DesignInput
    std::vector<SeedGroup> seed_groups;  ///< as in DesignInput
    double variance_cap = 1e4;           ///< as in DesignInput
    double gap = 0.01;                   ///< as in DesignInput
    /// R of a given plan, in any unit, instead of the mechanism's best.
    std::optional<Eigen::MatrixXd> covariance;
};

struct MixingDesign {
    MixingMatrix mixing;    ///< symmetric; weights are multiples of 2^-40, rows sum to exactly 1
    double objective = 0;   ///< according to `judge`, with these weights, at kappa_u = 1
    double metropolis = 0;  ///< with Metropolis weights. Both NaN for one agent
    std::string judge;      ///< mechanism whose noise compared the weights, or "priced noise"
    double second_modulus = 0;  ///< lambda_2 < 1: largest modulus of the eigenvalues other than the
                                ///< mean's
};

/// Whether weights can be designed for a mechanism: its noise must be Gaussian, on gradients,
/// independent between rounds, and mixed by gossip; otherwise Tr(M R) is not the remaining noise.
[[nodiscard]] bool shapes_mixing(const Mechanism& mechanism);

/// Optimises mixing weights together with noise
/// (docs/equations.md#mixing-weights-and-noise-together): W minimises f(W) = min_R Tr(M(W) R) over
/// symmetric W with W 1 = 1, support on the graph, and all other eigenvalues inside
/// (-1, 1); R ranges over what the mechanism can produce at kappa_u = 1.
///
/// f is convex for independent noise and plain gossip; otherwise the result is the best local
/// minimum from several starts. By what the mechanism shares:
/// - nothing: independent noise.
/// - one seed of all: any R, by the dual of solve_spatial_covariance.
/// - seeds of neighbours or groups: first any R with a price of 0.3 on variance ("priced noise",
///   Tr((M + 0.3 I) R)), which is near noise that withstands coalitions; then alternately R by the
///   mechanism's design and W for that R, unless a design is too slow (above about 25 agents with
///   all pairs): see `judge`. Free noise of pairs is replaced by differences of pairs.
///
/// Chebyshev gossip depends on lambda_2, which is held fixed and recomputed three times. Never
/// worse than Metropolis according to `judge`. The same input gives the same bits in every process
/// of one program on one kind of processor. Cost: about a second for 20 agents (a few with
/// Chebyshev gossip), below 10 s for 100.
/// @throws ConfigError unless shapes_mixing, and as the mechanism's design.
[[nodiscard]] MixingDesign design_mixing(const MixingDesignInput& input);

}  // namespace sotto
