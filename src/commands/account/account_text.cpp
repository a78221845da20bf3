#include "commands/account/account_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "account/published_bound.hpp"
#include "core/json.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/views/view_record.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

constexpr std::size_t pairs_shown = 10;

std::string text_of(double value) {
    if (std::isnan(value)) return "-";
    return std::isinf(value) ? "infinite" : fmt::format("{:.6g}", value);
}

std::string text_of(const std::optional<double>& value) { return value ? text_of(*value) : "-"; }

std::string observers_of(const PairFigure& pair) {
    return pair.observers.empty() ? "-" : fmt::format("{}", fmt::join(pair.observers, ","));
}

std::string search_text(const CoalitionSearch& search) {
    const std::string bound =
        search.upper.infinite()
            ? std::string("no upper bound is known")
            : fmt::format("no coalition of {} learns more than epsilon {:.6g} (all messages seen)",
                          search.size,
                          search.upper.epsilon);
    if (search.near_gap)
        return fmt::format(
            "figures are bounds for all {:.3g} coalitions of {}, from the noise near each agent; "
            "the coalitions named reach mu within {:.2g} of them",
            search.total,
            search.size,
            *search.near_gap);
    if (search.exhaustive)
        return fmt::format("all {:.0f} coalitions of {} were tried", search.total, search.size);
    if (search.bound_attained)
        return fmt::format(
            "{} coalitions tried of {:.3g}; the one found attains the upper bound, none is worse",
            search.evaluated,
            search.total);
    return fmt::format(
        "{} coalitions tried of {:.3g} (greedy, then exchange of single members): a lower bound of "
        "the worst; {}",
        search.evaluated,
        search.total,
        bound);
}

/// @param graph gives the agents' names; null: numbers only.
std::string pair_text(const PairFigure& pair, const Graph* graph) {
    const auto name = [&](int agent) {
        return graph != nullptr ? label_of_agent(*graph, agent) : std::to_string(agent);
    };
    const auto value = [&](double figure) {
        return pair.squared.infinite || std::isinf(figure) ? std::string("-") : text_of(figure);
    };
    return fmt::format(
        "{:<18} {:<18} {:>8} {:>10} {:>10} {:>11} {:>10} {:>10}\n",
        pair.observers.size() == 1 ? name(pair.observers.front()) : observers_of(pair),
        name(pair.target),
        pair.distance >= 0 ? std::to_string(pair.distance) : "-",
        text_of(pair.guarantee.epsilon),
        text_of(pair.guarantee.loss.mu()),
        value(pair.squared.constant_sign),
        value(pair.squared.abs_sum),
        value(pair.squared.tight_upper));
}

std::string epsilon_text(const std::optional<Guarantee>& guarantee) {
    return guarantee ? "epsilon " + text_of(guarantee->epsilon) : "-";
}

std::string dropouts_text(const DropoutAccount& account) {
    return fmt::format(
        "dropouts   {} missing in every round, all other messages seen:\n"
        "           nothing revealed: {}; streams shared with the missing published: {};\n"
        "           a missing agent whose message is seen after that: {}\n",
        account.missing.empty()
            ? fmt::format("messages of any {} agent{}", account.most, account.most == 1 ? "" : "s")
            : fmt::format("messages of {}", fmt::join(account.missing, ",")),
        epsilon_text(account.worst.silent),
        epsilon_text(account.worst.revealed),
        epsilon_text(account.worst.late));
}

std::string persons_text(const PersonAccount& account) {
    std::string text = fmt::format(
        "persons    epsilon {} about a person with records at up to {} agents{}",
        text_of(account.guarantee.epsilon),
        account.agents,
        account.worst.agents.empty()
            ? std::string()
            : fmt::format(", most at {}{}",
                          fmt::join(account.worst.agents, ","),
                          account.worst.coalition.empty()
                              ? std::string()
                              : fmt::format(" to {}", fmt::join(account.worst.coalition, ","))));
    if (account.at_least.epsilon < account.guarantee.epsilon * (1 - 1e-4))
        text += fmt::format("\n           (an upper bound{}; that set alone reaches {})",
                            account.exhaustive ? "" : ", as there are too many sets to try",
                            text_of(account.at_least.epsilon));
    return text +
           ",\n           to an observer of all messages with the seeds of the view's members\n";
}

