#include "commands/plan/plan_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/cli/general_options.hpp"
#include "commands/cli/option_parser.hpp"
#include "commands/plan/plan_json.hpp"
#include "run/build_topography.hpp"
#include "run/configured_gossip.hpp"
#include "run/gossip_choice.hpp"
#include "run/hidden_by_sums.hpp"
#include "run/options/default_participation.hpp"
#include "run/options/graph_options.hpp"
#include "run/options/option_bindings.hpp"
#include "run/options/option_checks.hpp"
#include "run/options/option_set.hpp"
#include "run/options/plan_options.hpp"
#include "run/options/sum_options.hpp"
#include "run/plan_report.hpp"
#include "run/planning.hpp"
#include "run/sampling_gain.hpp"
#include "sotto/agent/trainer.hpp"
#include "sotto/core/files.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto::cli {

namespace {

struct PlanOptions {
    GraphConfig graph;
    PlanConfig plan;
    bool secure_sum = false;
    int mask_partners = TrainConfig{}.mask_partners;
    std::optional<std::string> out;
    long dimension = 1;  ///< d, for bytes and time
};

OptionSet<PlanOptions> option_set() {
    return OptionSet<PlanOptions>()
        .add(graph_options(), &PlanOptions::graph)
        .add(plan_options(), &PlanOptions::plan)
        .add(option_group<PlanOptions>(
            "Secure sums",
            {{secure_sum_option<PlanOptions>(), mask_partners_option<PlanOptions>()}}))
        .add(option_group<PlanOptions>(
            "Output",
            {{{{.name = "out", .help = "write the plan to FILE, for --plan"},
               bound(&PlanOptions::out, any_text())},
              {{.name = "dimension",
                .help = "parameters of the model, for what exchanges cost (and --max-bytes)"},
               bound(&PlanOptions::dimension, whole(1))}}}));
}

std::vector<WrittenGroup> options() { return with_general(option_set().written()); }

/// Of one message, in the default precision.
double message_bytes(long dimension) {
    return static_cast<double>(dimension) *
           static_cast<double>(value_size(MessagePrecision::float64));
}

/// What there is to say about a plan that nobody runs yet.
std::vector<std::string> statements_about(const NoisePlan& plan,
                                          const PlanConfig& config,
                                          const CountedPlan& counted,
                                          const std::optional<SumHiding>& sums) {
    PrivacyRecord record;
    record.secure_sums = sums;
    PlanUse use;
    use.participation = config.participation;
    record.phases.push_back(first_phase(plan, counted.exposures, use, config.rounds));
    record.budgets = counted.budgets;
    record.adjacency = config.adjacency;
    record.rounds = config.rounds;
    record.authentication.clear();
    record.more_statements = sampling_statements(config, counted.exposures, counted.budgets, {});
    return statements_of(record);
}

/// What secure sums would hide, where they are asked for. @throws ConfigError.
std::optional<SumHiding> sums_of(const PlanOptions& config,
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
std::vector<GossipCandidate> gossip_costs(const PlanOptions& config, const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.plan.mechanism);
    const int most_agents = spatial_part(config.plan).seed_groups() ? 30 : 200;
    if (config.plan.plan_file || !mixes_hidden_models(config.plan) || !mechanism.needs_budget ||
        mechanism.correlates_rounds || !topography.later_mixing.empty() ||
        topography.graph.agents() > most_agents)
        return {};
    return compare_gossip_steps(config.plan, topography, {}, message_bytes(config.dimension));
}

int run(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options(), arguments);
    PlanOptions config = option_set().read(
        given.contains("sampling-probability") ? with_default_participation(given) : given);
    const GeneralOptions general = read_general(given);
    require_one_source_of_noise(config.plan);
    const BuiltTopography built = build_topography(config.graph, config.plan);
    const int agents = built.topography.graph.agents();
    const ShapeChoice temporal =
        choose_temporal(config.plan, built.topography, {}, config.dimension);
    config.plan = with_temporal(config.plan, temporal);
    const CycleChoice choice =
        config.plan.choose_cycle ? choose_cycle(config.plan, built.topography, {}) : CycleChoice();
    if (!choice.candidates.empty()) config.plan = with_cycle(config.plan, choice.best());
    GossipChoice gossip;
    if (config.plan.choose_gossip_steps)
        gossip =
            choose_gossip_steps(config.plan, built.topography, {}, message_bytes(config.dimension));
    config.plan.gossip_steps = std::max(config.plan.gossip_steps, gossip.chosen);
    const auto exposures = build_exposures(config.plan, agents, {});
    auto budgets = build_budgets(config.plan, agents);
    count_sampling(budgets, exposures, config.plan, Membership::everybody(agents).numbers);
    PlannedNoise planned = plan_noise(config.plan, built.topography, exposures, budgets);
    planned.cycle_choice = choice;
    if (choice.candidates.empty()) planned.temporal_choice = temporal;
    planned.gossip_choice = gossip;
    planned.gossip_costs = gossip_costs(config, built.topography);
    const NoisePlan& plan = planned.design.plan;
    const CountedPlan counted = count_plan(plan, config.plan, built.topography, exposures, budgets);
    const std::optional<SumHiding> sums = sums_of(config, built.topography, plan);
    if (config.out) write_file_atomically(*config.out, to_json(plan));
    write_json(general,
               plan_report_json(planned, config.plan, counted.exposures, counted.budgets, sums));
    if (std::FILE* out = report_stream(general)) {
        fmt::print(out,
                   "graph      {}, {} edges, mixing {}\n",
                   built.description,
                   built.topography.graph.edges().size(),
                   config.graph.mixing);
        for (const auto& note : built.notes) fmt::print(out, "note       {}\n", note);
        fmt::print(out,
                   "{}",
                   plan_report_text(planned,
                                    config.plan,
                                    counted.exposures,
                                    counted.budgets,
                                    statements_about(plan, config.plan, counted, sums)));
        fmt::print(
            out,
            "{}",
            gossip_costs_text(planned, built.topography, config.plan.rounds, config.dimension));
        if (config.out) fmt::print(out, "written    {}\n", *config.out);
    }
    return 0;
}

}  // namespace

Command plan_command() {
    return {.name = "plan",
            .summary = "solve a noise plan and say what it protects",
            .example =
                "sotto plan --mechanism corn --utility horizon:200 --agents 20 --epsilon 10 "
                "--out plan.json",
            .options = options,
            .run = run};
}

}  // namespace sotto::cli
