#include "commands/sweep/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_output.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// What was measured, or why nothing was.
std::string figure_of(const CellResult& result, const std::string& metric) {
    if (const auto mean = mean_of(result, metric))
        return std::isfinite(mean->half_width)
                   ? fmt::format("{:.5g} ± {:.2g}", mean->mean, mean->half_width)
                   : fmt::format("{:.5g}", mean->mean);
    for (const char* status : {"diverged", "failed"})
        if (count_of(result, status) > 0) return status;
    return "missing";
}

/// The values chosen in a cell.
std::string chosen_of(const SweepCell& cell, const CellResult& result) {
    std::string chosen;
    if (result.candidate)
        for (const auto& [option, value] : cell.candidates[*result.candidate])
            chosen += fmt::format("{} {} ", option, value);
    return result.at_edge ? chosen + "(at the edge of what was tried)" : chosen;
}

}  // namespace

namespace {

Json privacy_json(const SweepResult& result) {
    if (!result.privacy) return {{"problem", result.privacy_problem}};
    const SweepPrivacy& all = *result.privacy;
    return {{"runs", all.runs},
            {"epsilon", number_or_null(all.epsilon)},
            {"delta", all.delta},
            {"mu", number_or_null(all.loss.mu())},
            {"infinite", all.loss.infinite()}};
}

std::string privacy_line(const SweepConfig& config, const SweepResult& result) {
    if (!result.privacy) return fmt::format("privacy    {}\n", result.privacy_problem);
    const SweepPrivacy& all = *result.privacy;
    return fmt::format("privacy    {} trainings together: {} (sotto ledger {})\n",
                       all.runs,
                       std::isfinite(all.epsilon)
                           ? fmt::format("epsilon {:.6g} at delta {:g}", all.epsilon, all.delta)
                           : std::string("epsilon is infinite"),
                       config.directory.string());
}

}  // namespace

std::string sweep_report_json(const SweepConfig& config, const SweepResult& result) {
    Json json;
    json["cells"] = result.cells.size();
    json["trainings"] = result.trainings;
    json["done"] = result.done;
    json["diverged"] = result.diverged;
    json["failed"] = result.failed;
    json["reused"] = result.reused;
    json["interrupted"] = result.interrupted;
    json["seconds"] = result.seconds;
    json["results"] = (config.directory / "results.csv").string();
    json["runs"] = (config.directory / "runs.csv").string();
    json["picture"] = result.picture.empty() ? Json() : Json(result.picture);
    json["privacy"] = privacy_json(result);
    return to_text(json);
}

std::string sweep_report_text(const SweepConfig& config, const SweepResult& result) {
    std::string text;
    std::size_t width = 4;
    for (const SweepCell& cell : result.cells) width = std::max(width, cell_name(cell, "").size());
    text += fmt::format("\n{:<{}}  {:>22}  {}\n", "cell", width, config.choose_by, "chosen");
    for (std::size_t c = 0; c < result.cells.size(); ++c)
        text += fmt::format("{:<{}}  {:>22}  {}\n",
                            cell_name(result.cells[c], ""),
                            width,
                            figure_of(result.results[c], config.choose_by),
                            chosen_of(result.cells[c], result.results[c]));
    text +=
        fmt::format("\n{} trainings: {} done, {} diverged, {} failed; {} known before; {:.1f} s\n",
                    result.trainings,
                    result.done,
                    result.diverged,
                    result.failed,
                    result.reused,
                    result.seconds);
    text += fmt::format("results    {}\ntrainings  {}\n",
                        (config.directory / "results.csv").string(),
                        (config.directory / "runs.csv").string());
    if (!result.picture.empty()) text += fmt::format("picture    {}\n", result.picture);
    text += privacy_line(config, result);
    if (result.interrupted) text += "INTERRUPTED: the same command goes on where it was stopped\n";
    return text;
}

}  // namespace sotto
