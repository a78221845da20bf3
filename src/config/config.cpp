#include "config/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

std::optional<Eigen::Index> BatchSize::of(Eigen::Index records) const {
    if (number) return *number;
    if (records == 0) return std::nullopt;
    const double part = std::round(share * static_cast<double>(records));
    return std::clamp(static_cast<Eigen::Index>(part), Eigen::Index{1}, records);
}

BatchSize parse_batch_size(std::string_view option, std::string_view text) {
    BatchSize size;
    if (text == "all") return std::nullopt;
    const std::vector<std::string> words{"all"};
    if (nearest_name(text, words)) throw unknown_name_error(option, text, words);
    const double value = parse_real(option, text);
    const bool whole = value >= 1 && value <= 1e12 && value == std::floor(value);
    if (!whole && !(value > 0 && value < 1))
        throw ConfigError(fmt::format(
            "{}: {} is not allowed (allowed: a whole number from 1 to 1e12, a share of each "
            "agent's records above 0 and below 1, or all)",
            option,
            text));
    if (whole) return static_cast<long>(value);
    size.number.reset();
    size.share = value;
    return size;
}

std::string name_of(const BatchSize& size) {
    if (size.number) return fmt::format("{}", *size.number);
    return size.share == 1 ? std::string("all") : fmt::format("{}", size.share);
}

namespace {

constexpr const char* optimised = "optimised";

}  // namespace

std::vector<std::string> mixing_rule_names() {
    std::vector<std::string> names = mixing_names();
    names.emplace_back(optimised);
    return names;
}

bool is_mixing_rule(const std::string& name) {
    const auto names = mixing_rule_names();
    return std::ranges::find(names, name) != names.end();
}

bool is_optimised(const GraphConfig& config) { return config.mixing == optimised; }

}  // namespace sotto
