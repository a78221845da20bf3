// A noise plan: what rank 0 broadcasts, or a file.

#include "agent/bootstrap.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::ScriptedNetwork network(3, 1, std::string(fuzz::text_of(data, size)), nullptr);
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}, {0, 2}});
    std::optional<NoisePlan> plan;
    if (fuzz::accepts([&] { plan = share_plan(network, std::nullopt, graph, 1e6); })) {
        plan->validate();
        (void)plan->same_message_to_all();
        // Survives the way to a file and back.
        const std::string text = to_json(*plan);
        fuzz::require(plan_from_json(text, "again").hash() == plan->hash());
        fuzz::require(fuzz::accepts([&] { (void)share_plan(network, plan, graph, 1e6); }));
    }
    return 0;
}
