#include "options/network_option.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <span>
#include <utility>

#include "options/option_formats.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Unit = std::pair<std::string_view, double>;
// Longer names first: each ends with the next.
/// How many are a second.
constexpr std::array<Unit, 3> latency_units{{{"ms", 1e3}, {"us", 1e6}, {"s", 1}}};
/// Bits.
constexpr std::array<Unit, 4> bandwidth_units{
    {{"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {"bit", 1}}};

std::string names_of(std::span<const Unit> units) {
    std::vector<std::string> names;
    for (const auto& unit : units) names.emplace_back(unit.first);
    return join(names);
}

/// A number, and what its unit stands for.
std::pair<double, double> read_quantity(std::string_view option,
                                        std::string_view text,
                                        std::span<const Unit> units) {
    for (const auto& [name, value] : units)
        if (text.size() > name.size() && text.ends_with(name))
            return {parse_real(option, text.substr(0, text.size() - name.size())), value};
    throw ConfigError(fmt::format("{}: '{}' is not allowed (must be a number followed by {})",
                                  option,
                                  text,
                                  names_of(units)));
}

int read_count(std::string_view option, std::string_view text) {
    const long long count = parse_integer(option, text);
    require_in_range(option, static_cast<double>(count), 1, std::numeric_limits<int>::max());
    return static_cast<int>(count);
}

}  // namespace

NetworkSpec parse_network(std::string_view option, std::string_view text) {
    const auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 4)
        throw ConfigError(
            fmt::format("{}: '{}' is not allowed (must be LATENCY:BANDWIDTH[:HOSTS[:RANKS]], as "
                        "10ms:100Mbit:3)",
                        option,
                        text));
    NetworkSpec spec;
    const std::string latency = fmt::format("{}, latency", option);
    const std::string bandwidth = fmt::format("{}, bandwidth", option);
    const auto [time, a_second] = read_quantity(latency, parts[0], latency_units);
    spec.latency_seconds = time / a_second;
    require_in_range(latency, spec.latency_seconds, 0, 3600);
    const auto [speed, bits] = read_quantity(bandwidth, parts[1], bandwidth_units);
    spec.bits_per_second = speed * bits;
    require_positive(bandwidth, spec.bits_per_second);
    if (parts.size() > 2) spec.hosts = read_count(fmt::format("{}, hosts", option), parts[2]);
    if (parts.size() > 3) spec.ranks = read_count(fmt::format("{}, ranks", option), parts[3]);
    return spec;
}

std::string name_of(const NetworkSpec& spec) {
    std::string text =
        fmt::format("{}s:{}bit", real_text(spec.latency_seconds), real_text(spec.bits_per_second));
    if (spec.hosts) text += fmt::format(":{}", *spec.hosts);
    if (spec.ranks) text += fmt::format(":{}", *spec.ranks);
    return text;
}

}  // namespace sotto
