#include "commands/plan/plan_job.hpp"

#include <utility>

#include "agent/trainer.hpp"
#include "design/temporal_utility.hpp"
#include "options/graph_options.hpp"
#include "options/option_set.hpp"
#include "options/plan_options.hpp"
#include "options/train_options.hpp"
#include "planning/budgets.hpp"
#include "planning/choices.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/planning.hpp"
#include "planning/settle.hpp"

namespace sotto {

namespace {

/// The size of one message in the default precision.
double message_bytes(long dimension) {
    return static_cast<double>(dimension) *
           static_cast<double>(value_size(MessagePrecision::float64));
}

/// What secure sums would hide, if asked for. @throws ConfigError.
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

/// Noise and cost of K = 1, 2, 4 and 8 gossip steps; empty if planning them would take long, or if
/// messages are not mixed.
std::vector<GossipCandidate> gossip_costs(const PlanJobConfig& config,
                                          const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.plan.mechanism);
    const int most_agents = shares_by_groups(config.plan, spatial_part(config.plan)) ? 30 : 200;
    if (config.dropout_probability > 0 || config.plan.plan_file ||
        !mixes_hidden_models(config.plan) || !mechanism.needs_budget ||
        mechanism.correlates_rounds || !topography.later_mixing.empty() ||
        topography.graph.agents() > most_agents)
        return {};
    return compare_gossip_steps(config.plan, topography, {}, message_bytes(config.dimension));
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
            "Missed rounds",
            {{{{.name = "dropout-probability",
                .help = "P from 0 to 0.999: the plan minimises the noise that is left if every "
                        "agent misses every round with this probability",
                .details = R"(
For logistic loss it is a quarter of the largest squared length of a record's features, and more with `--l2`. The bounds
are for comparison ([equations](../equations.md#noise-on-messages)): `bounds` of the results has those that the paper
gives for such a training, at `--dimension` parameters. Noise and privacy do not depend on it.)"},
               bound(&PlanJobConfig::dropout_probability, real_between(0, 0.999))}}}))
        .add(option_group<PlanJobConfig>(
            "Output",
            {{{{.name = "out", .common = true, .help = "write the plan to FILE, for --plan"},
               bound(&PlanJobConfig::out, file_path())},
              {{.name = "dimension",
                .help = "parameters of the model, for the cost of exchanges (and --max-bytes) and "
                        "for bounds of [H]"},
               bound(&PlanJobConfig::dimension, whole(1))},
              {{.name = "smoothness",
                .help = "Lipschitz constant of every agent's gradient, for bounds of [H] (zip-dl, "
                        "homomorphic)",
                .details = R"(
Of logistic loss a quarter of the largest squared length of a record's features, and more with `--l2`. The bounds are for
comparison ([equations](../equations.md#noise-on-messages)): `bounds` of the results has those that the paper gives for such a training,
at `--dimension` parameters. Noise and privacy do not depend on it.)"},
               bound(&PlanJobConfig::smoothness, positive_real())},
              {{.name = "unrestricted-bound",
                .help = "{}: compute what the best correlation of all agents and rounds would "
                        "leave, for up to 400 agents * rounds",
                .details = R"(
Plans are products: noise is correlated between agents in the same way in every round, and over rounds in the same way
for every agent. [U] Definition 11 asks for any encoder C, with a row for every agent in every round. `on` prints the
least noise that such an encoder leaves in all models of all rounds within the same budgets, against somebody who sees
all messages, together with its certificate and with how many times as much the plan leaves
([equations](../equations.md#any-correlation-of-agents-and-rounds)). The figure is for comparison: nothing trains with
such noise.)"},
               bound(&PlanJobConfig::unrestricted_bound, on_off())}}}));
}

PlanJobConfig read_plan_options(const OptionTexts& given) {
    PlanJobConfig config =
        plan_option_set().read(with_default_clip(with_participation_without_data(given)));
    require_covariance_file(config.plan);
    config.plan.open.final_gossip =
        leaves_final_gossip_open(given, config.secure_sum || config.dropout_probability > 0);
    return config;
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
    const Topography& topography = built.topography;
    const double missing = config.dropout_probability;
    if (missing > 0) require_possible_dropouts(config.plan, topography);
    auto [settled, choices] =
        settle(config.plan, {.topography = topography, .dimension = config.dimension});
    config.plan = AskedPlan(settled);
    const int agents = topography.graph.agents();
    if (config.unrestricted_bound) require_joint_rows(agents, settled.rounds);
    const CountedRounds rounds = count_rounds(settled, agents, {});
    PlannedNoise planned = missing > 0
                               ? plan_for_missed_rounds(settled, topography, rounds, missing)
                               : plan_noise(settled, topography, rounds);
    planned.choices = std::move(choices);
    planned.gossip_costs = gossip_costs(config, topography);
    std::optional<MissedRounds> missed;
    if (missing > 0) missed = figures_of_dropouts(planned, settled, topography, rounds, missing);
    const NoisePlan& plan = planned.design.plan;
    CountedPlan counted = count_plan(plan, settled, topography, rounds);
    std::optional<SumHiding> sums = sums_of(config, topography, plan);
    std::vector<TrainingBoundFigure> bounds =
        bounds_of_training({settled, topography, plan, config.dimension, config.smoothness});
    std::optional<UnrestrictedNoise> unrestricted;
    if (config.unrestricted_bound)
        unrestricted = unrestricted_noise(settled, topography, plan, planned.kappa);
    config.plan.final_gossip = final_gossip_steps(settled, topography.schedule());
    return {std::move(config),
            std::move(built),
            std::move(planned),
            std::move(counted),
            std::move(sums),
            std::move(bounds),
            missed,
            unrestricted};
}

}  // namespace sotto
