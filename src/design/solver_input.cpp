#include "design/solver_input.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "core/linear_algebra.hpp"
#include "design/message_plan.hpp"
#include "design/seed_groups.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

void require_kappa(const Eigen::VectorXd& kappa) {
    for (Eigen::Index u = 0; u < kappa.size(); ++u)
        if (!(kappa(u) > 0 && std::isfinite(kappa(u))))
            throw ConfigError(fmt::format(
                "kappa of agent {}: {} is not allowed (must be finite and above 0)", u, kappa(u)));
}

void require_variance_cap(double variance_cap) {
    if (!(variance_cap > 1))
        throw ConfigError(
            fmt::format("variance-cap: {} is not allowed (must be above 1)", variance_cap));
}

void throw_cap_too_small(double variance_cap, bool common_variance) {
    throw ConfigError(
        fmt::format("variance-cap: {} is too small for noise that protects every agent (choose a "
                    "larger one{})",
                    variance_cap,
                    common_variance ? ", or no common-variance" : ""));
}

void require_utility_of(const Eigen::MatrixXd& utility, Eigen::Index agents) {
    if (utility.rows() != agents || utility.cols() != agents)
        throw ConfigError(fmt::format("utility matrix: {} x {} does not fit {} agents",
                                      utility.rows(),
                                      utility.cols(),
                                      agents));
}

namespace {

void add_gossip(Hasher& hasher, const GossipPolynomial& gossip) {
    hasher.add(std::int64_t{gossip.steps()}).add(std::int64_t{gossip.plain()});
    for (int step = 0; !gossip.plain() && step < gossip.steps(); ++step)
        hasher.add(gossip.here(step)).add(gossip.before(step));
    for (int message = 0; gossip.combines() && message <= gossip.steps(); ++message)
        hasher.add(gossip.share(message));
}

}  // namespace

Digest design_digest(const DesignInput& input) {
    Hasher hasher("sotto.design-problem.v1");
    if (input.graph != nullptr) hasher.add_bytes(input.graph->hash());
    hasher.add_bytes(input.schedule ? input.schedule->hash() : input.mixing->hash());
    hasher.add(name_of(input.utility)).add(std::int64_t{input.rounds});
    add_gossip(hasher, input.gossip);
    hasher.add(name_of(input.smoothing.correction));
    hasher.add(input.smoothing.momentum).add(input.smoothing.decay);
    hasher.add(std::int64_t{input.smoothing.tail_rounds});
    add_gossip(hasher, input.smoothing.final_gossip);
    hasher.add(name_of(input.participation)).add(name_of(input.temporal));
    if (input.kappa.size() > 0) hasher.add(values_of(relative_limits(input.kappa).kappa));
    hasher.add(input.variance_cap).add(input.gap).add(std::int64_t{input.coalition_size});
    hasher.add(std::int64_t{input.common_variance}).add(input.extra_noise);
    add_to(hasher, input.seed_groups);
    hasher.add(std::span<const double>(design_steps(input)));
    hasher.add(input.spatial != nullptr ? input.spatial->name : "");
    if (input.covariance) hasher.add(values_of(*input.covariance));
    if (input.given_utility) hasher.add(values_of(*input.given_utility));
    return hasher.finish();
}

}  // namespace sotto
