#include "commands/plan/plan_command.hpp"

#include <fmt/format.h>

#include "commands/cli/general_options.hpp"
#include "commands/cli/option_parser.hpp"
#include "commands/plan/plan_json.hpp"
#include "run/build_topography.hpp"
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
#include "run/process_exchanges.hpp"
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
               bound(&PlanOptions::out, any_text())}}}));
}

std::vector<WrittenGroup> options() { return with_general(option_set().written()); }

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
                          sum_rules(config.plan, config.mask_partners),
                          plan.coalition_size,
                          colluders_to_tell_of);
}

int run(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options(), arguments);
    PlanOptions config = option_set().read(
        given.contains("sampling-probability") ? with_default_participation(given) : given);
    const GeneralOptions general = read_general(given);
    require_one_source_of_noise(config.plan);
    const BuiltTopography built = build_topography(config.graph, config.plan.rounds);
    const int agents = built.topography.graph.agents();
    const CycleChoice choice =
        config.plan.choose_cycle ? choose_cycle(config.plan, built.topography, {}) : CycleChoice();
    if (!choice.candidates.empty()) config.plan = with_cycle(config.plan, choice.best());
    const auto exposures = build_exposures(config.plan, agents, {});
    auto budgets = build_budgets(config.plan, agents);
    count_sampling(budgets, exposures, config.plan, Membership::everybody(agents).numbers);
    PlannedNoise planned = plan_noise(config.plan, built.topography, exposures, budgets);
    planned.cycle_choice = choice;
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
