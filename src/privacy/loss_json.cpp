#include "privacy/loss_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_input.hpp"

namespace sotto {

namespace {

using LossJson = nlohmann::ordered_json;

double finite_number(const LossJson& json) {
    if (!json.is_number())
        throw DataError(fmt::format("a {} stands for a number", json.type_name()));
    const auto value = json.get<double>();
    if (!(value >= 0) || std::isinf(value)) throw DataError("a loss is not finite, or below 0");
    return value;
}

std::vector<SampledRounds> rounds_from(const LossJson& json) {
    if (!json.is_array() || json.empty() || json.size() > most_groups_read)
        throw DataError("the sampled rounds of a loss are damaged");
    std::vector<SampledRounds> rounds;
    for (const LossJson& one : json) {
        if (!one.is_object() || one.size() != 3 || !one.contains("noise_multiplier") ||
            !one.contains("sampling_probability") || !one.contains("count"))
            throw DataError("the sampled rounds of a loss are damaged");
        rounds.push_back({finite_number(one.at("noise_multiplier")),
                          finite_number(one.at("sampling_probability")),
                          integer_from_json<long>(one.at("count"))});
    }
    return rounds;
}

}  // namespace

LossJson loss_json(const PrivacyLoss& loss) {
    const PrivacyLoss::Parts parts = loss.parts();
    LossJson json = LossJson::object();
    const bool other = parts.pure || !parts.sampled.empty();
    if (!other || parts.mu_squared > 0) json["mu^2"] = parts.mu_squared;
    if (parts.pure) json["epsilon"] = *parts.pure;
    for (const SampledRounds& one : parts.sampled)
        json["sampled_rounds"].push_back({{"noise_multiplier", one.noise_multiplier},
                                          {"sampling_probability", one.sampling_probability},
                                          {"count", one.count}});
    return json;
}

PrivacyLoss loss_from_json(const LossJson& json) {
    if (!json.is_object() || json.empty()) throw DataError("a loss is damaged");
    PrivacyLoss::Parts parts;
    for (const auto& [key, value] : json.items()) {
        if (key == "mu^2")
            parts.mu_squared = finite_number(value);
        else if (key == "epsilon")
            parts.pure = finite_number(value);
        else if (key == "sampled_rounds")
            parts.sampled = rounds_from(value);
        else
            throw DataError("a loss is of no known kind (known: mu^2, epsilon, sampled_rounds)");
    }
    try {
        return PrivacyLoss::of(parts);
    } catch (const PrivacyError& error) {
        throw DataError(error.what());
    }
}

}  // namespace sotto
