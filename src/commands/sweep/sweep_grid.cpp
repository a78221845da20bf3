#include "commands/sweep/sweep_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "commands/sweep/sweep_outcome.hpp"
#include "commands/sweep/sweep_scale.hpp"
#include "options/train_options.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

constexpr std::array<std::string_view, 2> may_follow_seed{"graph-seed", "noise-seed"};
constexpr std::array<std::string_view, 2> of_the_budget{"epsilon", "delta"};

bool is_chosen(const SweepConfig& config, const std::string& option) {
    return std::ranges::find(config.choose, option) != config.choose.end();
}

/// Options that have several values in some variant, and the one that is drawn over, in the order
/// of first appearance.
std::vector<std::string> varied_options(const SweepConfig& config) {
    std::vector<std::string> varied;
    for (const SweepVariant& variant : config.variants)
        for (const SweepSetting& setting : variant.settings)
            if ((setting.values.size() > 1 || setting.option == config.plot) &&
                !is_chosen(config, setting.option) &&
                std::ranges::find(varied, setting.option) == varied.end())
                varied.push_back(setting.option);
    return varied;
}

/// Every combination of values; the last setting varies fastest. One empty one without settings.
std::vector<OptionValues> combinations(const std::vector<SweepSetting>& settings) {
    std::vector<OptionValues> all{{}};
    for (const SweepSetting& setting : settings) {
        std::vector<OptionValues> longer;
        for (const OptionValues& before : all)
            for (const std::string& value : setting.values) {
                longer.push_back(before);
                longer.back().emplace_back(setting.option, value);
            }
        all = std::move(longer);
    }
    return all;
}

/// Everything a training is told, by option.
OptionValues options_of(const SweepConfig& config,
                        const SweepCell& cell,
                        std::size_t candidate,
                        const std::string& seed,
                        bool validation) {
    OptionValues options = cell.fixed;
    const OptionValues& tried = cell.candidates.at(candidate);
    options.insert(options.end(), tried.begin(), tried.end());
    if (validation) {
        std::erase_if(options, [](const OptionValue& option) {
            return option.first == "test-data" || option.first == "test-fraction";
        });
        options.emplace_back("test-fraction", fmt::format("{}", config.validation_fraction));
    }
    options.emplace_back("seed", seed);
    for (auto& [option, value] : options)
        if (value == "seed" && std::ranges::find(may_follow_seed, option) != may_follow_seed.end())
            value = seed;
    std::ranges::sort(options);
    return options;
}

/// Whether a mechanism is named that adds no noise: its results are the same for every budget.
bool spends_nothing(const OptionValues& options) {
    const std::string* name = value_of(options, "mechanism");
    const Mechanism* mechanism = name == nullptr ? nullptr : mechanisms().look_up(*name);
    return mechanism != nullptr && !mechanism->needs_budget && value_of(options, "plan") == nullptr;
}

/// Digest of the options that change results, the program's version and the files that options
/// name.
std::string key_of(const SweepConfig& config, const OptionValues& options) {
    Hasher hasher("sotto.sweep.v1");
    std::string ini;
    const bool any_budget = spends_nothing(options);
    for (const auto& [option, value] : options)
        if (changes_results(option) &&
            !(any_budget && std::ranges::find(of_the_budget, option) != of_the_budget.end()))
            ini += fmt::format("{} = {}\n", option, value);
    hasher.add(build_version()).add(std::string_view(ini));
    for (const auto& [option, value] : options)
        for (const auto word : split(value, ','))
            if (const auto file = config.files.find(std::string(word)); file != config.files.end())
                hasher.add(std::string_view(file->second));
    const Digest digest = hasher.finish();
    return to_hex(std::span(digest).first(10));
}

