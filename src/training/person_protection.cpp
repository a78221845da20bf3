#include "training/person_protection.hpp"

#include <fmt/format.h>

#include <string>

#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

void require_possible_persons(const TrainConfig& config, const AgreedPhase& phase) {
    if (config.plan.unit_agents == 1) return;
    const auto refuse = [&](const std::string& with) {
        throw ConfigError(fmt::format(
            "unit-agents: {} is not possible {}, since what is left of a budget is counted for "
            "persons at one agent (allowed: 1)",
            config.plan.unit_agents,
            with));
    };
    if (config.leave_file) refuse("with --leave-file");
    if (config.join_file || !config.spares.empty()) refuse("with --spares");
    if (phase.resumption && !phase.resumption->going_on)
        refuse("for a run that goes on with a new plan");
}

void verify_persons_protected(const AgreedPhase& phase,
                              std::span<const int> local,
                              int coalition_size) {
    if (phase.config.unit_agents == 1 || phase.config.noise_std || phase.plan.noiseless()) return;
    verify_persons_protected(phase.plan,
                             local,
                             phase.exposures,
                             phase.budgets,
                             coalition_size,
                             phase.config.unit_agents);
}

}  // namespace sotto
