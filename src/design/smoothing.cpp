#include "sotto/design/smoothing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

long ModelAverage::tail_rounds(long rounds) const {
    return std::clamp(std::lround(std::ceil(value * static_cast<double>(rounds))), 1L, rounds);
}

ModelAverage parse_average(std::string_view option, std::string_view text) {
    constexpr std::string_view tail = "tail:", exponential = "ema:";
    if (text == "none") return {};
    if (text.starts_with(tail)) {
        const double share = parse_real(option, text.substr(tail.size()));
        if (!(share > 0 && share <= 1))
            throw ConfigError(fmt::format(
                "{}: {} is not allowed (tail:F with F above 0, at most 1)", option, text));
        return {ModelAverage::Kind::tail, share};
    }
    if (text.starts_with(exponential)) {
        const double decay = parse_real(option, text.substr(exponential.size()));
        if (!(decay >= 0 && decay < 1))
            throw ConfigError(fmt::format(
                "{}: {} is not allowed (ema:B with B from 0 to below 1)", option, text));
        return {ModelAverage::Kind::exponential, decay};
    }
    const std::vector<std::string> allowed{"none", "tail:F", "ema:B"};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const ModelAverage& average) {
    switch (average.kind) {
        case ModelAverage::Kind::tail:
            return fmt::format("tail:{}", average.value);
        case ModelAverage::Kind::exponential:
            return fmt::format("ema:{}", average.value);
        case ModelAverage::Kind::none:
            break;
    }
    return "none";
}

void Smoothing::set_average(const ModelAverage& average, long rounds) {
    tail_rounds = average.kind == ModelAverage::Kind::tail ? average.tail_rounds(rounds) : 1;
    decay = average.kind == ModelAverage::Kind::exponential ? average.value : 0;
}

}  // namespace sotto
