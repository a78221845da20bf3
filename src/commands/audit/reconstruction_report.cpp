#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "commands/audit/attack_reconstruction.hpp"
#include "core/json_output.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_lines = 10;

/// error / bound, where there is one.
double ratio_of(const ReconstructedRow& row) {
    return row.exact || !row.identifiable ? not_a_number : row.error / row.deviation;
}

std::string bound_text(const ReconstructedRow& row) {
    if (!row.identifiable) return "unbounded";
    return row.exact ? "0" : fmt::format("{:.4g}", row.deviation);
}

std::string distance_text(int distance) { return distance < 0 ? "-" : std::to_string(distance); }

struct DistanceSummary {
    long targets = 0, hidden = 0, exact = 0, recovered = 0;
    std::vector<double> relative_errors;

    [[nodiscard]] double median() {
        const auto middle =
            relative_errors.begin() + static_cast<std::ptrdiff_t>(relative_errors.size() / 2);
        std::ranges::nth_element(relative_errors, middle);
        return *middle;
    }
};

std::map<int, DistanceSummary> by_distance(const ReconstructionResult& result) {
    std::map<int, DistanceSummary> summaries;
    for (const ReconstructedRow& row : result.targets) {
        DistanceSummary& summary = summaries[row.distance];
        ++summary.targets;
        summary.hidden += row.identifiable ? 0 : 1;
        summary.exact += row.exact ? 1 : 0;
        summary.recovered += row.recovered ? 1 : 0;
        summary.relative_errors.push_back(row.relative_error);
    }
    return summaries;
}

}  // namespace

std::string audit_report_json(const ReconstructionResult& result) {
    Json json;
    json["attack"] = name_of(Attack::reconstruction);
    json["mechanism"] = result.mechanism;
    json["agents"] = result.agents;
    json["rounds"] = result.rounds;
    json["view"] = result.view;
    json["dimension"] = result.dimension;
    json["targets"] = Json::array();
    for (const ReconstructedRow& row : result.targets)
        json["targets"].push_back(
            {{"target", row.target},
             {"distance", row.distance < 0 ? Json() : Json(row.distance)},
             {"identifiable", row.identifiable},
             {"exact", row.exact},
             {"error", number_or_null(row.error)},
             {"cramer_rao", result.gaussian ? number_or_null(row.deviation) : Json()},
             {"linear_bound", number_or_null(row.deviation)},
             {"ratio", number_or_null(ratio_of(row))},
             {"relative_error", number_or_null(row.relative_error)},
             {"recovered", row.recovered},
             {"beats_the_bound", row.beats_the_bound}});
    json["recovered"] = result.recovered();
    json["recovered_within"] = ReconstructionResult::recovered_within;
    json["by_distance"] = Json::array();
    for (auto& [distance, summary] : by_distance(result))
        json["by_distance"].push_back(
            {{"distance", distance < 0 ? Json() : Json(distance)},
             {"targets", summary.targets},
             {"identifiable", summary.targets - summary.hidden},
             {"exact", summary.exact},
             {"recovered", summary.recovered},
             {"relative_error_median", number_or_null(summary.median())}});
    json["consistent"] = result.consistent;
    json["confidence"] = result.level;
    json["findings"] = result.findings;
    json["seed"] = result.seed;
    json["seconds"] = result.seconds;
    json["run_directory"] = result.run_directory;
    return json.dump(2) + "\n";
}

std::string audit_report_text(const ReconstructionResult& result) {
    std::string text = fmt::format(
        "audit: {}, {} agents, {} rounds; {} reconstructs the rows of {} agents, {} "
        "values each\n",
        result.mechanism,
        result.agents,
        result.rounds,
        result.view,
        result.targets.size(),
        result.dimension);
    text += fmt::format("  {:>8} {:>8} {:>8} {:>8} {:>9} {:>21}\n",
                        "distance",
                        "agents",
                        "hidden",
                        "exact",
                        "recovered",
                        "median relative error");
    for (auto& [distance, summary] : by_distance(result))
        text += fmt::format("  {:>8} {:>8} {:>8} {:>8} {:>9} {:>21.3g}\n",
                            distance_text(distance),
                            summary.targets,
                            summary.hidden,
                            summary.exact,
                            summary.recovered,
                            summary.median());
    std::vector<ReconstructedRow> best = result.targets;
    std::ranges::stable_sort(best, {}, &ReconstructedRow::relative_error);
    best.resize(std::min(best.size(), most_lines));
    text += fmt::format("  {:>8} {:>8} {:>10} {:>14} {:>8} {:>14}\n",
                        "agent",
                        "distance",
                        "error",
                        result.gaussian ? "Cramer-Rao" : "best linear",
                        "ratio",
                        "relative error");
    for (const ReconstructedRow& row : best) {
        const double ratio = ratio_of(row);
        text += fmt::format("  {:>8} {:>8} {:>10.4g} {:>14} {:>8} {:>14.3g}{}\n",
                            row.target,
                            distance_text(row.distance),
                            row.error,
                            bound_text(row),
                            std::isfinite(ratio) ? fmt::format("{:.3f}", ratio) : "-",
                            row.relative_error,
                            row.beats_the_bound ? "  BEATS THE BOUND" : "");
    }
    if (best.size() < result.targets.size())
        text += fmt::format("  and {} agents whose rows are estimated worse\n",
                            result.targets.size() - best.size());
    text += fmt::format("  recovered to {:g}%: {} of {} rows\n",
                        100 * ReconstructionResult::recovered_within,
                        result.recovered(),
                        result.targets.size());
    if (result.consistent) {
        text +=
            fmt::format("consistent: no row is known better than the accountant says ({:.1f} s)\n",
                        result.seconds);
    } else {
        text += "INCONSISTENT:\n";
        for (const auto& finding : result.findings) text += "  - " + finding + "\n";
    }
    return text;
}

}  // namespace sotto
