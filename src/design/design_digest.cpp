#include "design/design_digest.hpp"

#include <span>

#include "design/finish_plan.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/design/seed_groups.hpp"

namespace sotto {

namespace {

void add_gossip(Hasher& hasher, const GossipPolynomial& gossip) {
    hasher.add(std::int64_t{gossip.steps()}).add(std::int64_t{gossip.plain()});
    for (int step = 0; !gossip.plain() && step < gossip.steps(); ++step)
        hasher.add(gossip.here(step)).add(gossip.before(step));
}

}  // namespace

Digest design_digest(const DesignInput& input) {
    Hasher hasher("sotto.design-problem.v1");
    if (input.graph != nullptr) hasher.add_bytes(input.graph->hash());
    hasher.add_bytes(input.schedule ? input.schedule->hash() : input.mixing->hash());
    hasher.add(name_of(input.utility)).add(std::int64_t{input.rounds});
    add_gossip(hasher, input.gossip);
    hasher.add(input.smoothing.momentum).add(input.smoothing.decay);
    hasher.add(std::int64_t{input.smoothing.tail_rounds});
    add_gossip(hasher, input.smoothing.final_gossip);
    hasher.add(name_of(input.participation)).add(name_of(input.temporal));
    if (input.kappa.size() > 0) hasher.add(values_of(relative_limits(input.kappa).kappa));
    hasher.add(input.variance_cap).add(input.gap).add(std::int64_t{input.coalition_size});
    hasher.add(std::int64_t{input.common_variance});
    add_to(hasher, input.seed_groups);
    hasher.add(std::span<const double>(design_steps(input)));
    hasher.add(input.spatial != nullptr ? input.spatial->name : "");
    if (input.covariance) hasher.add(values_of(*input.covariance));
    if (input.given_utility) hasher.add(values_of(*input.given_utility));
    return hasher.finish();
}

}  // namespace sotto
