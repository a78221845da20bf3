#include "audit/reconstruction_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "audit/audit_report.hpp"
#include "audit/reconstruction_picture.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// error / bound, where there is one.
double ratio_of(const ReconstructedRow& row) {
    return row.exact || !row.identifiable ? not_a_number : row.error / row.deviation;
}

std::string bound_text(const ReconstructedRow& row) {
    if (!row.identifiable) return "unbounded";
    return row.exact ? "0" : fmt::format("{:.4g}", row.deviation);
}

struct ReconstructionSummary {
    long targets = 0, hidden = 0, exact = 0, recovered = 0;
    std::vector<double> relative_errors;

    [[nodiscard]] double median() const {
        std::vector<double> sorted = relative_errors;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::ranges::nth_element(sorted, middle);
        return *middle;
    }
};

std::map<int, ReconstructionSummary> by_distance(const ReconstructionResult& result) {
    std::map<int, ReconstructionSummary> summaries;
    for (const ReconstructedRow& row : result.targets) {
        ReconstructionSummary& summary = summaries[row.distance];
        ++summary.targets;
        summary.hidden += row.identifiable ? 0 : 1;
        summary.exact += row.exact ? 1 : 0;
        summary.recovered += row.recovered ? 1 : 0;
        summary.relative_errors.push_back(row.relative_error);
    }
    return summaries;
}

Json row_json(const ReconstructedRow& row, bool gaussian) {
    return {{"target", row.target},
            {"distance", distance_json(row.distance)},
            {"identifiable", row.identifiable},
            {"exact", row.exact},
            {"error", number_json(row.error)},
            {"cramer_rao", gaussian ? number_json(row.deviation) : Json()},
            {"linear_bound", number_json(row.deviation)},
            {"ratio", number_json(ratio_of(row))},
            {"relative_error", number_json(row.relative_error)},
            {"recovered", row.recovered},
            {"beats_the_bound", row.beats_the_bound}};
}

std::string row_line(const ReconstructedRow& row) {
    const double ratio = ratio_of(row);
    return fmt::format("  {:>8} {:>8} {:>10.4g} {:>14} {:>8} {:>14.3g}{}\n",
                       row.target,
                       distance_text(row.distance),
                       row.error,
                       bound_text(row),
                       std::isfinite(ratio) ? fmt::format("{:.3f}", ratio) : "-",
                       row.relative_error,
                       row.beats_the_bound ? "  BEATS THE BOUND" : "");
}

std::string distance_table(const ReconstructionResult& result) {
    std::string text = fmt::format("  {:>8} {:>8} {:>8} {:>8} {:>9} {:>21}\n",
                                   "distance",
                                   "agents",
                                   "hidden",
                                   "exact",
                                   "recovered",
                                   "median relative error");
    for (const auto& [distance, summary] : by_distance(result))
        text += fmt::format("  {:>8} {:>8} {:>8} {:>8} {:>9} {:>21.3g}\n",
                            distance_text(distance),
                            summary.targets,
                            summary.hidden,
                            summary.exact,
                            summary.recovered,
                            summary.median());
    return text;
}

}  // namespace

long ReconstructionResult::recovered() const {
    return std::ranges::count(targets, true, &ReconstructedRow::recovered);
}

Json ReconstructionResult::json() const {
    Json json = run_json(*this);
    json["view"] = view;
    json["dimension"] = dimension();
    json["targets"] = Json::array();
    for (const ReconstructedRow& row : targets) json["targets"].push_back(row_json(row, gaussian));
    json["recovered"] = recovered();
    json["recovered_within"] = recovered_within;
    json["by_distance"] = Json::array();
    for (const auto& [distance, summary] : by_distance(*this))
        json["by_distance"].push_back({{"distance", distance_json(distance)},
                                       {"targets", summary.targets},
                                       {"identifiable", summary.targets - summary.hidden},
                                       {"exact", summary.exact},
                                       {"recovered", summary.recovered},
                                       {"relative_error_median", number_json(summary.median())}});
    json["consistent"] = consistent();
    json["confidence"] = level;
    add_ending(json, *this);
    return json;
}

std::string ReconstructionResult::question() const {
    return fmt::format(
        "reconstructs the rows of {} agents, {} values each", targets.size(), dimension());
}

std::string ReconstructionResult::tables() const {
    std::string text = distance_table(*this);
    std::vector<ReconstructedRow> best = targets;
    std::ranges::stable_sort(best, {}, &ReconstructedRow::relative_error);
    best.resize(std::min(best.size(), most_table_lines));
    text += fmt::format("  {:>8} {:>8} {:>10} {:>14} {:>8} {:>14}\n",
                        "agent",
                        "distance",
                        "error",
                        gaussian ? "Cramer-Rao" : "best linear",
                        "ratio",
                        "relative error");
    for (const ReconstructedRow& row : best) text += row_line(row);
    if (best.size() < targets.size())
        text += fmt::format("  and {} agents whose rows are estimated worse\n",
                            targets.size() - best.size());
    return text + fmt::format("  recovered to {:g}%: {} of {} rows\n",
                              100 * recovered_within,
                              recovered(),
                              targets.size());
}

std::string ReconstructionResult::agreement() const {
    return "no row is known better than the accountant says";
}

void ReconstructionResult::write_files(const RunDirectory& directory) const {
    write_npy(directory.path() / "reconstruction.npy", estimates, Readers::owner);
    if (image_rows > 0)
        directory.write("reconstruction.pgm",
                        reconstruction_picture(truths, estimates, image_rows));
}

}  // namespace sotto
