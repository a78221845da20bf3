#include "run/local_updates.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/noise/mechanism.hpp"

namespace sotto {

namespace {

[[noreturn]] void refuse_steps(const PlanConfig& config, const std::string& why) {
    throw ConfigError(
        fmt::format("local-steps: {} is not possible with {}", config.local_steps, why));
}

}  // namespace

void require_possible_updates(const PlanConfig& config) {
    if (config.local_steps == 1) return;
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (!mechanism.local_updates)
        refuse_steps(config,
                     fmt::format("mechanism {}, whose agents contribute one gradient a round "
                                 "(allowed: 1; or {})",
                                 mechanism.name,
                                 join(mechanisms_with(&Mechanism::local_updates), ", ")));
    if (!protects_agents(config.adjacency))
        refuse_steps(config,
                     fmt::format("adjacency {}, where gradients of records are clipped, all at one "
                                 "model (allowed: 1; or agent, agent-zero-out)",
                                 name_of(config.adjacency)));
    if (config.learn_clip)
        refuse_steps(config, "--clip-norm auto (allowed: 1; or a clip that is a number)");
}

void require_possible_updates(const PlanConfig& config, const LocalTask& task) {
    if (config.local_steps > 1 && (task.fixed_inputs || task.coordinates || task.rows_are_rounds))
        refuse_steps(config, "a task whose gradients are its data (allowed: 1)");
}

}  // namespace sotto
