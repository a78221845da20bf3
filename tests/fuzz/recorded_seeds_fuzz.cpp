// The file of an agent's seeds, for a plan of three agents.

#include <algorithm>

#include "agent/recording/recorded_wire.hpp"
#include "support.hpp"

using namespace sotto;

namespace {

NoisePlan plan_of_three() {
    NoisePlan plan;
    plan.mechanism = "three";
    plan.agents = 3;
    plan.scale = 1;
    plan.grid_step_log2 = -30;
    plan.groups = {{{0}}, {{0, 1}}, {{1}}, {{0, 1, 2}}, {{2}}};
    for (int group = 0; group < 5; ++group) plan.streams.push_back({group});
    plan.rows = {{0, NoiseRow::all_receivers, {0, 1, 3}, {1, 0.5, 0.25}},
                 {1, NoiseRow::all_receivers, {1, 2, 3}, {-0.5, 1, 0.25}},
                 {2, NoiseRow::all_receivers, {3, 4}, {-0.5, 1}}};
    plan.validate();
    return plan;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const NoisePlan plan = plan_of_three();
    const fuzz::MemoryFile file(data, size);
    (void)fuzz::accepts([&] {
        const KeyRing ring = read_recorded_seeds(file.path(), plan);
        for (int group = 0; group < 5; ++group) {
            const auto& members = plan.groups[static_cast<std::size_t>(group)].members;
            fuzz::require(ring.holds(group) == (std::ranges::count(members, ring.agent()) > 0));
        }
    });
    return 0;
}
