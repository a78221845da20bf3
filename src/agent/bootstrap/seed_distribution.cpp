#include "sotto/agent/bootstrap/seed_distribution.hpp"

#include <iterator>
#include <map>
#include <utility>

#include "dealt_seeds.hpp"
#include "joint_seeds.hpp"
#include "pair_seeds.hpp"
#include "sotto/trust/seed_agreement.hpp"

namespace sotto {

namespace {

/// Seeds of groups of one that is an agent of this process.
std::vector<LocalSeed> draw_own_seeds(const NoisePlan& plan,
                                      const Session& session,
                                      std::span<const int> local_agents,
                                      std::span<const int> groups) {
    std::vector<LocalSeed> seeds;
    for (const int group : groups) {
        const int owner = plan.groups[static_cast<std::size_t>(group)].members.front();
        if (const auto place = place_of(local_agents, owner))
            seeds.push_back(
                {*place, group, group_seed(SecretKey::random(), session.transcript, group)});
    }
    return seeds;
}

void add(std::vector<KeyRing>& rings, std::vector<LocalSeed> seeds) {
    for (LocalSeed& entry : seeds) rings[entry.place].add(entry.group, std::move(entry.seed));
}

}  // namespace

std::vector<KeyRing> distribute_seeds(Network& network,
                                      const NoisePlan& plan,
                                      Session& session,
                                      int threads) {
    const std::span<const int> local_agents = network.local_agents();
    std::vector<KeyRing> rings(local_agents.begin(), local_agents.end());
    std::map<SeedMaker, std::vector<int>> groups;
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
        groups[maker_of(plan.groups[g], plan.agents)].push_back(static_cast<int>(g));
    network.agree([&] {
        add(rings, draw_own_seeds(plan, session, local_agents, groups[SeedMaker::owner]));
        add(rings,
            derive_pair_seeds(plan, session, local_agents, groups[SeedMaker::pair], threads));
    });
    // The plan is the same on every process, and so is what it makes them exchange.
    if (const auto& dealt = groups[SeedMaker::lowest_member]; !dealt.empty())
        add(rings, deal_seeds(network, plan, session, dealt));
    if (const auto& joint = groups[SeedMaker::everybody]; !joint.empty())
        add(rings, draw_joint_seeds(network, session, joint));
    return rings;
}

std::vector<KeyRing> distribute_seeds(const Network& network,
                                      const NoisePlan& plan,
                                      std::uint64_t noise_seed) {
    return reproducible_rings(plan, network.local_agents(), noise_seed);
}

}  // namespace sotto
