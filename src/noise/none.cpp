#include "sotto/noise/mechanism.hpp"

namespace sotto {

Design design_none(const DesignInput& input) {
    Design design;
    design.plan.mechanism = "none";
    design.plan.agents = input.graph->agents();
    // Gradients of magnitude 1 keep 40 bits; there is no noise to hide the grid in.
    design.plan.grid_step_log2 = -40;
    design.plan.validate();
    return design;
}

}  // namespace sotto
