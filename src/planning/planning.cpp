#include "planning/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "planning/plan_input.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/design/seed_groups.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/plan/plan_size.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

const Mechanism& spatial_part(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (!mechanism.takes_spatial) return mechanism;
    const Mechanism& spatial = find_mechanism("spatial-mechanism", config.spatial_mechanism);
    require_spatial_part(spatial);
    return spatial;
}

bool shares_by_groups(const PlanConfig& config, const Mechanism& spatial) {
    return spatial.seed_groups() || (spatial.takes_seed_groups && !config.seed_groups.empty());
}

std::vector<SeedGroup> configured_seed_groups(const PlanConfig& config, const Graph& graph) {
    return make_seed_groups(
        config.seed_groups.empty() ? default_seed_groups(graph.agents()) : config.seed_groups,
        graph);
}

std::optional<NoisePlan> read_given_plan(const PlanConfig& config, int agents) {
    if (!config.plan_file) return std::nullopt;
    if (config.noise_std)
        throw ConfigError(
            "--noise-std: not possible with --plan, whose noise is what the file says");
    NoisePlan plan =
        plan_from_json(read_file(*config.plan_file, most_plan_bytes), *config.plan_file);
    if (plan.agents != agents)
        throw ConfigError(fmt::format("plan: {} is made for {} agents, the graph has {}",
                                      *config.plan_file,
                                      plan.agents,
                                      agents));
    return plan;
}

double most_temporal_values(const PlanConfig& config) {
    if (config.plan_file) {
        constexpr double shortest_number = 2;  // with its comma
        std::error_code missing;
        const auto bytes = std::filesystem::file_size(*config.plan_file, missing);
        return missing ? 0 : static_cast<double>(bytes) / shortest_number;
    }
    const auto rounds = static_cast<double>(config.rounds);
    return find_mechanism("mechanism", config.mechanism).correlates_rounds ? rounds * rounds : 0;
}

int coalition_size_of(const PlanConfig& config, int agents, const NoisePlan* plan) {
    if (config.plan_file)
        return config.coalition_size ? *config.coalition_size
               : plan != nullptr     ? plan->coalition_size
                                     : 0;
    const Mechanism& mechanism = spatial_part(config);
    const int size =
        config.coalition_size.value_or(std::min(mechanism.default_coalition_size, agents - 1));
    if (size > 0 && !mechanism.coalitions)
        throw ConfigError(
            fmt::format("coalition-size: {} is not allowed with mechanism {}, which protects "
                        "against no curious agent (allowed: 0, or a mechanism that does: {})",
                        size,
                        mechanism.name,
                        join(recommended_mechanisms([](const Mechanism& other) {
                                 return other.coalitions && other.spatial_part;
                             }),
                             ", ")));
    check_coalition_size(agents, size);
    return size;
}

PlannedNoise plan_noise(const PlanConfig& config,
                        const Topography& topography,
                        const std::vector<Exposure>& exposures,
                        const std::vector<PrivacyBudget>& budgets,
                        bool compare) {
    std::optional<NoisePlan> given = read_given_plan(config, topography.graph.agents());
    const DesignInput input = plan_input(config, topography, exposures, budgets, given);
    return planned_for(input, config, std::move(given), compare);
}

PlannedNoise plan_before_start(const PlanConfig& config,
                               const Topography& topography,
                               const std::vector<Eigen::Index>& records,
                               bool compare) {
    const int agents = topography.graph.agents();
    const std::vector<Exposure> exposures = build_exposures(config, agents, records);
    std::vector<PrivacyBudget> budgets = build_budgets(config, agents);
    count_sampling(budgets, exposures, config, Membership::everybody(agents).numbers);
    return plan_noise(config, topography, exposures, budgets, compare);
}

}  // namespace sotto
