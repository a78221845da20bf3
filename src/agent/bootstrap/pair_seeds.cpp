#include "pair_seeds.hpp"

#include <optional>
#include <utility>

#include "sotto/core/parallel.hpp"
#include "sotto/trust/seed_agreement.hpp"

namespace sotto {

namespace {

/// One seed that an agent here computes, also for the other end where that is here too.
struct Task {
    int group, peer;
    std::optional<std::size_t> peer_place;
    std::optional<SecretKey> seed;
};

/// What each agent of the process computes. Of two that share a secret the end that does so
/// alternates, so that threads, which work on whole agents, have equal shares.
std::vector<std::vector<Task>> tasks_of(const NoisePlan& plan,
                                        std::span<const int> local_agents,
                                        std::span<const int> groups) {
    std::vector<std::vector<Task>> tasks(local_agents.size());
    for (const int group : groups) {
        const auto& members = plan.groups[static_cast<std::size_t>(group)].members;
        const int low = members[0];
        const int high = members[1];
        const auto low_place = place_of(local_agents, low);
        const auto high_place = place_of(local_agents, high);
        const bool low_computes = low_place && (!high_place || (low + high) % 2 == 0);
        if (low_computes)
            tasks[*low_place].push_back({group, high, high_place, std::nullopt});
        else if (high_place)
            tasks[*high_place].push_back({group, low, low_place, std::nullopt});
    }
    return tasks;
}

}  // namespace

std::vector<LocalSeed> derive_pair_seeds(const NoisePlan& plan,
                                         Session& session,
                                         std::span<const int> local_agents,
                                         std::span<const int> groups,
                                         int threads) {
    std::vector<std::vector<Task>> tasks = tasks_of(plan, local_agents, groups);
    parallel_for(static_cast<long>(tasks.size()), threads, [&](long a) {
        const auto agent = static_cast<std::size_t>(a);
        for (Task& task : tasks[agent])
            task.seed =
                group_seed(drawn_by_pair(session.secrets[agent].with(task.peer), task.group),
                           session.transcript,
                           task.group);
    });
    std::vector<LocalSeed> seeds;
    for (std::size_t a = 0; a < tasks.size(); ++a)
        for (Task& task : tasks[a]) {
            if (task.peer_place)
                seeds.push_back({*task.peer_place, task.group, task.seed->clone()});
            seeds.push_back({a, task.group, std::move(*task.seed)});
        }
    return seeds;
}

}  // namespace sotto
