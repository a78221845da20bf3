#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/account/account_job.hpp"
#include "run/gnuplot.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t pairs_shown = 10;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(); }

std::string text_of(double value) {
    if (std::isnan(value)) return "-";
    return std::isinf(value) ? "infinite" : fmt::format("{:.6g}", value);
}

std::string text_of(const std::optional<double>& value) { return value ? text_of(*value) : "-"; }

std::string observers_of(const PairFigure& pair) {
    return pair.observers.empty() ? "-" : fmt::format("{}", fmt::join(pair.observers, ","));
}

/// "3", or "3 (label)" where a graph file named its agents.
std::string agent_name(const Graph& graph, int agent) {
    const std::string number = std::to_string(agent);
    return graph.label(agent) == number ? number
                                        : fmt::format("{} ({})", number, graph.label(agent));
}

Json json_of(const PairFigure& pair) {
    const SquaredSensitivity& squared = pair.squared;
    const auto value = [&](double figure) { return squared.infinite ? Json() : number(figure); };
    Json json;
    json["observers"] = pair.observers;
    json["target"] = pair.target;
    json["distance"] = pair.distance >= 0 ? Json(pair.distance) : Json();
    json["sensitivity_squared"] = {{"constant_sign", value(squared.constant_sign)},
                                   {"abs_sum", value(squared.abs_sum)},
                                   {"tight_lower", value(squared.tight_lower)},
                                   {"tight_upper", value(squared.tight_upper)},
                                   {"all_messages", number(squared.trivial)}};
    const std::optional<double> mu = pair.guarantee.loss.mu();
    json["mu"] = number(mu);
    json["epsilon"] = number(pair.guarantee.epsilon);
    json["renyi_alpha2"] = mu ? number(*mu * *mu) : Json();
    json["infinite"] = pair.guarantee.infinite();
    json["ldp"] = number(pair.eavesdropper_epsilon);
    json["muffliato_bound"] = number(pair.muffliato_epsilon);
    json["argument"] = pair.argument.text;
    return json;
}

bool no_guarantee(const AccountResult& result) {
    return !result.pairs.empty() && !result.pairs.front().argument.sound;
}

/// The pairs are sorted, worst first.
bool breaks_protection(const AccountResult& result) {
    return !result.pairs.empty() && result.pairs.front().guarantee.infinite();
}

