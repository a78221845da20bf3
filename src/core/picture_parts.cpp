#include "core/picture_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "core/gnuplot.hpp"

namespace sotto {

namespace {

/// How far a multiple of the step may lie outside because of rounding.
constexpr double slack = 1e-9;

/// Three to seven multiples of 1, 2, 2.5 or 5 times a power of ten.
std::vector<double> even_ticks(double low, double high) {
    const double third = (high - low) / 3;
    const double power = std::pow(10.0, std::floor(std::log10(third)));
    double step = power;
    for (const double factor : {2.0, 2.5, 5.0})
        if (factor * power <= third) step = factor * power;
    std::vector<double> ticks;
    const double first = std::ceil(low / step - slack), last = std::floor(high / step + slack);
    const double steps =
        std::min(last - first, 9.0);  // rounding can end in more, where values are huge
    for (double k = 0; k <= steps; ++k) ticks.push_back(step * (first + k) + 0.0);
    return ticks;
}

/// Powers of ten if there are three; else 1, 2 and 5 or 1 and 3 times these; else even ticks.
std::vector<double> log_ticks(double low, double high, std::size_t most) {
    const auto inside = [&](std::initializer_list<double> steps) {
        std::vector<double> found;
        for (double k = std::floor(std::log10(low)); k <= std::ceil(std::log10(high)); ++k)
            for (const double step : steps)
                if (const double value = step * std::pow(10.0, k); low <= value && value <= high)
                    found.push_back(value);
        return found;
    };
    if (const std::vector<double> decades = inside({1}); decades.size() > 2) {
        std::vector<double> some;
        for (std::size_t i = 0; i < decades.size(); i += (decades.size() + 5) / 6)
            some.push_back(decades[i]);
        return some;
    }
    for (const auto& found : {inside({1, 2, 5}), inside({1, 3})})
        if (found.size() > 2 && found.size() <= most) return found;
    return even_ticks(low, high);
}

/// Two to nine times every power of ten, unless these are too many to be seen apart.
std::vector<double> small_log_ticks(double low, double high) {
    std::vector<double> found;
    constexpr double most_decades = 4.5;
    if (std::log10(high / low) > most_decades) return found;
    for (double k = std::floor(std::log10(low)); k <= std::log10(high); ++k)
        for (int step = 1; step < 10; ++step)
            if (const double value = step * std::pow(10.0, k); low <= value && value <= high)
                found.push_back(value);
    return found;
}

std::string raised(int exponent) {
    static constexpr std::array<const char*, 10> digits{
        "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text;
    for (const char c : std::to_string(exponent))
        text += c == '-' ? "⁻" : digits.at(static_cast<std::size_t>(c - '0'));
    return text;
}

/// Ticks with their texts; written as powers of ten if all are and one is far from 1.
std::vector<std::pair<double, std::string>> named(const std::vector<double>& values) {
    const auto exponent_of = [](double value) {
        return value > 0 ? static_cast<int>(std::lround(std::log10(value))) : 0;
    };
    const bool powers = std::ranges::all_of(values, [&](double value) {
        return std::abs(value / std::pow(10.0, exponent_of(value)) - 1) < 1e-9;
    });
    const bool near_one =
        std::ranges::all_of(values, [](double value) { return value >= 1e-3 && value < 1e5; });
    std::vector<std::pair<double, std::string>> ticks;
    for (const double value : values)
        ticks.emplace_back(
            value,
            powers && !near_one ? "10" + raised(exponent_of(value)) : fmt::format("{:g}", value));
    return ticks;
}

}  // namespace

double PictureAxis::part(double value) const {
    const auto scaled = [&](double number) { return log ? std::log(number) : number; };
    return (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
}

double PictureAxis::moved(double value, double part) const {
    return log ? value * std::pow(high / low, part) : value + (high - low) * part;
}

double PictureAxis::nearest_inside(double value) const {
    return std::clamp(value, std::min(low, high), std::max(low, high));
}

std::size_t PictureAxis::longest_name() const {
    std::size_t longest = 0;
    for (const auto& [value, name] : ticks) {
        std::istringstream lines(name);
        for (std::string line; std::getline(lines, line);)
            longest = std::max(longest, letters_in(line));
    }
    return longest;
}

std::string PictureAxis::commands(char name) const {
    std::string marks;
    for (const auto& [value, text] : ticks)
        marks +=
            fmt::format("{}{} {:.10g}", marks.empty() ? "" : ", ", quoted_for_gnuplot(text), value);
    for (const double value : small_ticks) marks += fmt::format(", '' {:.10g} 1", value);
    return fmt::format("{0} logscale {1}\nset {1}range [{2:.10g}:{3:.10g}]\nset {1}tics ({4})\n",
                       log ? "set" : "unset",
                       name,
                       low,
                       high,
                       marks);
}

PictureAxis axis_of(std::vector<double> values,
                    bool log,
                    const std::vector<double>& marks,
                    double room,
                    std::size_t most) {
    if (log) std::erase_if(values, [](double value) { return !(value > 0); });
    const auto [least, largest] = std::ranges::minmax(values);
    PictureAxis axis{least, largest, log};
    if (log) {
        const double factor = std::max(std::pow(largest / least, room), 1.02);
        axis.low = std::max(least / factor, std::numeric_limits<double>::min());
        axis.high = std::min(largest * factor, std::numeric_limits<double>::max());
    } else {
        const double span = least < largest ? largest - least : least != 0 ? std::abs(least) : 1.0;
        axis.low = least - span * room;
        axis.high = largest + span * room;
    }
    std::vector<double> inside;
    std::ranges::copy_if(marks, std::back_inserter(inside), [&](double mark) {
        return axis.low <= mark && mark <= axis.high;
    });
    const bool all_there_is = marks.size() == 1 && least == largest && inside.size() == 1;
    if (inside.size() < 2 && !all_there_is) return axis_between(axis.low, axis.high, log, most);
    axis.ticks = named(inside);
    return axis;
}

PictureAxis axis_between(double low, double high, bool log, std::size_t most) {
    PictureAxis axis{low, high, log};
    axis.ticks = named(log ? log_ticks(low, high, most) : even_ticks(low, high));
    if (log) axis.small_ticks = small_log_ticks(low, high);
    return axis;
}

PictureAxis axis_of_bars(double top) { return {0, top, false, named(even_ticks(0, top))}; }

PictureAxis axis_of_words(const std::vector<std::string>& words, bool down) {
    PictureAxis axis{-0.5, static_cast<double>(words.size()) - 0.5};
    if (down) std::swap(axis.low, axis.high);
    for (std::size_t i = 0; i < words.size(); ++i)
        axis.ticks.emplace_back(static_cast<double>(i), words[i]);
    return axis;
}

std::size_t letters_in(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace sotto
