#include "planning/local_updates.hpp"

#include <fmt/format.h>

#include <string>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

bool asks_for_updates(const PlanConfig& config) {
    return config.local_steps > 1 || config.client_probability;
}

/// @param otherwise what is allowed besides doing without.
[[noreturn]] void refuse_updates(const PlanConfig& config,
                                 const std::string& with,
                                 const std::string& otherwise) {
    const bool steps = config.local_steps > 1;
    throw ConfigError(fmt::format(
        "{} is not possible with {} (allowed: {}{})",
        steps ? fmt::format("local-steps: {}", config.local_steps)
              : fmt::format("client-probability: {}", config.client_probability.value_or(1)),
        with,
        steps ? "1" : "all agents in every round",
        otherwise));
}

void require_clients_that_come_and_go(const PlanConfig& config) {
    if (!config.client_probability) return;
    if (config.adjacency != Adjacency::agent_zero_out)
        throw ConfigError(fmt::format(
            "client-probability: {} is not possible with adjacency {}, of which nothing is proved "
            "where agents are sampled (allowed: agent-zero-out)",
            *config.client_probability,
            name_of(config.adjacency)));
    if (!config.participation.poisson)
        throw ConfigError(fmt::format(
            "client-probability: {} is not possible with participation {} (allowed: poisson)",
            *config.client_probability,
            name_of(config.participation)));
}

}  // namespace

void require_possible_updates(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (mechanism.local_updates && config.gossip_steps > 1)
        throw ConfigError(fmt::format(
            "gossip-steps: {} is not possible with mechanism {}, whose server takes one mean a "
            "round (allowed: 1)",
            config.gossip_steps,
            mechanism.name));
    if (!asks_for_updates(config)) return;
    if (!mechanism.local_updates)
        refuse_updates(
            config,
            fmt::format("mechanism {}, which is not federated averaging", mechanism.name),
            fmt::format("; or mechanism {}",
                        join(mechanisms_with(&Mechanism::local_updates), ", ")));
    if (!protects_agents(config.adjacency))
        refuse_updates(config,
                       fmt::format("adjacency {}, where gradients of records are clipped, all at "
                                   "one model",
                                   name_of(config.adjacency)),
                       "; or agent, agent-zero-out");
    if (config.learn_clip)
        refuse_updates(config, "--clip-norm auto", "; or a clip that is a number");
    require_clients_that_come_and_go(config);
}

void require_possible_updates(const TrainConfig& config, const LocalTask& task) {
    if (config.pad_rounds && config.plan.client_probability)
        throw ConfigError(
            "--pad-rounds: not possible with --client-probability, where it is not records that "
            "are sampled");
    if (asks_for_updates(config.plan) &&
        (task.fixed_inputs || task.coordinates || task.rows_are_rounds))
        refuse_updates(config.plan, "a task whose gradients are its data", "");
}

}  // namespace sotto