/// The worst pairs.
std::string pairs_text(const AccountResult& result, const Graph* graph) {
    std::string text = fmt::format("\n{:<18} {:<18} {:>8} {:>10} {:>10} {:>11} {:>10} {:>10}\n",
                                   "observers",
                                   "target",
                                   "distance",
                                   "epsilon",
                                   "mu",
                                   "constant",
                                   "abs sum",
                                   "tight");
    const std::size_t shown = std::min(result.pairs.size(), pairs_shown);
    for (std::size_t i = 0; i < shown; ++i) text += pair_text(result.pairs[i], graph);
    if (shown < result.pairs.size())
        text += fmt::format("... {} more pairs (--json has all)\n", result.pairs.size() - shown);
    const auto broken = std::ranges::count_if(
        result.pairs, [](const PairFigure& pair) { return pair.guarantee.infinite(); });
    if (broken > 0)
        text += fmt::format(
            "\nNOT protected: in {} of {} pairs the observer can compute a noiseless function of "
            "the target's input\n",
            broken,
            result.pairs.size());
    return text;
}

std::string mean_text(const AccountResult& result) {
    return fmt::format("mean       epsilon {} over {} pair{}; {:.3g} s\n",
                       text_of(result.mean_epsilon),
                       result.pairs.size(),
                       result.pairs.size() == 1 ? "" : "s",
                       result.seconds);
}

/// @param figures the member of a row to show.
std::string distance_table_text(const AccountResult& result,
                                DistanceFigures DistanceRow::*figures) {
    const auto bounds = view_bounds();
    std::string text = fmt::format("\n{:>8} {:>7} {:>10} {:>10} {:>10} {:>10}",
                                   "distance",
                                   "pairs",
                                   "min",
                                   "mean",
                                   "max",
                                   "outsider");
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (result.has_published(i)) text += fmt::format(" {:>10}", bounds[i]->title);
    for (const DistanceRow& row : result.by_distance) {
        const DistanceFigures& shown = row.*figures;
        text += fmt::format("\n{:>8} {:>7} {:>10} {:>10} {:>10} {:>10}",
                            row.distance,
                            row.pairs,
                            text_of(shown.min),
                            text_of(shown.mean),
                            text_of(shown.max),
                            text_of(shown.ldp));
        for (std::size_t i = 0; i < bounds.size(); ++i)
            if (result.has_published(i))
                text += fmt::format(" {:>10}", text_of(shown.published[i]));
    }
    return text + "\n";
}

std::string by_distance_text(const AccountResult& result) {
    if (result.by_distance.empty()) return {};
    std::string text = distance_table_text(result, &DistanceRow::epsilon);
    if (result.has_renyi())
        text += "\nRenyi divergence of order 2" + distance_table_text(result, &DistanceRow::renyi);
    return text;
}

/// Explains the columns of published bounds.
std::string bounds_text(const AccountResult& result) {
    const auto bounds = view_bounds();
    std::string text;
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (result.has_published(i))
            text += fmt::format(
                "bound      {:<10} {}: {}\n", bounds[i]->title, bounds[i]->source, bounds[i]->says);
    return text;
}

