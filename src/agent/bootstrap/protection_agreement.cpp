#include "sotto/agent/bootstrap/protection_agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/privacy/protection.hpp"

namespace sotto {

namespace {

/// A plan with noise for single receivers has some for every neighbour, the agent itself and nobody
/// else.
void require_noise_for_neighbours(const NoisePlan& plan, const Graph& graph) {
    if (plan.same_message_to_all()) return;
    std::vector<std::vector<int>> receivers(static_cast<std::size_t>(plan.agents));
    for (const auto& row : plan.rows)
        receivers[static_cast<std::size_t>(row.sender)].push_back(row.receiver);
    for (int u = 0; u < plan.agents; ++u)
        if (!std::ranges::equal(receivers[static_cast<std::size_t>(u)],
                                graph.closed_neighbourhood(u)))
            throw PrivacyError(fmt::format(
                "the plan ({}) has no noise for exactly the neighbours of agent {}; solve a plan "
                "for this graph",
                plan.mechanism,
                u));
}

/// What the agents of this process check before the first round.
void require_protection(const Network& network,
                        const Topography& topography,
                        const NoisePlan& plan,
                        const std::vector<Exposure>& exposures,
                        const std::vector<PrivacyBudget>& budgets,
                        int coalition_size) {
    if (plan.agents != topography.graph.agents())
        throw ConfigError(fmt::format(
            "plan: made for {} agents, the graph has {}", plan.agents, topography.graph.agents()));
    if (plan.noiseless()) {
        for (const int agent : network.local_agents())
            if (budgets[static_cast<std::size_t>(agent)].limit != PrivacyLoss())
                throw PrivacyError(fmt::format(
                    "the plan ({}) adds no noise, agent {} has a budget of epsilon {}; solve a "
                    "plan for it, or choose mechanism none (and no plan file) on every rank",
                    plan.mechanism,
                    agent,
                    budgets[static_cast<std::size_t>(agent)].epsilon));
        return;
    }
    require_noise_for_neighbours(plan, topography.graph);
    verify_agents_protected(plan, network.local_agents(), exposures, budgets, coalition_size);
}

/// Of all that every process must hold alike.
std::string digest_of(const Topography& topography, const NoisePlan& plan) {
    Hasher hasher("sotto.agreement.v1");
    hasher.add_bytes(topography.graph.hash());
    hasher.add_bytes(topography.mixing_hash());
    hasher.add_bytes(plan.hash());
    const Digest digest = hasher.finish();
    return std::string(digest.begin(), digest.end());
}

}  // namespace

void verify_agreement(Network& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets,
                      int coalition_size) {
    network.agree(
        [&] { require_protection(network, topography, plan, exposures, budgets, coalition_size); });
    require_same_everywhere(
        network,
        digest_of(topography, plan),
        [](std::size_t rank, const std::string&, const std::string&) {
            return fmt::format(
                "rank {} holds another graph, mixing matrix or plan than rank 0; start all ranks "
                "with the same program and options",
                rank);
        });
}

}  // namespace sotto
