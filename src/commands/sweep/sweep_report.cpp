#include "commands/sweep/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "commands/sweep/private_sweep.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/picture.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// A figure, or why there is none.
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

std::string privacy_line(const std::filesystem::path& directory, const SweepResult& result) {
    if (!result.privacy) return fmt::format("privacy    {}\n", result.privacy_problem);
    const SweepPrivacy& all = *result.privacy;
    return fmt::format("privacy    {} trainings together: {} (sotto ledger {})\n",
                       all.runs,
                       std::isfinite(all.epsilon)
                           ? fmt::format("epsilon {:.6g} at delta {:g}", all.epsilon, all.delta)
                           : std::string("epsilon is infinite"),
                       directory.string());
}

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

}  // namespace

std::string sweep_report_json(const SweepConfig& config, const SweepResult& result) {
    if (result.chosen) return choice_json(config, *result.chosen);
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
    if (result.chosen) return choice_text(config, *result.chosen);
    const char* interrupted = "INTERRUPTED: run the same command again to go on where it stopped\n";
    if (config.private_choice) return result.interrupted ? interrupted : "";
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
    text += privacy_line(config.directory, result);
    if (result.interrupted) text += interrupted;
    return text;
}

namespace {

/// A CSV field (RFC 4180).
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') quoted += c;
    }
    return quoted + "\"";
}

std::string field(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

std::string line_of(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? "," : "") + fields[i];
    return line + "\n";
}

std::string column_of(std::string option) {
    std::ranges::replace(option, '-', '_');
    return option;
}

/// Renames "epsilon": the option of this name may be a column too.
std::string column_of_metric(const std::string& metric) {
    return metric == "epsilon" ? "epsilon_spent" : metric;
}

void add_once(std::vector<std::string>& names, const OptionValues& values) {
    for (const auto& [name, value] : values)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// Columns for options: those that vary, then those to choose.
struct Columns {
    explicit Columns(const SweepResult& result) {
        for (const SweepCell& cell : result.cells) {
            add_once(varied, cell.varied);
            for (const OptionValues& candidate : cell.candidates) add_once(chosen, candidate);
        }
    }
    void add_header(std::vector<std::string>& fields) const {
        fields.emplace_back("variant");
        for (const auto* names : {&varied, &chosen})
            for (const std::string& name : *names) fields.push_back(column_of(name));
    }
    /// @param candidate none: leaves the chosen values blank.
    void add(std::vector<std::string>& fields,
             const SweepCell& cell,
             std::optional<std::size_t> candidate) const {
        static const OptionValues nothing;
        fields.push_back(field(cell.variant));
        const OptionValues& tried = candidate ? cell.candidates.at(*candidate) : nothing;
        for (const auto* names : {&varied, &chosen})
            for (const std::string& name : *names) {
                const std::string* value = value_of(cell.fixed, name);
                if (value == nullptr) value = value_of(tried, name);
                fields.push_back(value != nullptr ? field(*value) : "");
            }
    }
    std::vector<std::string> varied, chosen;
};

}  // namespace

std::string cells_csv(const SweepConfig& config, const SweepResult& result) {
    const Columns columns(result);
    std::vector<std::string> fields;
    columns.add_header(fields);
    fields.insert(fields.end(), {"at_edge", "seeds"});
    for (const std::string& status : sweep_statuses.names()) fields.push_back(status);
    for (const std::string& metric : sweep_metrics()) {
        fields.push_back(column_of_metric(metric));
        fields.push_back(column_of_metric(metric) + "_half_width");
    }
    std::string text = line_of(fields);
    for (std::size_t c = 0; c < result.cells.size(); ++c) {
        const CellResult& cell = result.results[c];
        fields.clear();
        columns.add(fields, result.cells[c], cell.candidate);
        fields.emplace_back(cell.at_edge ? "yes" : "no");
        fields.push_back(std::to_string(config.seeds.size()));
        for (const std::string& status : sweep_statuses.names())
            fields.push_back(std::to_string(count_of(cell, status)));
        for (const std::string& metric : sweep_metrics()) {
            const auto mean = mean_of(cell, metric);
            fields.push_back(mean ? field(mean->mean) : "");
            fields.push_back(mean ? field(mean->half_width) : "");
        }
        text += line_of(fields);
    }
    return text;
}

