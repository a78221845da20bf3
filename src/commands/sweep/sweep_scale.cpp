#include "commands/sweep/sweep_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

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

/// Ascending, each number once.
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

/// @param upwards whether it is to be above `last`; below otherwise.
WrittenNumber whole_beyond(double exact, double last, bool upwards) {
    const double rounded = std::round(exact);
    const double number = upwards ? std::max(rounded, last + 1) : std::min(rounded, last - 1);
    return {number, fmt::format("{:.0f}", number)};
}

WrittenNumber four_digits(double exact) {
    const std::string text = fmt::format("{:.4g}", exact);
    return {parse_real("value", text), text};
}

/// Values beyond the outermost, nearest first. @param inner the number beside it.
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

/// Where on a scale a candidate stands.
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
