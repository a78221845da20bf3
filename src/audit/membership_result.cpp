#include "audit/membership_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "audit/audit_report.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

std::string or_dash(double value) { return number_text(value, 3); }

struct MembershipSummary {
    long targets = 0;
    double auc_sum = 0, auc_largest = 0, advantage_sum = 0;

    [[nodiscard]] double mean_auc() const { return auc_sum / static_cast<double>(targets); }
    [[nodiscard]] double mean_advantage() const {
        return advantage_sum / static_cast<double>(targets);
    }
};

std::map<int, MembershipSummary> by_distance(const MembershipResult& result) {
    std::map<int, MembershipSummary> summaries;
    for (const MembershipFigures& figures : result.targets) {
        MembershipSummary& summary = summaries[figures.distance];
        ++summary.targets;
        summary.auc_sum += figures.ranking.auc;
        summary.auc_largest = std::max(summary.auc_largest, figures.ranking.auc);
        summary.advantage_sum += figures.ranking.advantage;
    }
    return summaries;
}

/// What the accountant's epsilon is about.
std::string claim_text(const MembershipResult& result) {
    if (protects_agents(result.adjacency))
        return fmt::format(
            "adjacency {}: the accountant's epsilon is about all records of an agent at once; it "
            "bounds what one record shows, and claims nothing closer",
            name_of(result.adjacency));
    return fmt::format("adjacency {}: the accountant's epsilon is about one record",
                       name_of(result.adjacency));
}

Json figures_json(const MembershipFigures& figures) {
    return {{"target", figures.target},
            {"distance", distance_json(figures.distance)},
            {"heard", figures.heard},
            {"records", figures.records},
            {"auc", figures.ranking.auc},
            {"auc_lower", figures.ranking.lower},
            {"auc_upper", figures.ranking.upper},
            {"advantage", figures.ranking.advantage},
            {"epsilon_lower", number_json(figures.epsilon_lower)},
            {"epsilon_theory", number_json(figures.claim_epsilon)},
            {"exceeds", figures.exceeds()}};
}

std::string distance_table(const MembershipResult& result) {
    std::string text = fmt::format("  {:>8} {:>8} {:>10} {:>10} {:>14}\n",
                                   "distance",
                                   "agents",
                                   "mean AUC",
                                   "largest",
                                   "mean advantage");
    for (const auto& [distance, summary] : by_distance(result))
        text += fmt::format("  {:>8} {:>8} {:>10.4f} {:>10.4f} {:>14.4f}\n",
                            distance_text(distance),
                            summary.targets,
                            summary.mean_auc(),
                            summary.auc_largest,
                            summary.mean_advantage());
    return text;
}

std::string figures_line(const MembershipFigures& figures) {
    return fmt::format(
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
        figures.exceeds() ? "  EXCEEDS" : "");
}

}  // namespace

Json MembershipResult::json() const {
    Json json = run_json(*this);
    json["averaged_rounds"] = averaged_rounds;
    json["view"] = view;
    json["adjacency"] = name_of(adjacency);
    json["targets"] = Json::array();
    for (const MembershipFigures& figures : targets)
        json["targets"].push_back(figures_json(figures));
    json["by_distance"] = Json::array();
    for (const auto& [distance, summary] : by_distance(*this))
        json["by_distance"].push_back({{"distance", distance_json(distance)},
                                       {"targets", summary.targets},
                                       {"auc_mean", summary.mean_auc()},
                                       {"auc_max", summary.auc_largest},
                                       {"advantage_mean", summary.mean_advantage()}});
    json["claim"] = claim_text(*this);
    json["consistent"] = consistent();
    json["delta"] = delta;
    json["confidence"] = level;
    add_ending(json, *this);
    return json;
}

std::string MembershipResult::question() const {
    return fmt::format("asks which records {} agents trained on", targets.size());
}

std::string MembershipResult::tables() const {
    std::string text = distance_table(*this);
    std::vector<MembershipFigures> best = targets;
    std::ranges::stable_sort(
        best, std::greater(), [](const MembershipFigures& f) { return f.ranking.auc; });
    best.resize(std::min(best.size(), most_table_lines));
    text += fmt::format("  {:>8} {:>8} {:>10} {:>8} {:>8} {:>18} {:>10} {:>12} {:>10}\n",
                        "agent",
                        "distance",
                        "model from",
                        "records",
                        "AUC",
                        fmt::format("{:g}% interval", 100 * level),
                        "advantage",
                        "eps at least",
                        "eps theory");
    for (const MembershipFigures& figures : best) text += figures_line(figures);
    if (best.size() < targets.size())
        text += fmt::format("  and {} agents with a smaller AUC\n", targets.size() - best.size());
    return text + "  " + claim_text(*this) + "\n";
}

std::string MembershipResult::agreement() const {
    return "no agent's records show more than the accountant says";
}

}  // namespace sotto
