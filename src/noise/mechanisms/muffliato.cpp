#include "sotto/noise/mechanism.hpp"

namespace sotto {

/// The noise of ldp; what differs are the K gossip steps that mix it (input.gossip_steps), of which
/// an observer sees every one. With one step it is ldp.
Design design_muffliato(const DesignInput& input) {
    Design design = design_ldp(input);
    design.plan.mechanism = "muffliato";
    return design;
}

}  // namespace sotto
