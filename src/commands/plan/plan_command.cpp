#include <fmt/format.h>

#include "commands/cli/command.hpp"
#include "commands/plan/plan_json.hpp"
#include "run/build_topography.hpp"
#include "run/plan_report.hpp"
#include "run/planning.hpp"
#include "sotto/core/files.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto::cli {

namespace {

std::vector<OptionGroup> options() {
    return {graph_options(),
            plan_options(),
            {"Output", {{"out", "", "write the plan to FILE, for --plan"}}},
            common_options()};
}

/// What there is to say about a plan that nobody runs yet.
std::vector<std::string> statements_about(const NoisePlan& plan,
                                          const PlanConfig& config,
                                          const CountedPlan& counted) {
    PrivacyRecord record;
    record.phases.push_back(first_phase(plan, counted.exposures, {}, config.rounds));
    record.budgets = counted.budgets;
    record.adjacency = config.adjacency;
    record.rounds = config.rounds;
    record.authentication.clear();
    return statements_of(record);
}

int run(const std::vector<std::string>& arguments) {
    const ParsedOptions parsed(options(), arguments);
    const PlanConfig config = read_plan_config(parsed);
    const BuiltTopography built = build_topography(read_graph_config(parsed), config.rounds);
    const int agents = built.topography.graph.agents();
    const auto exposures = build_exposures(config, agents, {});
    const auto budgets = build_budgets(config, agents);
    const PlannedNoise planned = plan_noise(config, built.topography, exposures, budgets);
    const NoisePlan& plan = planned.design.plan;
    const CountedPlan counted = count_plan(plan, config, built.topography, exposures, budgets);
    if (parsed.has("out")) write_file_atomically(parsed.text("out"), to_json(plan));
    write_json(parsed, plan_report_json(planned, config, counted.exposures, counted.budgets));
    if (std::FILE* out = report_stream(parsed)) {
        fmt::print(out,
                   "graph      {}, {} edges, mixing {}\n",
                   built.description,
                   built.topography.graph.edges().size(),
                   parsed.text("mixing"));
        for (const auto& note : built.notes) fmt::print(out, "note       {}\n", note);
        fmt::print(out,
                   "{}",
                   plan_report_text(planned,
                                    config,
                                    counted.exposures,
                                    counted.budgets,
                                    statements_about(plan, config, counted)));
        if (parsed.has("out")) fmt::print(out, "written    {}\n", parsed.text("out"));
    }
    return 0;
}

}  // namespace

Command plan_command() {
    return {"plan",
            "solve a noise plan and say what it protects",
            "sotto plan --mechanism corn --utility horizon:200 --agents 20 --epsilon 10 --out "
            "plan.json",
            options,
            false,
            run};
}

}  // namespace sotto::cli
