#include "sotto/agent/bootstrap/sharing.hpp"

#include <string>
#include <utility>

#include "comparison.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/plan/plan_size.hpp"
#include "topography_message.hpp"

namespace sotto {

Topography share_topography(Network& network,
                            const std::optional<Topography>& own,
                            double most_matrices) {
    if (network.processes() == 1) return *own;
    const std::string bytes =
        network.broadcast(own ? pack_topography(*own) : std::string(),
                          largest_topography_bytes(network.agents(), most_matrices));
    std::optional<Topography> shared;
    network.agree([&] {
        shared = unpack_topography(bytes, network.agents());
        if (own && network.process() != 0) require_same(network.process(), *own, *shared);
    });
    return std::move(*shared);
}

NoisePlan share_plan(Network& network,
                     const std::optional<NoisePlan>& own,
                     const Graph& graph,
                     double most_temporal_values) {
    if (network.processes() == 1) return *own;
    double coefficients = 0;
    for (int u = 0; u < graph.agents(); ++u) {
        const auto members = static_cast<double>(graph.closed_neighbourhood(u).size());
        coefficients += members * members;
    }
    const std::string text =
        network.broadcast(own ? to_json(*own) : std::string(),
                          largest_plan_bytes(graph.agents(), coefficients, most_temporal_values));
    NoisePlan plan;
    network.agree([&] {
        try {
            plan = plan_from_json(text, "plan from rank 0");
        } catch (const DataError& error) {
            throw NetworkError(error.what());
        }
        if (own && network.process() != 0) require_same(network.process(), *own, plan);
    });
    return plan;
}

}  // namespace sotto