SweepTraining training_of(const SweepConfig& config,
                          const SweepCell& cell,
                          std::size_t cell_number,
                          std::size_t candidate,
                          const std::string& seed,
                          bool validation) {
    SweepTraining training{cell_number, candidate, seed, validation, false, {}, {}};
    const OptionValues options = options_of(config, cell, candidate, seed, validation);
    for (const auto& [option, value] : options)
        training.ini += fmt::format("{} = {}\n", option, value);
    training.key = key_of(config, options);
    return training;
}

std::vector<SweepTraining> trainings_of(const SweepConfig& config,
                                        const std::vector<SweepCell>& cells,
                                        std::size_t cell,
                                        std::size_t candidate,
                                        bool validation) {
    std::vector<SweepTraining> trainings;
    for (const std::string& seed : validation ? config.validation_seeds : config.seeds)
        trainings.push_back(training_of(config, cells.at(cell), cell, candidate, seed, validation));
    return trainings;
}

/// The option on the x axis is one of the sweep, with numbers as values.
void require_drawable(const SweepConfig& config) {
    bool found = false;
    for (const SweepVariant& variant : config.variants)
        for (const SweepSetting& setting : variant.settings)
            if (setting.option == *config.plot) {
                found = true;
                for (const std::string& value : setting.values)
                    (void)parse_real("plot: " + *config.plot, value);
            }
    if (!found || is_chosen(config, *config.plot))
        throw ConfigError(
            fmt::format("plot: '{}' is no option that this sweep sets (allowed: one of its options "
                        "with numbers, not one that is chosen)",
                        *config.plot));
}

}  // namespace

std::vector<SweepCell> sweep_cells(const SweepConfig& config) {
    const auto& metrics = sweep_metrics();
    if (std::ranges::find(metrics, config.choose_by) == metrics.end())
        throw unknown_name_error("choose-by", config.choose_by, metrics);
    if (!(config.validation_fraction > 0 && config.validation_fraction < 1))
        throw ConfigError(
            fmt::format("validation-fraction: {} is not allowed (must be above 0 and below 1)",
                        config.validation_fraction));
    const std::vector<std::string> varied = varied_options(config);
    if (config.plot) require_drawable(config);
    std::vector<SweepCell> cells;
    for (const SweepVariant& variant : config.variants) {
        std::vector<SweepSetting> grid, chosen;
        for (const SweepSetting& setting : variant.settings)
            (setting.values.size() > 1 && is_chosen(config, setting.option) ? chosen : grid)
                .push_back(setting);
        const std::vector<OptionValues> candidates = combinations(chosen);
        std::vector<SweepSetting> scales;
        for (const SweepSetting& setting : chosen)
            scales.push_back(sweep_scale(setting, config.choose_further));
        for (const OptionValues& values : combinations(grid)) {
            SweepCell cell{variant.name, values, {}, candidates, scales};
            for (const OptionValue& value : values)
                if (std::ranges::find(varied, value.first) != varied.end())
                    cell.varied.push_back(value);
            cells.push_back(std::move(cell));
        }
    }
    return cells;
}

std::vector<SweepTraining> validation_trainings(const SweepConfig& config,
                                                const std::vector<SweepCell>& cells,
                                                std::size_t cell,
                                                std::size_t candidate) {
    return trainings_of(config, cells, cell, candidate, true);
}

std::vector<SweepTraining> test_trainings(const SweepConfig& config,
                                          const std::vector<SweepCell>& cells,
                                          std::size_t cell,
                                          std::size_t candidate) {
    return trainings_of(config, cells, cell, candidate, false);
}

const std::string* value_of(const OptionValues& values, const std::string& option) {
    const auto found = std::ranges::find(values, option, &OptionValue::first);
    return found == values.end() ? nullptr : &found->second;
}

std::string cell_name(const SweepCell& cell, const std::string& without) {
    std::string name = cell.variant;
    for (const auto& [option, value] : cell.varied)
        if (option != without)
            name += fmt::format("{}{} {}", name.empty() ? "" : ", ", option, value);
    return name;
}

}  // namespace sotto
