#include "core/picture_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
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

/// Colours that people with any colour vision can tell apart (Okabe and Ito), black and grey.
constexpr const char *black = "#000000", *grey = "#777777", *blue = "#0072b2", *orange = "#e69f00",
                     *green = "#009e73", *purple = "#cc79a7", *vermilion = "#d55e00",
                     *sky = "#56b4e9";

/// Of curves that have no look of their own.
constexpr std::array<const char*, 6> colours{blue, orange, green, purple, sky, vermilion};
constexpr std::array<int, 10> points{7, 6, 5, 4, 9, 8, 11, 10, 13, 12};
constexpr int dashes = 4;

/// The look of its own that a name has, or null.
const PictureLook* known_look(std::string name) {
    static const std::map<std::string, PictureLook> known{
        {"none", {grey, 3, 0}},
        {"cdp", {black, 2, 1}},
        {"ldp", {vermilion, 1, 4}},
        {"decor", {orange, 1, 8}},
        {"corn", {blue, 1, 7}},
        {"decor horizon", {orange, 4, 9}},
        {"corn one-step", {sky, 1, 6}},
        {"corn horizon", {blue, 1, 7}},
        {"corn one-step, exact", {sky, 4, 2}},
        {"pairs", {green, 1, 9}},
        {"pairs q=1", {green, 1, 9}},
        {"pairs q=2", {green, 2, 11}},
        {"pairs q=3", {green, 3, 8}},
        {"pairs, records in turn", {green, 4, 12}},
        {"mafalda", {purple, 1, 5}},
        {"space-time", {blue, 1, 13}},
        {"anti-pgd", {orange, 1, 10}},
        {"no shared seed (ldp)", {vermilion, 2, 0}},
        {"local DP", {vermilion, 2, 0}},
        {"all messages (LDP)", {vermilion, 2, 0}},
        {"a seed for every pair (190)", {green, 1, 0}},
        {"laplace", {orange, 1, 12}},
        {"homomorphic", {purple, 1, 5}},
        {"central aggregation, T/n", {black, 2, 0}},
        {"trusted aggregator", {black, 2, 1}},
        {"one server, all data", {black, 1, 3}},
        {"each agent alone", {purple, 1, 10}},
        {"constant sign ([G])", {orange, 1, 8}},
        {"certified", {blue, 2, 7}},
        {"exact accounting", {blue, 1, 7}},
        {"Muffliato's bound", {orange, 1, 5}},
        {"the paper's formula", {purple, 4, 12}},
        {"messages", {sky, 1, 7}},
        {"secure sums", {purple, 1, 5}},
        {"[G] Theorem 2", {purple, 2, 4}},
        {"[G] Theorem 3", {orange, 2, 12}},
        {"[G] Theorem 4", {black, 2, 6}},
        {"Theorem 3", {orange, 1, 12}},
        {"Theorem 4", {black, 1, 6}},
        {"no better than zero", {grey, 3, 0}},
        {"n³", {grey, 3, 0}},
    };
    if (const std::size_t mark = name.find(" (ours)"); mark != std::string::npos)
        name.erase(mark, std::string_view(" (ours)").size());
    const auto found = known.find(name);
    return found == known.end() ? nullptr : &found->second;
}

using Looks = std::vector<std::pair<std::string, PictureLook>>;

bool is_taken(const Looks& looks, const PictureLook& look) {
    return std::ranges::any_of(looks, [&](const auto& known) { return known.second == look; });
}

/// The first of `values` that fewest of the curves have. @param of a curve's value.
template <class Values, class Value>
auto rarest(const Values& values, const Looks& looks, Value PictureLook::*of) {
    return *std::ranges::min_element(values, {}, [&](const auto& value) {
        return std::ranges::count_if(looks,
                                     [&](const auto& known) { return known.second.*of == value; });
    });
}

/// A look that no curve has, of this colour if there is one; the same for all when there is none.
PictureLook free_look(const Looks& looks, const std::string& colour) {
    std::vector<std::string> any{colour};
    any.insert(any.end(), colours.begin(), colours.end());
    for (const std::string& other : any)
        for (int dash = 1; dash <= dashes; ++dash)
            for (const int point : points)
                if (const PictureLook look{other, dash, point}; !is_taken(looks, look)) return look;
    return {colour, 1, 0};
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
    axis.ticks = named(inside.size() > 1 || all_there_is ? inside
                       : log                             ? log_ticks(axis.low, axis.high, most)
                                                         : even_ticks(axis.low, axis.high));
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

Looks looks_of(const std::vector<std::string>& curves) {
    Looks looks;
    std::vector<std::string> others;
    for (const std::string& curve : curves)
        if (const PictureLook* own = known_look(curve); own != nullptr && !is_taken(looks, *own))
            looks.emplace_back(curve, *own);
        else
            others.push_back(curve);
    std::map<std::string, std::string> colour_of;
    for (const std::string& curve : others) {
        const std::string base = curve.substr(0, curve.find(':'));
        const PictureLook* own = known_look(base);
        const std::string& colour =
            colour_of
                .try_emplace(
                    base,
                    own != nullptr ? own->colour : rarest(colours, looks, &PictureLook::colour))
                .first->second;
        const auto used = std::ranges::count_if(
            looks, [&](const auto& known) { return known.second.colour == colour; });
        PictureLook look{colour,
                         1 + static_cast<int>(used % dashes),
                         rarest(points, looks, &PictureLook::point)};
        if (is_taken(looks, look)) look = free_look(looks, colour);
        looks.emplace_back(curve, look);
    }
    std::ranges::sort(looks, {}, [&](const auto& known) {
        return std::ranges::find(curves, known.first) - curves.begin();
    });
    return looks;
}

std::size_t letters_in(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace sotto
