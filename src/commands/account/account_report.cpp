#include "commands/account/account_report.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "account/published_bound.hpp"
#include "core/json_output.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// @param published as in DistanceFigures.
void add_published(Json& json, const std::vector<std::optional<double>>& published) {
    const auto bounds = view_bounds();
    for (std::size_t i = 0; i < bounds.size(); ++i)
        json[bounds[i]->name] = i < published.size() ? number_or_null(published[i]) : Json();
}

Json json_of(const PairFigure& pair) {
    const SquaredSensitivity& squared = pair.squared;
    const auto value = [&](double figure) {
        return squared.infinite ? Json() : number_or_null(figure);
    };
    Json json;
    json["observers"] = pair.observers;
    json["target"] = pair.target;
    json["distance"] = pair.distance >= 0 ? Json(pair.distance) : Json();
    json["sensitivity_squared"] = {{"constant_sign", value(squared.constant_sign)},
                                   {"abs_sum", value(squared.abs_sum)},
                                   {"tight_lower", value(squared.tight_lower)},
                                   {"tight_upper", value(squared.tight_upper)},
                                   {"all_messages", number_or_null(squared.trivial)}};
    json["mu"] = number_or_null(pair.guarantee.loss.mu());
    json["epsilon"] = number_or_null(pair.guarantee.epsilon);
    json["renyi_alpha2"] = number_or_null(renyi_of_order_two(pair.guarantee));
    json["infinite"] = pair.guarantee.infinite();
    json["ldp"] = number_or_null(pair.eavesdropper.epsilon);
    std::vector<std::optional<double>> published;
    for (const auto& guarantee : pair.published)
        published.push_back(guarantee ? std::optional(guarantee->epsilon) : std::nullopt);
    add_published(json, published);
    json["argument"] = pair.argument.text;
    return json;
}

void add_distance_figures(Json& json, const DistanceFigures& figures) {
    json["min"] = number_or_null(figures.min);
    json["mean"] = number_or_null(figures.mean);
    json["max"] = number_or_null(figures.max);
    json["ldp"] = number_or_null(figures.ldp);
    add_published(json, figures.published);
}

Json json_of(const DistanceRow& row) {
    Json json = {
        {"distance", row.distance}, {"pairs", row.pairs}, {"infinite_pairs", row.infinite}};
    add_distance_figures(json, row.epsilon);
    add_distance_figures(json["renyi_alpha2"], row.renyi);
    return json;
}

Json json_of(const CoalitionSearch& search) {
    return {{"size", search.size},
            {"method", search.exhaustive ? "exhaustive" : "search"},
            {"evaluated", search.evaluated},
            {"total", search.total},
            {"proved_worst", search.exhaustive || search.bound_attained},
            {"upper_mu", number_or_null(search.upper.loss.mu())},
            {"upper_epsilon", number_or_null(search.upper.epsilon)}};
}

Json json_of(const std::optional<Guarantee>& guarantee) {
    if (!guarantee) return {};
    return {{"mu", number_or_null(guarantee->loss.mu())},
            {"epsilon", number_or_null(guarantee->epsilon)},
            {"infinite", guarantee->infinite()}};
}

Json json_of(const DropoutFigure& figure) {
    return {{"silent", json_of(figure.silent)},
            {"revealed", json_of(figure.revealed)},
            {"late", json_of(figure.late)}};
}

Json json_of(const DropoutAccount& account) {
    Json json = json_of(account.worst);
    json["agents"] = account.most;
    json["missing"] = account.missing.empty() ? Json() : Json(account.missing);
    json["by_target"] = Json::array();
    for (const DropoutFigure& figure : account.figures) {
        Json row = {{"target", figure.target}};
        row.update(json_of(figure));
        json["by_target"].push_back(std::move(row));
    }
    return json;
}

/// What every account has.
void add_figures(Json& json, const AccountResult& result) {
    json["pairs"] = Json::array();
    for (const PairFigure& pair : result.pairs) json["pairs"].push_back(json_of(pair));
    json["by_distance"] = Json::array();
    for (const DistanceRow& row : result.by_distance) json["by_distance"].push_back(json_of(row));
    json["mean_epsilon"] = number_or_null(result.mean_epsilon);
    json["ldp"] = number_or_null(result.eavesdropper.epsilon);
    json["infinite"] = result.breaks_protection();
    json["bounds"] = Json::array();
    const auto bounds = view_bounds();
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (result.has_published(i))
            json["bounds"].push_back({{"name", bounds[i]->name},
                                      {"source", bounds[i]->source},
                                      {"says", bounds[i]->says}});
}

}  // namespace

std::string account_report_json(const AccountResult& result,
                                const AccountConfig& config,
                                const AccountSubject& subject) {
    const PlanConfig& plan = config.subject.plan;
    Json json;
    json["view"] = result.view;
    json["mechanism"] = subject.plan.mechanism;
    json["agents"] = subject.plan.agents;
    json["rounds"] = plan.rounds;
    json["gossip_steps"] = plan.gossip_steps;
    json["participation"] = name_of(plan.participation);
    json["adjacency"] = config.subject.gives_sensitivity() ? Json() : Json(name_of(plan.adjacency));
    json["sensitivity"] = subject.exposures.front().sensitivity;
    json["delta"] = subject.delta;
    add_figures(json, result);
    if (result.search) json["worst_coalition"] = json_of(*result.search);
    if (result.dropouts) json["dropouts"] = json_of(*result.dropouts);
    json["plan_hash"] = to_hex(subject.plan.hash());
    json["seconds"] = result.seconds;
    return to_text(json);
}

std::string matrices_report_json(const AccountResult& result, double sensitivity, double delta) {
    Json json;
    json["view"] = result.view;
    json["sensitivity"] = sensitivity;
    json["delta"] = delta;
    add_figures(json, result);
    json["seconds"] = result.seconds;
    return to_text(json);
}

}  // namespace sotto
