#include "design/mechanisms/table.hpp"
#include "design/message_plan.hpp"

namespace sotto {

namespace {

/// The same noise on all copies of a message, its own among them: what homomorphic is compared
/// with.
Design design_laplace(const DesignInput& input) {
    NoisePlan plan = start_laplace_plan("laplace", input);
    for (int u = 0; u < plan.agents; ++u)
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1.0}});
    return finish_message_plan(std::move(plan), input);
}

}  // namespace

Mechanism laplace_mechanism() {
    return {
        .name = "laplace",
        .summary = "private independent Laplace noise on messages: pure epsilon, for comparison",
        .design = design_laplace,
        .distribution = StreamDistribution::laplace,
        .coalitions = true,
        .entry = NoiseEntry::message,
        .uses_utility = false};
}

}  // namespace sotto
