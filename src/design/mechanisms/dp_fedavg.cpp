#include "design/mechanisms/table.hpp"

namespace sotto {

namespace {

/// Federated averaging with central differential privacy (McMahan et al. 2017, 2018; [G] algorithm
/// 11): the noise of cdp. What differs is what agents contribute, see Mechanism::local_updates.
Design design_dp_fedavg(const DesignInput& input) {
    Design design = cdp_mechanism().design(input);
    design.plan.mechanism = "dp-fedavg";
    return design;
}

}  // namespace

Mechanism dp_fedavg_mechanism() {
    return {.name = "dp-fedavg",
            .summary = "reference: federated averaging, whose trusted server adds noise",
            .design = design_dp_fedavg,
            .aggregation = Aggregation::trusted_mean,
            .local_updates = true,
            .uses_utility = false};
}

}  // namespace sotto
