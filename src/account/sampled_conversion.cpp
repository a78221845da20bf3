#include "account/sampled_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "core/json_output.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/noise_multiplier.hpp"

namespace sotto {

namespace {

/// The three words of one phase.
std::array<std::string_view, 3> words_of_phase(std::string_view option, std::string_view phase) {
    const std::size_t first = phase.find(':');
    const std::size_t second = first == std::string_view::npos ? first : phase.find(':', first + 1);
    if (second == std::string_view::npos || phase.find(':', second + 1) != std::string_view::npos)
        throw ConfigError(
            fmt::format("{}: '{}' is not allowed (must be S:q:T, noise multiplier, sampling "
                        "probability and rounds)",
                        option,
                        phase));
    return {phase.substr(0, first),
            phase.substr(first + 1, second - first - 1),
            phase.substr(second + 1)};
}

template <class Number>
Number number_from(std::string_view option, std::string_view name, std::string_view word) {
    Number value{};
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc() || end != word.data() + word.size())
        throw ConfigError(fmt::format("{}: {} '{}' is no number", option, name, word));
    return value;
}

void require_noise_multiplier(std::string_view option, double noise) {
    if (!(noise >= 1e-3 && noise <= 1e9))
        throw ConfigError(fmt::format(
            "{}: noise multiplier {} is not allowed (must be from 0.001 to 1e9)", option, noise));
}

void require_count(std::string_view option, long count) {
    if (count < 1 || count > most_sampled_rounds)
        throw ConfigError(fmt::format("{}: {} rounds are not allowed (must be from 1 to {})",
                                      option,
                                      count,
                                      most_sampled_rounds));
}

/// A figure of all phases, if they have it in common.
template <class Figure>
nlohmann::ordered_json common(const SampledConversion& conversion, Figure SampledRounds::*figure) {
    const bool same = std::ranges::all_of(conversion.rounds, [&](const SampledRounds& one) {
        return one.*figure == conversion.rounds.front().*figure;
    });
    return same ? nlohmann::ordered_json(conversion.rounds.front().*figure)
                : nlohmann::ordered_json();
}

}  // namespace

void require_sampling_probability(std::string_view option, double probability) {
    if (!(probability > 0 && probability <= 1))
        throw ConfigError(
            fmt::format("{}: probability {} is not allowed (must be above 0 and at most 1)",
                        option,
                        probability));
}

std::vector<SampledRounds> parse_sampled_rounds(std::string_view option, std::string_view text) {
    std::vector<SampledRounds> rounds;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto [noise, probability, count] =
            words_of_phase(option, text.substr(begin, end - begin));
        const SampledRounds& one =
            rounds.emplace_back(number_from<double>(option, "noise multiplier", noise),
                                number_from<double>(option, "sampling probability", probability),
                                number_from<long>(option, "rounds", count));
        require_noise_multiplier(option, one.noise_multiplier);
        require_sampling_probability(option, one.sampling_probability);
        require_count(option, one.count);
        begin = end + 1;
    }
    return rounds;
}

SampledConversion convert_sampled_rounds(std::span<const SampledRounds> rounds, double delta) {
    const Certified epsilon = PrivacyLoss::sampled(rounds).epsilon(delta);
    return {{rounds.begin(), rounds.end()}, epsilon.upper, epsilon.lower, delta};
}

SampledConversion convert_sampled_budget(double epsilon,
                                         double delta,
                                         double probability,
                                         long count) {
    const SampledPhase phase{probability, count};
    const SampledRounds rounds{
        noise_multiplier_for(epsilon, delta, {&phase, 1}), probability, count};
    return convert_sampled_rounds({&rounds, 1}, delta);
}

std::string sampled_conversion_json(const SampledConversion& conversion) {
    nlohmann::ordered_json json;
    json["epsilon"] = conversion.epsilon;
    json["epsilon_lower"] = conversion.epsilon_lower;
    json["delta"] = conversion.delta;
    json["noise_multiplier"] = common(conversion, &SampledRounds::noise_multiplier);
    json["sampling_probability"] = common(conversion, &SampledRounds::sampling_probability);
    long count = 0;
    for (const SampledRounds& one : conversion.rounds) {
        count += one.count;
        json["sampled_rounds"].push_back({{"noise_multiplier", one.noise_multiplier},
                                          {"sampling_probability", one.sampling_probability},
                                          {"count", one.count}});
    }
    json["rounds"] = count;
    return to_text(json);
}

std::string sampled_conversion_text(const SampledConversion& conversion) {
    std::string text;
    for (const SampledRounds& one : conversion.rounds)
        text += fmt::format(
            "{} rounds, each record in one with probability {:.9g}, noise multiplier {:.9g}\n",
            one.count,
            one.sampling_probability,
            one.noise_multiplier);
    const double gap =
        conversion.epsilon > 0 ? 1 - conversion.epsilon_lower / conversion.epsilon : 0;
    return text +
           fmt::format(
               "epsilon {:.9g} at delta {:g}, for a record added or removed (certified; none "
               "below {:.9g} holds: relative gap {:.2g}{})\n",
               conversion.epsilon,
               conversion.delta,
               conversion.epsilon_lower,
               gap,
               gap > 0.01 ? "; no lattice was fine enough, so that this upper bound may be loose"
                          : "");
}

}  // namespace sotto