std::string trainings_csv(const SweepConfig& config, const SweepResult& result) {
    const Columns columns(result);
    std::vector<std::string> fields;
    columns.add_header(fields);
    fields.insert(fields.end(), {"seed", "purpose", "status"});
    for (const std::string& metric : sweep_metrics()) fields.push_back(column_of_metric(metric));
    fields.insert(fields.end(), {"seconds", "run_directory", "error"});
    std::string text = line_of(fields);
    for (std::size_t c = 0; c < result.cells.size(); ++c)
        for (const auto* rows : {&result.results[c].validation, &result.results[c].test})
            for (const SweepRow& row : *rows) {
                fields.clear();
                columns.add(fields, result.cells[c], row.training.candidate);
                fields.push_back(field(row.training.seed));
                fields.emplace_back(row.training.validation ? "validation" : "test");
                fields.emplace_back(status_of(row));
                for (const std::string& metric : sweep_metrics()) {
                    const bool has = row.outcome && row.outcome->metrics.contains(metric);
                    fields.push_back(has ? field(row.outcome->metrics.at(metric)) : "");
                }
                fields.push_back(row.outcome ? field(row.outcome->seconds) : "");
                fields.push_back(config.keep_runs && row.outcome ? "runs/" + row.training.key : "");
                fields.push_back(row.outcome ? field(row.outcome->error) : "");
                text += line_of(fields);
            }
    return text;
}

namespace {

/// The cell without the option `plot`, as short as it can be: "ldp: clip-norm 2". Cells of one
/// variant or mechanism have one colour (looks_of).
std::string curve_name(const SweepConfig& config, const SweepCell& cell) {
    std::string name = config.variants.size() > 1 ? cell.variant : "";
    const char* separator = ": ";
    for (const auto& [option, value] : cell.varied)
        if (option != *config.plot) {
            if (!name.empty()) name += std::exchange(separator, ", ");
            name += option == "mechanism" ? value : fmt::format("{} {}", option, value);
        }
    return name.empty() ? cell.variant : name;
}

std::vector<PictureCurve> curves_of(const SweepConfig& config, const SweepResult& result) {
    std::vector<PictureCurve> curves;
    for (std::size_t c = 0; c < result.cells.size(); ++c) {
        const SweepCell& cell = result.cells[c];
        const auto mean = mean_of(result.results[c], config.choose_by);
        const std::string* x = value_of(cell.fixed, *config.plot);
        if (!mean || x == nullptr) continue;
        const std::string name = curve_name(config, cell);
        auto curve = std::ranges::find(curves, name, &PictureCurve::name);
        if (curve == curves.end()) curve = curves.insert(curve, {name, {}});
        curve->points.push_back(point_of(parse_real("plot", *x), *mean));
    }
    return curves;
}

/// Whether a logarithmic axis shows the points better.
bool far_apart(const std::vector<PictureCurve>& curves, double PicturePoint::*of, double factor) {
    double smallest = infinity, largest = -infinity;
    for (const PictureCurve& curve : curves)
        for (const PicturePoint& point : curve.points) {
            smallest = std::min(smallest, point.*of);
            largest = std::max(largest, point.*of);
        }
    return smallest > 0 && largest >= factor * smallest;
}

}  // namespace

PicturePoint point_of(double x, const SweepMean& mean) {
    const double half = std::isfinite(mean.half_width) ? mean.half_width : not_a_number;
    return {x, mean.mean, mean.mean - half, mean.mean + half};
}

std::string draw_sweep(const SweepConfig& config, const SweepResult& result) {
    PicturePanel panel{
        .title = "", .x = *config.plot, .y = config.choose_by, .curves = curves_of(config, result)};
    panel.log_x = far_apart(panel.curves, &PicturePoint::x, 10);
    panel.log_y = far_apart(panel.curves, &PicturePoint::y, 3);
    // Few measured values are marked, and have bars.
    std::set<double> values;
    for (const PictureCurve& curve : panel.curves)
        for (const PicturePoint& point : curve.points) values.insert(point.x);
    constexpr std::size_t few = 8;
    panel.intervals_as_bars = values.size() <= few;
    if (panel.intervals_as_bars) panel.marks.assign(values.begin(), values.end());
    const std::string path = (config.directory / "results.svg").string();
    return draw_picture(path, {std::move(panel)}) ? path : std::string();
}

}  // namespace sotto
