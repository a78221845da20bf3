#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/noise/mechanism.hpp"

namespace sotto {

namespace {

/// One private Laplace stream an agent, z_u, on its messages.
NoisePlan laplace_plan(const char* mechanism, const DesignInput& input) {
    NoisePlan plan;
    plan.mechanism = mechanism;
    plan.agents = input.graph->agents();
    plan.entry = NoiseEntry::message;
    plan.coalition_size = input.coalition_size;
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::laplace});
    }
    return plan;
}

Design finished(NoisePlan plan, const DesignInput& input) {
    Design design;
    design.plan = std::move(plan);
    finish_message_plan(design.plan, input);
    design.objective = design.lower_bound = not_a_number;
    return design;
}

}  // namespace

/// [H] eq. 20: z_u to every neighbour, -(c_u / w_uu) z_u on the agent's own copy, with c_u the
/// weight the neighbours give it: sum_v w_vu q_uv = 0, so what the network has in the mean is
/// untouched.
Design design_homomorphic(const DesignInput& input) {
    NoisePlan plan = laplace_plan("homomorphic", input);
    for (int u = 0; u < plan.agents; ++u) {
        const double own = input.mixing->weight(u, u);
        if (!(own > 0))
            throw ConfigError(fmt::format(
                "mechanism homomorphic: agent {} gives its own model weight {} (must be above 0; "
                "use another --mixing, for example lazy-metropolis)",
                u,
                own));
        double away = 0;
        for (const int v : input.mixing->members(u))
            if (v != u) away += input.mixing->weight(v, u);
        for (const int v : input.mixing->members(u))
            plan.rows.push_back({u, v, {u}, {v == u ? -away / own : 1.0}});
    }
    return finished(std::move(plan), input);
}

/// The same noise on all copies of a message, its own among them: what homomorphic is compared
/// with.
Design design_laplace(const DesignInput& input) {
    NoisePlan plan = laplace_plan("laplace", input);
    for (int u = 0; u < plan.agents; ++u)
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1.0}});
    return finished(std::move(plan), input);
}

}  // namespace sotto