std::string search_text(const CoalitionSearch& search) {
    const std::string bound =
        search.upper.infinite()
            ? std::string("no upper bound is known")
            : fmt::format("no coalition of {} learns more than epsilon {:.6g} (all messages seen)",
                          search.size,
                          search.upper.epsilon);
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

bool is_picture(const std::string& path) { return path.ends_with(".svg"); }

std::string table_of(const AccountResult& result) {
    std::string table =
        "# epsilon by graph distance from the nearest observer (inf: a view breaks the "
        "protection)\n# distance min mean max ldp muffliato_bound pairs\n";
    for (const DistanceRow& row : result.by_distance)
        table += fmt::format("{} {:.9g} {:.9g} {:.9g} {:.9g} {} {}\n",
                             row.distance,
                             row.min,
                             row.mean,
                             row.max,
                             row.ldp,
                             row.muffliato ? fmt::format("{:.9g}", *row.muffliato) : "nan",
                             row.pairs);
    return table;
}

/// The worst pairs. @param graph names agents; null: numbers only.
std::string pairs_text(const AccountResult& result, const Graph* graph) {
    const auto name = [&](int agent) {
        return graph != nullptr ? agent_name(*graph, agent) : std::to_string(agent);
    };
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
    for (std::size_t i = 0; i < shown; ++i) {
        const PairFigure& pair = result.pairs[i];
        const auto value = [&](double figure) {
            return pair.squared.infinite || std::isinf(figure) ? std::string("-") : text_of(figure);
        };
        text += fmt::format(
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

}  // namespace

std::string account_report_json(const AccountResult& result,
                                const AccountConfig& config,
                                const AccountSubject& subject) {
    Json json;
    json["view"] = result.view;
    json["mechanism"] = subject.plan.mechanism;
    json["agents"] = subject.plan.agents;
    json["rounds"] = config.plan.rounds;
    json["gossip_steps"] = config.plan.gossip_steps;
    json["participation"] = name_of(config.plan.participation);
    json["adjacency"] =
        config.sensitivity || config.plan.noise_std ? Json() : Json(name_of(config.plan.adjacency));
    json["sensitivity"] = subject.exposures.front().sensitivity;
    json["delta"] = subject.delta;
    json["pairs"] = Json::array();
    for (const PairFigure& pair : result.pairs) json["pairs"].push_back(json_of(pair));
    json["by_distance"] = Json::array();
    for (const DistanceRow& row : result.by_distance)
        json["by_distance"].push_back({{"distance", row.distance},
                                       {"min", number(row.min)},
                                       {"mean", number(row.mean)},
                                       {"max", number(row.max)},
                                       {"pairs", row.pairs},
                                       {"infinite_pairs", row.infinite},
                                       {"ldp", number(row.ldp)},
                                       {"muffliato_bound", number(row.muffliato)}});
    json["mean_epsilon"] = number(result.mean_epsilon);
    json["ldp"] = number(result.eavesdropper.epsilon);
    json["infinite"] = breaks_protection(result);
    if (result.search) {
        const CoalitionSearch& search = *result.search;
        json["worst_coalition"] = {{"size", search.size},
                                   {"method", search.exhaustive ? "exhaustive" : "search"},
                                   {"evaluated", search.evaluated},
                                   {"total", search.total},
                                   {"proved_worst", search.exhaustive || search.bound_attained},
                                   {"upper_mu", number(search.upper.loss.mu())},
                                   {"upper_epsilon", number(search.upper.epsilon)}};
    }
    json["plan_hash"] = to_hex(subject.plan.hash());
    json["seconds"] = result.seconds;
    return json.dump(2) + "\n";
}

std::string matrices_report_json(const AccountResult& result, double sensitivity, double delta) {
    Json json;
    json["view"] = result.view;
    json["sensitivity"] = sensitivity;
    json["delta"] = delta;
    json["pairs"] = Json::array();
    for (const PairFigure& pair : result.pairs) json["pairs"].push_back(json_of(pair));
    json["by_distance"] = Json::array();
    json["mean_epsilon"] = number(result.mean_epsilon);
    json["ldp"] = Json();
    json["infinite"] = breaks_protection(result);
    json["seconds"] = result.seconds;
    return json.dump(2) + "\n";
}

std::string matrices_report_text(const AccountResult& result, double sensitivity, double delta) {
    return fmt::format(
               "view       O = A G + B Z; sensitivity {:g}; delta {:g}\n", sensitivity, delta) +
           pairs_text(result, nullptr) + mean_text(result);
}

std::string account_report_text(const AccountResult& result,
                                const AccountConfig& config,
                                const AccountSubject& subject) {
    const Graph& graph = *subject.process.graph;
    std::string text = fmt::format("graph      {}, {} agents, {} edges, mixing {}\n",
                                   subject.built.description,
                                   graph.agents(),
                                   graph.edges().size(),
                                   config.graph.mixing);
    for (const auto& note : subject.built.notes) text += fmt::format("note       {}\n", note);
    const bool own = config.sensitivity || config.plan.noise_std;
    text += fmt::format(
        "plan       {}, {} rounds{}, participation {}; sensitivity {:g}{}; delta {:g}\n",
        subject.plan.mechanism,
        config.plan.rounds,
        config.plan.gossip_steps > 1 ? fmt::format(" of {} gossip steps", config.plan.gossip_steps)
                                     : std::string(),
        name_of(config.plan.participation),
        subject.exposures.front().sensitivity,
        own ? std::string() : fmt::format(" (adjacency {})", name_of(config.plan.adjacency)),
        subject.delta);
    if (!config.departures.empty())
        text += fmt::format("leave      {} (round:agents)\n", config.departures);
    text += fmt::format("view       {}: {}\n",
                        result.view,
                        result.pairs.empty() ? "" : result.pairs[0].argument.text);
    if (no_guarantee(result))
        text +=
            "           Of a training this view is not a guarantee: gradients of others carry "
            "data on.\n           What holds there: eavesdropper, or all-messages:AGENTS.\n";
    if (result.search) text += fmt::format("search     {}\n", search_text(*result.search));
    text += fmt::format("ldp        epsilon {} against an eavesdropper on all messages\n",
                        text_of(result.eavesdropper.epsilon));
    if (!result.by_distance.empty()) {
        const bool bound = result.by_distance.front().muffliato.has_value();
        text += fmt::format("\n{:>8} {:>7} {:>10} {:>10} {:>10} {:>10}{}\n",
                            "distance",
                            "pairs",
                            "min",
                            "mean",
                            "max",
                            "ldp",
                            bound ? fmt::format(" {:>10}", "muffliato") : std::string());
        for (const DistanceRow& row : result.by_distance)
            text += fmt::format(
                "{:>8} {:>7} {:>10} {:>10} {:>10} {:>10}{}\n",
                row.distance,
                row.pairs,
                text_of(row.min),
                text_of(row.mean),
                text_of(row.max),
                text_of(row.ldp),
                row.muffliato ? fmt::format(" {:>10}", text_of(*row.muffliato)) : std::string());
    }
    text += pairs_text(result, &graph) + mean_text(result);
    return text;
}

void require_by_distance_writable(const std::string& path) {
    require_writable(path);
    if (!is_picture(path)) return;
    require_writable(path + ".txt");
    if (!has_gnuplot())
        throw ConfigError(fmt::format(
            "--by-distance: {} is a picture, and gnuplot is not installed (Debian package "
            "gnuplot-nox); a name that does not end in .svg gets the table",
            path));
}

void write_by_distance(const AccountResult& result, const std::string& path) {
    if (!is_picture(path)) {
        write_file_atomically(path, table_of(result));
        return;
    }
    const std::string table = path + ".txt";
    write_file_atomically(table, table_of(result));
    if (std::ranges::none_of(result.by_distance,
                             [](const DistanceRow& row) { return std::isfinite(row.mean); }))
        throw ConfigError(fmt::format(
            "--by-distance: there is no finite epsilon to draw; the table is in {}", table));
    const bool bound = result.by_distance.front().muffliato.has_value();
    const std::string data = quoted_for_gnuplot(table);
    std::string script = fmt::format(
        "set terminal svg size 640,420 font 'sans,13' background 'white'\n"
        "set output {}\nset xlabel 'graph distance from the observer'\nset ylabel 'epsilon'\n"
        "set xtics 1\nset grid\nset key top right\nset offsets 0.3, 0.3, 0, 0\nset yrange [0:*]\n"
        "plot {} using 1:3:2:4 with yerrorbars pointtype 7 title 'min, mean, max', "
        "'' using 1:3 with lines linetype 1 notitle, "
        "'' using 1:5 with lines dashtype 2 title 'local DP'",
        quoted_for_gnuplot(path),
        data);
    if (bound) script += ", '' using 1:6 with linespoints title 'Muffliato bound'";
    script += "\n";
    if (!draw_with_gnuplot(script))
        throw ConfigError(fmt::format(
            "--by-distance: gnuplot could not draw {}; the table is in {}", path, table));
}

}  // namespace sotto
