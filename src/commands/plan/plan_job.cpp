#include "commands/plan/plan_job.hpp"

#include <algorithm>
#include <utility>

#include "run/budgets.hpp"
#include "run/configured_gossip.hpp"
#include "run/gossip_choice.hpp"
#include "run/hidden_by_sums.hpp"
#include "run/options/default_participation.hpp"
#include "run/options/graph_options.hpp"
#include "run/options/option_bindings.hpp"
#include "run/options/option_checks.hpp"
#include "run/options/plan_options.hpp"
#include "run/options/sum_options.hpp"
#include "run/sampling_gain.hpp"
#include "sotto/agent/trainer.hpp"

namespace sotto {

namespace {

/// Of one message, in the default precision.
double message_bytes(long dimension) {
    return static_cast<double>(dimension) *
           static_cast<double>(value_size(MessagePrecision::float64));
}

/// What secure sums would hide, where they are asked for. @throws ConfigError.
std::optional<SumHiding> sums_of(const PlanJobConfig& config,
                                 const Topography& topography,
                                 const NoisePlan& plan) {
    if (!config.secure_sum) return std::nullopt;
    require_summable(plan);
    return hidden_by_sums(topography,
                          Membership::everybody(plan.agents),
                          sum_rules(config.plan, topography, config.mask_partners),
                          plan.coalition_size,
                          colluders_to_tell_of);
}

/// What K = 1, 2, 4 and 8 leave and cost; nothing where planning for them would take long, and
/// where messages are not mixed.
std::vector<GossipCandidate> gossip_costs(const PlanJobConfig& config,
                                          const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.plan.mechanism);
    const int most_agents = shares_by_groups(config.plan, spatial_part(config.plan)) ? 30 : 200;
    if (config.plan.plan_file || !mixes_hidden_models(config.plan) || !mechanism.needs_budget ||
        mechanism.correlates_rounds || !topography.later_mixing.empty() ||
        topography.graph.agents() > most_agents)
        return {};
    return compare_gossip_steps(config.plan, topography, {}, message_bytes(config.dimension));
}

/// What the options left to the plan is chosen, cycle and gossip steps among it.
struct ChosenPlan {
    ShapeChoice temporal;
    CycleChoice cycle;
    GossipChoice gossip;
};

ChosenPlan settle_choices(PlanJobConfig& config, const Topography& topography) {
    ChosenPlan chosen;
    chosen.temporal = choose_temporal(config.plan, topography, {}, config.dimension);
    config.plan = with_temporal(config.plan, chosen.temporal);
    if (config.plan.choose_cycle) chosen.cycle = choose_cycle(config.plan, topography, {});
    if (!chosen.cycle.candidates.empty())
        config.plan = with_cycle(config.plan, chosen.cycle.best());
    if (config.plan.choose_gossip_steps)
        chosen.gossip =
            choose_gossip_steps(config.plan, topography, {}, message_bytes(config.dimension));
    config.plan.gossip_steps = std::max(config.plan.gossip_steps, chosen.gossip.chosen);
    return chosen;
}

}  // namespace

OptionSet<PlanJobConfig> plan_option_set() {
    return OptionSet<PlanJobConfig>()
        .add(graph_options(), &PlanJobConfig::graph)
        .add(plan_options(), &PlanJobConfig::plan)
        .add(option_group<PlanJobConfig>(
            "Secure sums",
            {{secure_sum_option<PlanJobConfig>(), mask_partners_option<PlanJobConfig>()}}))
        .add(option_group<PlanJobConfig>(
            "Output",
            {{{{.name = "out", .help = "write the plan to FILE, for --plan"},
               bound(&PlanJobConfig::out, file_path())},
              {{.name = "dimension",
                .help =
                    "parameters of the model, for what exchanges cost (and --max-bytes), and for "
                    "bounds of [H]"},
               bound(&PlanJobConfig::dimension, whole(1))},
              {{.name = "smoothness",
                .help = "Lipschitz constant of every agent's gradient, for bounds of [H] (zip-dl, "
                        "homomorphic)",
                .details = R"(
Of logistic loss a quarter of the largest squared length of a record's features, and more with `--l2`. The bounds are for
comparison ([equations](../equations.md) 9): `bounds` of the results has those that the paper gives for such a training,
at `--dimension` parameters. Noise and privacy do not depend on it.)"},
               bound(&PlanJobConfig::smoothness, positive_real())}}}));
}

PlanJobConfig read_plan_options(const OptionTexts& given) {
    return plan_option_set().read(with_participation_without_data(given));
}

PrivacyRecord MadePlan::record() const {
    PrivacyRecord record;
    record.secure_sums = sums;
    record.phases.push_back(first_phase(plan(),
                                        counted.exposures,
                                        plan_use(config.plan, built.topography.mixing),
                                        config.plan.rounds));
    record.budgets = counted.budgets;
    record.adjacency = config.plan.adjacency;
    record.rounds = config.plan.rounds;
    record.authentication.clear();
    record.more_statements =
        sampling_statements(config.plan, counted.exposures, counted.budgets, {});
    return record;
}

MadePlan make_plan(PlanJobConfig config) {
    require_one_source_of_noise(config.plan);
    BuiltTopography built = build_topography(config.graph, config.plan);
    ChosenPlan chosen = settle_choices(config, built.topography);
    const int agents = built.topography.graph.agents();
    const auto exposures = build_exposures(config.plan, agents, {});
    auto budgets = build_budgets(config.plan, agents);
    count_sampling(budgets, exposures, config.plan, Membership::everybody(agents).numbers);
    PlannedNoise planned = plan_noise(config.plan, built.topography, exposures, budgets);
    const bool cycles = !chosen.cycle.candidates.empty();
    planned.cycle_choice = std::move(chosen.cycle);
    if (!cycles) planned.temporal_choice = std::move(chosen.temporal);
    planned.gossip_choice = std::move(chosen.gossip);
    planned.gossip_costs = gossip_costs(config, built.topography);
    const NoisePlan& plan = planned.design.plan;
    CountedPlan counted = count_plan(plan, config.plan, built.topography, exposures, budgets);
    std::optional<SumHiding> sums = sums_of(config, built.topography, plan);
    std::vector<TrainingBoundFigure> bounds = bounds_of_training(
        {config.plan, built.topography, plan, config.dimension, config.smoothness});
    return {std::move(config),
            std::move(built),
            std::move(planned),
            std::move(counted),
            std::move(sums),
            std::move(bounds)};
}

}  // namespace sotto
