// Graph and mixing matrix as rank 0 broadcasts them. First byte: number of agents.

#include "agent/bootstrap.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const int agents = 2 + data[0] % 31;
    fuzz::ScriptedNetwork network(
        agents, 1, std::string(fuzz::text_of(data + 1, size - 1)), nullptr);
    std::optional<Topography> shared;
    if (fuzz::accepts([&] { shared = share_topography(network, std::nullopt, 4); })) {
        fuzz::require(shared->graph.agents() == agents);
        for (int u = 0; u < agents; ++u) {
            double sum = 0;
            for (const double weight : shared->mixing.weights(u)) sum += weight;
            fuzz::require(std::abs(sum - 1) < 1e-6);
        }
        (void)shared->mixing.hash();
        // What was accepted is sent on and compared without change.
        fuzz::require(fuzz::accepts([&] { (void)share_topography(network, shared, 4); }));
    }
    return 0;
}
