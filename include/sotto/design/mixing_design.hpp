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

/// What mixing weights are made for. Budgets are not part of it: weights are those of equal ones
/// (kappa_u = 1), so that they do not depend on data sizes, epsilon or who checks them.
struct MixingDesignInput {
    const Graph* graph = nullptr;          ///< connected
    const Mechanism* mechanism = nullptr;  ///< none: private independent noise, as ldp's
    Utility utility;
    long rounds = 1;
    GossipRule gossip_rule = GossipRule::plain;
    int gossip_steps = 1;                ///< K
    Smoothing smoothing{};               ///< its final gossip is taken as it is
    int coalition_size = 0;              ///< as in DesignInput
    bool common_variance = false;        ///< as in DesignInput
    std::vector<SeedGroup> seed_groups;  ///< as in DesignInput
    double variance_cap = 1e4;           ///< as in DesignInput
    double gap = 0.01;                   ///< as in DesignInput
    /// R of a plan that is given, in any unit, instead of the mechanism's best.
    std::optional<Eigen::MatrixXd> covariance;
};

struct MixingDesign {
    MixingMatrix mixing;    ///< symmetric; weights are multiples of 2^-40, rows sum to exactly 1
    double objective = 0;   ///< by `judge`, with these weights, at kappa_u = 1
    double metropolis = 0;  ///< and with Metropolis weights. Both not numbers for one agent
    std::string judge;  ///< the mechanism by whose noise weights were compared, or "priced noise"
    double second_modulus = 0;  ///< lambda_2: largest modulus of the eigenvalues off the mean, < 1
};

/// Whether weights can be made for a mechanism: its noise is Gaussian, on gradients, independent
/// between rounds, and mixed by gossip. For others Tr(M R) does not say what is left.
[[nodiscard]] bool shapes_mixing(const Mechanism& mechanism);

/// Mixing weights and noise together: W that minimises f(W) = min_R Tr(M(W) R) over symmetric W
/// with W 1 = 1, support on the graph, and all other eigenvalues inside (-1, 1); R over what the
/// mechanism can be at kappa_u = 1. docs/equations.md 17.
///
/// Unknown is one weight an edge, of either sign; so are self weights. Gradient by the envelope
/// theorem, limited-memory BFGS whose line search refuses eigenvalues of modulus 1. f is convex for
/// independent noise and plain gossip; otherwise a local minimum is found: the best from several
/// starts (Metropolis, maximum degree, the best constant weight of the Laplacian, the optimum of
/// independent noise). By what the mechanism shares:
/// - nothing: independent noise.
/// - one seed of all: any R, by the dual of solve_spatial_covariance.
/// - seeds of neighbours or groups: such optima, for any R whose variance has a price of 0.3 too
///   ("priced noise", Tr((M + 0.3 I) R)), which is near noise that withstands coalitions; then in
///   turns R by the mechanism's own design and W for that R, as often as is cheap. Free noise of
///   pairs is taken for differences of pairs. Where one design is too dear (above about 25 agents
///   with all pairs) it is left at priced noise: see `judge`.
/// Chebyshev gossip depends on lambda_2: it is taken as fixed and computed again, three times.
/// Never worse than Metropolis by `judge`. No part of it looks at a clock: the same input gives the
/// same bits in every process of one program on one kind of processor. Budgets do not enter.
/// Cost: about a second for 20 agents (a few with Chebyshev gossip), below 10 s for 100.
/// @throws ConfigError if the mechanism cannot (shapes_mixing), or as its design.
[[nodiscard]] MixingDesign design_mixing(const MixingDesignInput& input);

}  // namespace sotto