/// Graph, plan and departures.
std::string subject_text(const SubjectConfig& config, const AccountSubject& subject) {
    const Graph& graph = *subject.process.graph;
    const PlanConfig& asked = subject.settled;
    std::string text = fmt::format("graph      {}, {} agents, {} edges, mixing {}\n",
                                   subject.built.description,
                                   graph.agents(),
                                   graph.links().size(),
                                   config.graph.mixing);
    for (const auto& note : subject.built.notes) text += fmt::format("note       {}\n", note);
    text += fmt::format(
        "plan       {}, {} rounds{}, participation {}; sensitivity {:g}{}; delta {:g}\n",
        subject.plan.mechanism,
        asked.rounds,
        asked.gossip_steps > 1 ? fmt::format(" of {} gossip steps", asked.gossip_steps)
                               : std::string(),
        name_of(asked.participation),
        subject.exposures.front().sensitivity,
        config.gives_sensitivity() ? std::string()
                                   : fmt::format(" (adjacency {})", name_of(asked.adjacency)),
        subject.delta);
    if (!config.departures.empty())
        text += fmt::format("leave      {} (round:agents)\n", config.departures);
    return text;
}

}  // namespace

std::string matrices_report_text(const AccountResult& result, double sensitivity, double delta) {
    return fmt::format(
               "view       O = A G + B Z; sensitivity {:g}; delta {:g}\n", sensitivity, delta) +
           pairs_text(result, nullptr) + mean_text(result);
}

namespace {

/// What bounds of convex losses rest on.
std::string convex_text(const SubjectConfig& subject) {
    if (!subject.convex)
        return fmt::format(
            "           It holds for steps of at most 2 / {}the largest curvature of any record's "
            "loss{}, and gradients\n           that are clipped record by record or not at all, "
            "which is not checked here.\n",
            subject.l2 > 0 ? "(" : "",
            subject.l2 > 0 ? " + 2 l2)" : "");
    return fmt::format(
        "           Every agent enforced it: records of length {:g} at most, curvature {:g}, steps "
        "up to {:g} of {:g}.\n           It holds as long as every agent outside the view did.\n",
        subject.convex->feature_norm,
        subject.convex->smoothness,
        subject.convex->largest_step,
        subject.convex->most_step());
}

}  // namespace

std::string account_report_text(const AccountResult& result,
                                const AccountConfig& config,
                                const AccountSubject& subject) {
    std::string text = subject_text(config.subject, subject);
    text += fmt::format("view       {}: {}\n",
                        result.view,
                        result.pairs.empty() ? "" : result.pairs[0].argument.text);
    if (!result.is_guarantee()) {
        const Graph& graph = *subject.process.graph;
        text += fmt::format(
            "           For a training this view gives no guarantee: the gradients of other agents "
            "carry data on.\n           Views that do: {}, or {}:AGENTS.\n",
            record_of({View::Kind::all_messages, {}}, graph)->name,
            record_of({View::Kind::all_messages, {0}}, graph)->name);
    }
    if (config.subject.inputs == Inputs::convex) text += convex_text(config.subject);
    if (result.search) text += fmt::format("search     {}\n", search_text(*result.search));
    text += fmt::format("outsider   epsilon {} against an eavesdropper on all messages\n",
                        text_of(result.eavesdropper.epsilon));
    if (result.dropouts) text += dropouts_text(*result.dropouts);
    if (result.persons) text += persons_text(*result.persons);
    return text + bounds_text(result) + by_distance_text(result) +
           pairs_text(result, subject.process.graph) + mean_text(result);
}

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
            {"method",
             search.near_gap     ? "near"
             : search.exhaustive ? "exhaustive"
                                 : "search"},
            {"evaluated", search.evaluated},
            {"total", search.total},
            {"proved_worst", search.exhaustive || search.bound_attained},
            {"near_gap", number_or_null(search.near_gap)},
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

Json json_of(const PersonAccount& account) {
    return {{"unit_agents", account.agents},
            {"agents", account.worst.agents},
            {"coalition", account.worst.coalition},
            {"mu", number_or_null(account.guarantee.loss.mu())},
            {"epsilon", number_or_null(account.guarantee.epsilon)},
            {"infinite", account.guarantee.infinite()},
            {"epsilon_reached", number_or_null(account.at_least.epsilon)},
            {"exhaustive", account.exhaustive},
            {"sampling_probability", account.probability},
            {"plans", account.plans}};
}

/// Adds what every account has.
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
    const PlanConfig& plan = subject.settled;
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
    if (result.persons) json["persons"] = json_of(*result.persons);
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
