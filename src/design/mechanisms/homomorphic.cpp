#include <fmt/format.h>

#include "design/mechanisms/table.hpp"
#include "design/message_plan.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// [H] eq. 20: z_u to every neighbour, -(c_u / w_uu) z_u on the agent's own copy, with c_u the
/// weight the neighbours give it: sum_v w_vu q_uv = 0, so what the network has in the mean is
/// untouched.
Design design_homomorphic(const DesignInput& input) {
    require_weights_of_one_sign("homomorphic", *input.mixing);
    NoisePlan plan = start_laplace_plan("homomorphic", input);
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
    return finish_message_plan(std::move(plan), input);
}

}  // namespace

Mechanism homomorphic_mechanism() {
    return {
        .name = "homomorphic",
        .summary = "Laplace noise on messages that cancels in the mean over agents: pure epsilon",
        .design = design_homomorphic,
        .distribution = StreamDistribution::laplace,
        .coalitions = true,
        .entry = NoiseEntry::message,
        .uses_utility = false};
}

}  // namespace sotto
