#include "design/mechanisms/table.hpp"

namespace sotto {

namespace {

/// The noise of ldp; what differs are the K gossip steps that mix it (input.gossip), of which
/// an observer sees every one. With one step it is ldp.
Design design_muffliato(const DesignInput& input) {
    Design design = ldp_mechanism().design(input);
    design.plan.mechanism = "muffliato";
    return design;
}

}  // namespace

Mechanism muffliato_mechanism() {
    return {
        .name = "muffliato",
        .summary = "private independent noise, and several gossip steps a round (--gossip-steps)",
        .design = design_muffliato,
        .coalitions = true,
        .uses_utility = false};
}

}  // namespace sotto
