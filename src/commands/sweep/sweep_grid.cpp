#include "commands/sweep/sweep_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "commands/sweep/sweep_folder.hpp"
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

/// Options with several values in some variant, and the one on the x axis, in the order of first
/// appearance.
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

/// Every combination of values; the last setting varies fastest. One empty one if no settings.
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

/// All options of a training.
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

/// Whether the mechanism adds no noise, so that the budget does not change its results.
bool spends_nothing(const OptionValues& options) {
    const std::string* name = value_of(options, "mechanism");
    const Mechanism* mechanism = name == nullptr ? nullptr : mechanisms().look_up(*name);
    return mechanism != nullptr && !mechanism->needs_budget && value_of(options, "plan") == nullptr;
}

/// Computes SweepTraining::key.
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

/// Requires that the option on the x axis is set in the sweep and has numeric values.
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
            fmt::format("plot: '{}' is not an option that this sweep sets (allowed: one of its "
                        "options with numbers, not one that is chosen)",
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

std::vector<OptionValues> configurations_of(const std::vector<SweepCell>& cells) {
    std::vector<OptionValues> all;
    for (const SweepCell& cell : cells)
        for (const OptionValues& candidate : cell.candidates) {
            all.push_back(cell.fixed);
            all.back().insert(all.back().end(), candidate.begin(), candidate.end());
        }
    return all;
}

SweepCell drawn_cell(const std::vector<SweepCell>& cells, const std::vector<std::size_t>& drawn) {
    const std::vector<OptionValues> all = configurations_of(cells);
    SweepCell cell{.variant = "drawn", .fixed = {}, .varied = {}, .candidates = {}, .scales = {}};
    for (const std::size_t configuration : drawn) cell.candidates.push_back(all.at(configuration));
    return cell;
}

std::vector<SweepTraining> drawn_trainings(const SweepConfig& config,
                                           const std::vector<SweepCell>& cells) {
    const bool held_out = config.choice_data == ChoiceData::held_out;
    std::vector<SweepTraining> trainings;
    for (std::size_t k = 0; k < cells.front().candidates.size(); ++k) {
        trainings.push_back(
            training_of(config, cells.front(), 0, k, config.seeds.front(), held_out));
        trainings.back().key += fmt::format("-{}", k);
    }
    return trainings;
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

namespace {

/// A value as a user writes it.
struct WrittenNumber {
    double number = 0;
    std::string text;
};

std::optional<double> number_in(const std::string& text) {
    try {
        return parse_real("value", text);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

/// The numbers among the values, ascending, each once.
std::vector<WrittenNumber> numbers_of(const std::vector<std::string>& values) {
    std::vector<WrittenNumber> numbers;
    for (const std::string& value : values)
        if (const auto number = number_in(value)) numbers.push_back({*number, value});
    std::ranges::stable_sort(numbers, {}, &WrittenNumber::number);
    const auto repeated = std::ranges::unique(numbers, {}, &WrittenNumber::number);
    numbers.erase(repeated.begin(), repeated.end());
    return numbers;
}

NumberRange range_of(const std::string& option) {
    const OptionSet<TrainConfig> of_training = train_option_set();
    const auto* known = of_training.look_up(option);
    return known != nullptr ? known->value.allowed.range.value_or(NumberRange{}) : NumberRange{};
}

/// @param upwards whether the result must be above `last`; else below.
WrittenNumber whole_beyond(double exact, double last, bool upwards) {
    const double rounded = std::round(exact);
    const double number = upwards ? std::max(rounded, last + 1) : std::min(rounded, last - 1);
    return {number, fmt::format("{:.0f}", number)};
}

WrittenNumber four_digits(double exact) {
    const std::string text = fmt::format("{:.4g}", exact);
    return {parse_real("value", text), text};
}

/// Values beyond the outermost, nearest first. @param inner its neighbour.
std::vector<WrittenNumber> values_beyond(const WrittenNumber& outermost,
                                         const WrittenNumber& inner,
                                         const NumberRange& range,
                                         long most) {
    std::vector<WrittenNumber> values;
    if (!(outermost.number > 0 && inner.number > 0)) return values;
    const double ratio = outermost.number / inner.number;
    const bool upwards = ratio > 1;
    const double end = upwards ? range.maximum : range.minimum;
    double exact = outermost.number, last = exact;
    while (std::ssize(values) < most) {
        exact *= ratio;
        if (!std::isnormal(exact)) break;
        WrittenNumber next = range.whole ? whole_beyond(exact, last, upwards) : four_digits(exact);
        const auto leads_on = [upwards](double from, double to) {
            return upwards ? to > from : to < from;
        };
        if (!leads_on(next.number, end)) {
            if (!range.ends) break;
            next = {end, range.whole ? fmt::format("{:.0f}", end) : fmt::format("{}", end)};
        }
        if (!leads_on(last, next.number)) break;
        last = next.number;
        values.push_back(std::move(next));
    }
    return values;
}

/// The index of a candidate's value on a scale.
std::optional<std::size_t> position_on(const SweepSetting& scale, const OptionValues& candidate) {
    const std::string* value = value_of(candidate, scale.option);
    const auto number = value != nullptr ? number_in(*value) : std::nullopt;
    if (!number) return std::nullopt;
    const auto found = std::ranges::find(
        scale.values, *number, [](const std::string& text) { return parse_real("value", text); });
    if (found == scale.values.end()) return std::nullopt;
    return static_cast<std::size_t>(found - scale.values.begin());
}

OptionValues with_value(OptionValues candidate,
                        const std::string& option,
                        const std::string& value) {
    std::ranges::find(candidate, option, &OptionValue::first)->second = value;
    return candidate;
}

}  // namespace

SweepSetting sweep_scale(const SweepSetting& setting, long further) {
    SweepSetting scale{setting.option, {}};
    const std::vector<WrittenNumber> given = numbers_of(setting.values);
    if (given.size() < 2) return scale;
    const NumberRange range = range_of(setting.option);
    const std::vector<WrittenNumber> below = values_beyond(given[0], given[1], range, further);
    const std::vector<WrittenNumber> above =
        values_beyond(given[given.size() - 1], given[given.size() - 2], range, further);
    for (auto value = below.rbegin(); value != below.rend(); ++value)
        scale.values.push_back(value->text);
    for (const auto* numbers : {&given, &above})
        for (const WrittenNumber& value : *numbers) scale.values.push_back(value.text);
    return scale;
}

std::vector<std::optional<OptionValues>> neighbours_of(const SweepCell& cell,
                                                       std::size_t candidate) {
    const OptionValues& values = cell.candidates.at(candidate);
    std::vector<std::optional<OptionValues>> neighbours;
    for (const SweepSetting& scale : cell.scales) {
        const auto position = position_on(scale, values);
        if (!position) continue;
        neighbours.emplace_back();
        if (*position > 0)
            neighbours.back() = with_value(values, scale.option, scale.values[*position - 1]);
        neighbours.emplace_back();
        if (*position + 1 < scale.values.size())
            neighbours.back() = with_value(values, scale.option, scale.values[*position + 1]);
    }
    return neighbours;
}

std::optional<std::size_t> candidate_with(const SweepCell& cell, const OptionValues& values) {
    const auto found = std::ranges::find(cell.candidates, values);
    if (found == cell.candidates.end()) return std::nullopt;
    return static_cast<std::size_t>(found - cell.candidates.begin());
}

bool has_untried_values(const SweepCell& cell) {
    return std::ranges::any_of(cell.scales, [&](const SweepSetting& scale) {
        return std::ranges::any_of(scale.values, [&](const std::string& value) {
            return std::ranges::none_of(cell.candidates, [&](const OptionValues& candidate) {
                return *value_of(candidate, scale.option) == value;
            });
        });
    });
}

}  // namespace sotto
