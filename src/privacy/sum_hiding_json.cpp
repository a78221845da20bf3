#include "privacy/sum_hiding_json.hpp"

namespace sotto {

namespace {

using SumJson = nlohmann::ordered_json;

SumJson json_of(const std::optional<SumExample>& example) {
    if (!example) return {};
    return {{"colluders", example->colluders},
            {"exposed", example->exposed},
            {"round", example->round}};
}

SumJson json_of(const SumsAgainst& against, long rounds) {
    SumJson json{{"colluders", against.colluders}, {"computed", against.computed}};
    if (!against.computed) return json;
    json["exposed"] = against.exposed_in(1);
    json["exposed_in_every_round"] = against.exposed_in(rounds);
    json["rounds_exposed"] = against.rounds_exposed;
    json["least_hidden"] = against.least_hidden;
    json["smallest_sum"] = against.smallest_sum ? SumJson(*against.smallest_sum) : SumJson();
    json["worst"] = json_of(against.worst);
    return json;
}

}  // namespace

nlohmann::ordered_json json_of(const SumHiding& hiding) {
    SumJson against = SumJson::array();
    for (const SumsAgainst& one : hiding.against) against.push_back(json_of(one, hiding.rounds));
    return {{"withstand", hiding.asked},
            {"rounds", hiding.rounds},
            {"gossip_steps", hiding.gossip_steps},
            {"mask_partners", hiding.mask_partners},
            {"against", std::move(against)},
            {"known", json_of(hiding.known)}};
}

}  // namespace sotto
