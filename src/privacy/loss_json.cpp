#include "privacy/loss_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using LossJson = nlohmann::ordered_json;

double finite_number(const JsonValue& json) {
    if (!(json.number() >= 0)) json.fail("0 or more");
    return json.number();
}

std::vector<SampledRounds> rounds_from(const JsonValue& json) {
    const auto groups = json.items();
    if (groups.empty() || groups.size() > most_groups_read)
        json.fail(fmt::format("from 1 to {} groups of rounds", most_groups_read));
    std::vector<SampledRounds> rounds;
    for (const JsonValue& one : groups) {
        if (one.members().size() != 3) one.fail("noise_multiplier, sampling_probability and count");
        rounds.push_back({finite_number(one.at("noise_multiplier")),
                          finite_number(one.at("sampling_probability")),
                          one.at("count").integer<long>()});
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

PrivacyLoss loss_from_json(const JsonValue& json) {
    constexpr std::string_view kinds = "an object of mu^2, epsilon, sampled_rounds";
    const auto members = json.members();
    if (members.empty()) json.fail(kinds);
    PrivacyLoss::Parts parts;
    for (const auto& [key, value] : members) {
        if (key == "mu^2")
            parts.mu_squared = finite_number(value);
        else if (key == "epsilon")
            parts.pure = finite_number(value);
        else if (key == "sampled_rounds")
            parts.sampled = rounds_from(value);
        else
            json.fail(kinds);
    }
    try {
        return PrivacyLoss::of(parts);
    } catch (const PrivacyError& error) {
        throw DataError(error.what());
    }
}

}  // namespace sotto
