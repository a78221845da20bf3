#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "commands/audit/attack_membership.hpp"
#include "core/json_output.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_lines = 10;

Json distance_json(int distance) { return distance < 0 ? Json() : Json(distance); }

std::string distance_text(int distance) { return distance < 0 ? "-" : std::to_string(distance); }

std::string or_dash(double value) {
    if (std::isnan(value)) return "-";
    return std::isinf(value) ? "infinite" : fmt::format("{:.3g}", value);
}

struct DistanceSummary {
    long targets = 0;
    double auc_sum = 0, auc_largest = 0, advantage_sum = 0;
};

std::map<int, DistanceSummary> by_distance(const MembershipResult& result) {
    std::map<int, DistanceSummary> summaries;
    for (const MembershipFigures& figures : result.targets) {
        DistanceSummary& summary = summaries[figures.distance];
        ++summary.targets;
        summary.auc_sum += figures.ranking.auc;
        summary.auc_largest = std::max(summary.auc_largest, figures.ranking.auc);
        summary.advantage_sum += figures.ranking.advantage;
    }
    return summaries;
}

/// What the accountant's epsilon is about.
std::string claim_text(const MembershipResult& result) {
    if (result.adjacency == Adjacency::agent)
        return "adjacency agent: the accountant's epsilon is about all records of an agent at "
               "once; it bounds what one record shows, and claims nothing closer";
    return fmt::format("adjacency {}: the accountant's epsilon is about one record",
                       name_of(result.adjacency));
}

}  // namespace

std::string audit_report_json(const MembershipResult& result) {
    Json json;
    json["attack"] = name_of(Attack::membership);
    json["mechanism"] = result.mechanism;
    json["task"] = result.task;
    json["agents"] = result.agents;
    json["rounds"] = result.rounds;
    json["averaged_rounds"] = result.averaged_rounds;
    json["view"] = result.view;
    json["adjacency"] = name_of(result.adjacency);
    json["targets"] = Json::array();
    for (const MembershipFigures& figures : result.targets)
        json["targets"].push_back({{"target", figures.target},
                                   {"distance", distance_json(figures.distance)},
                                   {"heard", figures.heard},
                                   {"records", figures.records},
                                   {"auc", figures.ranking.auc},
                                   {"auc_lower", figures.ranking.lower},
                                   {"auc_upper", figures.ranking.upper},
                                   {"advantage", figures.ranking.advantage},
                                   {"epsilon_lower", number_or_null(figures.epsilon_lower)},
                                   {"epsilon_theory", number_or_null(figures.claim_epsilon)},
                                   {"exceeds", figures.exceeds}});
    json["by_distance"] = Json::array();
    for (const auto& [distance, summary] : by_distance(result)) {
        const auto count = static_cast<double>(summary.targets);
        json["by_distance"].push_back({{"distance", distance_json(distance)},
                                       {"targets", summary.targets},
                                       {"auc_mean", summary.auc_sum / count},
                                       {"auc_max", summary.auc_largest},
                                       {"advantage_mean", summary.advantage_sum / count}});
    }
    json["claim"] = claim_text(result);
    json["consistent"] = result.consistent;
    json["delta"] = result.delta;
    json["confidence"] = result.level;
    json["findings"] = result.findings;
    json["seed"] = result.seed;
    json["seconds"] = result.seconds;
    json["run_directory"] = result.run_directory;
    return json.dump(2) + "\n";
}

std::string audit_report_text(const MembershipResult& result) {
    std::string text = fmt::format(
        "audit: {}, {} agents, {} rounds of {}; {} asks which records {} agents trained on\n",
        result.mechanism,
        result.agents,
        result.rounds,
        result.task,
        result.view,
        result.targets.size());
    text += fmt::format("  {:>8} {:>8} {:>10} {:>10} {:>14}\n",
                        "distance",
                        "agents",
                        "mean AUC",
                        "largest",
                        "mean advantage");
    for (const auto& [distance, summary] : by_distance(result)) {
        const auto count = static_cast<double>(summary.targets);
        text += fmt::format("  {:>8} {:>8} {:>10.4f} {:>10.4f} {:>14.4f}\n",
                            distance_text(distance),
                            summary.targets,
                            summary.auc_sum / count,
                            summary.auc_largest,
                            summary.advantage_sum / count);
    }
    std::vector<MembershipFigures> best = result.targets;
    std::ranges::stable_sort(
        best, std::greater(), [](const MembershipFigures& f) { return f.ranking.auc; });
    best.resize(std::min(best.size(), most_lines));
    text += fmt::format("  {:>8} {:>8} {:>10} {:>8} {:>8} {:>18} {:>10} {:>12} {:>10}\n",
                        "agent",
                        "distance",
                        "model from",
                        "records",
                        "AUC",
                        fmt::format("{:g}% interval", 100 * result.level),
                        "advantage",
                        "eps at least",
                        "eps theory");
    for (const MembershipFigures& figures : best)
        text += fmt::format(
            "  {:>8} {:>8} {:>10} {:>8} {:>8.4f} {:>18} {:>10.4f} {:>12} {:>10}{}\n",
            figures.target,
            distance_text(figures.distance),
            figures.heard ? "messages" : "members",
            figures.records,
            figures.ranking.auc,
            fmt::format("{:.4f} to {:.4f}", figures.ranking.lower, figures.ranking.upper),
            figures.ranking.advantage,
            or_dash(figures.epsilon_lower),
            or_dash(figures.claim_epsilon),
            figures.exceeds ? "  EXCEEDS" : "");
    if (best.size() < result.targets.size())
        text += fmt::format("  and {} agents with a smaller AUC\n",
                            result.targets.size() - best.size());
    text += "  " + claim_text(result) + "\n";
    if (result.consistent) {
        text += fmt::format(
            "consistent: no agent's records show more than the accountant says ({:.1f} s)\n",
            result.seconds);
    } else {
        text += "INCONSISTENT:\n";
        for (const auto& finding : result.findings) text += "  - " + finding + "\n";
    }
    return text;
}

}  // namespace sotto
