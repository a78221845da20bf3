#include <algorithm>
#include <cmath>

#include "design/mechanisms/table.hpp"

namespace sotto {

namespace {

Design design_none(const DesignInput& input) {
    Design design;
    design.plan.mechanism = "none";
    design.plan.agents = input.graph->agents();
    // There is no noise to hide the grid in. Sums of clipped gradients are exact below 2^53 steps.
    design.plan.grid_step_log2 = std::max(-40, std::ilogb(input.clip_norm) - 52);
    design.plan.validate();
    return design;
}

}  // namespace

Mechanism none_mechanism() {
    return {.name = "none",
            .summary = "no noise, no privacy",
            .design = design_none,
            .needs_budget = false,
            .uses_utility = false};
}

}  // namespace sotto
