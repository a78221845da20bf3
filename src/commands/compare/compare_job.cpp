#include "commands/compare/compare_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "account/plan_job.hpp"
#include "core/numbers.hpp"
#include "options/task_options.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"
#include "store/recorded_ledger.hpp"

namespace sotto {

namespace {

void add_own_option(ComparedMechanism& mechanism,
                    const std::string& option,
                    std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    const OptionSet<TrainConfig> set = train_option_set();
    if (equals == std::string_view::npos || set.look_up(name) == nullptr)
        throw ConfigError(
            fmt::format("{}: '{}' of '{}' is not an option of a training (allowed: OPTION=VALUE, "
                        "such as coalition-size=2)",
                        option,
                        text,
                        mechanism.label));
    mechanism.options[name] = text.substr(equals + 1);
}

ComparedMechanism compared_mechanism(const std::string& option, std::string_view word) {
    ComparedMechanism mechanism{std::string(word), {}};
    const auto parts = split(word, '+');
    const std::string name(parts.front());
    if (name.ends_with(".npy"))
        mechanism.options["covariance"] = name;
    else
        mechanism.options["mechanism"] = find_mechanism(option, name).name;
    for (std::size_t i = 1; i < parts.size(); ++i) add_own_option(mechanism, option, parts[i]);
    return mechanism;
}

}  // namespace

std::vector<ComparedMechanism> parse_compared_mechanisms(const std::string& option,
                                                         const std::string& text) {
    std::vector<ComparedMechanism> mechanisms;
    for (const auto word : split(text, ',')) {
        if (std::ranges::find(mechanisms, word, &ComparedMechanism::label) != mechanisms.end())
            throw ConfigError(
                fmt::format("{}: '{}' is given twice (name every mechanism once)", option, word));
        mechanisms.push_back(compared_mechanism(option, word));
    }
    return mechanisms;
}

namespace {

constexpr int most_agents_for_pairs = 128;  // n eigendecompositions stay well under a second

/// The common options and those of this mechanism, which win.
OptionTexts options_of_mechanism(const CompareConfig& config, const ComparedMechanism& mechanism) {
    OptionTexts options = mechanism.options;
    options.insert(config.common.begin(), config.common.end());
    return options;
}

double curious_epsilon(const MadePlan& made, double delta) {
    const NoisePlan& plan = made.plan();
    if (plan.noiseless()) return infinity;
    if (plan.agents > most_agents_for_pairs) return not_a_number;
    const auto worst = worst_curious_agent(plan, made.counted.exposures, delta);
    return worst ? worst->guarantee.epsilon : not_a_number;
}

double epsilon_of(const Guarantee& guarantee) {
    return guarantee.infinite() ? infinity : guarantee.epsilon;
}

ComparedFigures figures_of(const std::string& label, const MadePlan& made) {
    const NoisePlan& plan = made.plan();
    const double delta = made.counted.budgets.front().delta;
    ComparedFigures figures;
    figures.label = label;
    figures.noise =
        plan.noiseless() ? 0 : made.planned.design.objective / made.planned.ldp_objective;
    figures.noise_std = std::sqrt(largest_message_variance(plan).maxCoeff());
    figures.outsider = epsilon_of(largest(guarantees(plan, {}, made.counted.exposures, delta)));
    figures.curious = curious_epsilon(made, delta);
    return figures;
}

/// Whether the plan depends on the agents' numbers of records.
bool depends_on_records(const PlanConfig& plan) {
    return !plan.batch_size.number && !protects_agents(plan.adjacency);
}

}  // namespace

ComparedFigures compared_figures(const CompareConfig& config, const ComparedMechanism& mechanism) {
    const OptionSet<PlanJobConfig> of_plans = plan_option_set();
    OptionTexts given = with_agents_of_files(options_of_mechanism(config, mechanism));
    try {
        if (config.train && depends_on_records(read_train_config(given).plan))
            return {mechanism.label, not_a_number, not_a_number, not_a_number, not_a_number, {}};
        std::erase_if(
            given, [&](const auto& option) { return of_plans.look_up(option.first) == nullptr; });
        return figures_of(mechanism.label, make_plan(read_plan_options(given)));
    } catch (const Error& error) {
        return {
            mechanism.label, not_a_number, not_a_number, not_a_number, not_a_number, error.what()};
    }
}

SweepConfig compared_trainings(const CompareConfig& config,
                               const std::vector<ComparedFigures>& figures) {
    SweepConfig sweep;
    sweep.seeds = config.seeds;
    sweep.directory = config.directory;
    sweep.threads = config.threads;
    for (std::size_t i = 0; i < figures.size(); ++i) {
        if (!figures[i].problem.empty()) continue;
        SweepVariant variant{figures[i].label, {}};
        const ComparedMechanism& mechanism = config.mechanisms[i];
        for (const auto& [option, text] : options_of_mechanism(config, mechanism))
            variant.settings.push_back({option, {text}});
        if (!config.step_sizes.empty() && !mechanism.options.contains("step-size")) {
            std::erase_if(variant.settings, [](const SweepSetting& setting) {
                return setting.option == "step-size";
            });
            variant.settings.push_back({"step-size", config.step_sizes});
        }
        sweep.variants.push_back(std::move(variant));
    }
    return sweep;
}

namespace {

/// The largest figure; NaN without ledgers, or if one does not state it.
double largest_stated(const std::vector<RecordedLedger>& ledgers,
                      std::optional<double> RecordedLedger::*figure) {
    double largest = ledgers.empty() ? not_a_number : 0;
    for (const RecordedLedger& ledger : ledgers) {
        if (!(ledger.*figure)) return not_a_number;
        largest = std::max(largest, *(ledger.*figure));
    }
    return largest;
}

/// Takes the epsilons against both observers from the ledgers of trainings.
void add_ledgers(ComparedFigures& row,
                 const std::vector<SweepRow>& trainings,
                 const std::filesystem::path& directory) {
    std::vector<RecordedLedger> ledgers;
    for (const SweepRow& training : trainings)
        for (const char* folder : {"runs", "spent"})
            if (const auto run = directory / folder / training.training.key;
                std::filesystem::exists(run / "ledger.json"))
                ledgers.push_back(read_recorded_ledger(run));
    row.outsider = largest_stated(ledgers, &RecordedLedger::outsider_epsilon);
    row.curious = largest_stated(ledgers, &RecordedLedger::curious_epsilon);
}

}  // namespace

void add_trainings(std::vector<ComparedFigures>& figures,
                   const SweepResult& result,
                   const std::filesystem::path& directory) {
    for (std::size_t c = 0; c < result.cells.size(); ++c) {
        const SweepCell& cell = result.cells[c];
        const CellResult& measured = result.results[c];
        const auto row = std::ranges::find(figures, cell.variant, &ComparedFigures::label);
        row->accuracy = mean_of(measured, "test_accuracy");
        row->loss = mean_of(measured, "test_loss");
        if (std::isnan(row->outsider)) add_ledgers(*row, measured.test, directory);
        if (!measured.candidate) continue;
        const OptionValues& chosen = cell.candidates.at(*measured.candidate);
        const auto step = std::ranges::find(chosen, "step-size", &OptionValue::first);
        if (step != chosen.end()) row->step_size = step->second;
    }
}

}  // namespace sotto
