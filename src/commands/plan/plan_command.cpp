#include <fmt/format.h>

#include "account/plan_job.hpp"
#include "commands/cli/command.hpp"
#include "core/files.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/plan_options.hpp"
#include "planning/plan_report.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options_of_plan() { return with_general(plan_option_set().written()); }

/// Notes about values that a training with the same options would take from its data.
std::vector<std::string> notes_about_data(const OptionTexts& given, const PlanConfig& plan) {
    std::vector<std::string> notes;
    if (plan.participation.cycle > 1 && !plan.participation.poisson)
        notes.push_back(fmt::format(
            "In `sotto train` a batch of participation {} is all records of a part, and noise is "
            "accordingly smaller; without data this plan assumes --batch-size.",
            name_of(plan.participation)));
    if (!with_participation_without_data(given).contains("participation") &&
        with_default_participation(given).contains("participation"))
        notes.emplace_back(
            "`sotto train` samples batches of this adjacency in secret (participation poisson); to "
            "plan for that, give --sampling-probability, batch size / records.");
    return notes;
}

void print_plan(std::FILE* out, const MadePlan& made, const std::vector<std::string>& notes) {
    const PlanJobConfig& config = made.config;
    say(out,
        "graph      {}, {} edges, mixing {}\n",
        made.built.description,
        made.built.topography.graph.links().size(),
        config.graph.mixing);
    for (const auto& note : made.built.notes) say(out, "note       {}\n", note);
    for (const auto& note : notes) say(out, "note       {}\n", note);
    say(out,
        "{}",
        plan_report_text(made.planned,
                         config.plan,
                         made.counted.exposures,
                         made.counted.budgets,
                         statements_of(made.record())));
    if (made.missed) say(out, "{}", text_of(*made.missed));
    say(out,
        "{}",
        gossip_costs_text(
            made.planned, made.built.topography, config.plan.rounds, config.dimension));
    if (made.unrestricted) say(out, "{}", text_of(*made.unrestricted));
    for (const TrainingBoundFigure& figure : made.bounds)
        say(out,
            "bound      {:<10} {:.6g} at {} parameter{}: {}\n",
            figure.bound->title,
            figure.value,
            config.dimension,
            config.dimension == 1 ? "" : "s",
            figure.bound->says);
    if (config.out) say(out, "written    {}\n", *config.out);
}

int plan_main(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options_of_plan(), arguments);
    const GeneralOptions general = read_general(given);
    const MadePlan made = make_plan(read_plan_options(given));
    if (made.config.out) write_file_atomically(*made.config.out, to_json(made.plan()));
    write_json(general,
               plan_report_json(made.planned,
                                made.config.plan,
                                made.counted.exposures,
                                made.counted.budgets,
                                made.sums,
                                made.bounds,
                                made.missed,
                                made.unrestricted));
    if (std::FILE* out = report_stream(general))
        print_plan(out, made, notes_about_data(given, made.config.plan));
    return 0;
}

}  // namespace

Command plan_command() {
    return {.name = "plan",
            .summary = "solve a noise plan and print what it protects",
            .example =
                "sotto plan --mechanism corn --utility horizon:200 --agents 20 --epsilon 10 "
                "--out plan.json",
            .description = R"(
Solves the noise plan that spends the privacy budget with the least noise for the utility, and prints what it protects, against whom,
and how close it is to the optimum. `sotto train` does the same before it trains. A plan that is written with `--out` can be given to
`train`, `account` and `audit` with `--plan`.)",
            .options = options_of_plan,
            .run = plan_main};
}

}  // namespace sotto::cli
