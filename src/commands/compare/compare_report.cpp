#include "commands/compare/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands/sweep/sweep_report.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/picture.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

namespace {

/// @param unknown text for NaN.
std::string figure_text(double value, int digits, const char* unknown) {
    if (std::isnan(value)) return unknown;
    return std::isinf(value) ? "infinite" : fmt::format("{:.{}g}", value, digits);
}

std::string mean_text(const std::optional<SweepMean>& mean) {
    if (!mean) return "-";
    return std::isfinite(mean->half_width)
               ? fmt::format("{:.4g} +- {:.2g}", mean->mean, mean->half_width)
               : fmt::format("{:.4g}", mean->mean);
}

bool any_trained(const std::vector<ComparedFigures>& figures) {
    return std::ranges::any_of(figures, [](const ComparedFigures& row) {
        return row.loss.has_value() || row.accuracy.has_value();
    });
}

std::string trained_text(const ComparedFigures& row) {
    return fmt::format("  {:>16}  {:>16}  {:>9}",
                       mean_text(row.accuracy),
                       mean_text(row.loss),
                       row.step_size.empty() ? "-" : row.step_size);
}

Json mean_json(const std::optional<SweepMean>& mean) {
    return mean ? Json{{"mean", number_or_null(mean->mean)},
                       {"half_width", number_or_null(mean->half_width)}}
                : Json();
}

/// The rows without a problem.
std::vector<ComparedFigures> planned(const std::vector<ComparedFigures>& figures) {
    std::vector<ComparedFigures> rows;
    std::ranges::copy_if(figures, std::back_inserter(rows), [](const ComparedFigures& row) {
        return row.problem.empty();
    });
    return rows;
}

/// A bar for every mechanism.
PictureCurve bars_of(const std::string& name,
                     const std::vector<ComparedFigures>& rows,
                     double ComparedFigures::*of) {
    PictureCurve bars{name, {}};
    for (std::size_t i = 0; i < rows.size(); ++i)
        bars.points.push_back({static_cast<double>(i), rows[i].*of});
    return bars;
}

/// A long label with an option on each line.
std::string in_lines(const std::string& label) {
    constexpr std::size_t short_label = 14;
    if (label.size() <= short_label) return label;
    std::string lines;
    for (const char c : label) lines += c == '+' ? "\n+" : std::string(1, c);
    return lines;
}

double largest_finite_epsilon(const std::vector<ComparedFigures>& rows) {
    double most = 0;
    for (const ComparedFigures& row : rows)
        for (const double value : {row.outsider, row.curious})
            if (std::isfinite(value)) most = std::max(most, value);
    return most > 0 ? most : 1;
}

}  // namespace

std::string comparison_text(const std::vector<ComparedFigures>& figures) {
    const bool trained = any_trained(figures);
    std::size_t width = std::string_view("mechanism").size();
    for (const ComparedFigures& row : figures) width = std::max(width, row.label.size());
    std::string text = fmt::format("{:<{}}  {:>12}  {:>9}  {:>10}  {:>12}",
                                   "mechanism",
                                   width,
                                   "noise / ldp",
                                   "noise std",
                                   "outsider",
                                   "one agent");
    if (trained) text += fmt::format("  {:>16}  {:>16}  {:>9}", "accuracy", "test loss", "step");
    text += "\n";
    for (const ComparedFigures& row : figures) {
        text += fmt::format("{:<{}}", row.label, width);
        text += row.problem.empty() ? fmt::format("  {:>12}  {:>9}  {:>10}  {:>12}{}",
                                                  figure_text(row.noise, 4, "-"),
                                                  figure_text(row.noise_std, 4, "-"),
                                                  figure_text(row.outsider, 4, "-"),
                                                  figure_text(row.curious, 4, "not computed"),
                                                  trained ? trained_text(row) : std::string())
                                    : "  " + row.problem;
        text += "\n";
    }
    text +=
        "noise / ldp: noise in the mean model as a part of what independent noise leaves there "
        "(smaller "
        "is better); noise std: of a message. outsider, one agent: epsilon against whoever records "
        "every message, and against the worst agent that does and uses its seeds.\n";
    if (std::ranges::any_of(figures, [](const ComparedFigures& row) {
            return row.loss && !std::isfinite(row.loss->half_width);
        }))
        text +=
            "One training cannot tell which mechanism is better: noise differs from seed to seed "
            "(--seeds 1,2,3,4,5 has intervals).\n";
    return text;
}

std::string comparison_csv(const std::vector<ComparedFigures>& figures) {
    std::string text =
        "mechanism,noise_of_ldp,noise_std,epsilon_outsider,epsilon_curious,test_accuracy,test_loss,"
        "step_size\n";
    const auto mean = [](const std::optional<SweepMean>& value) {
        return value ? fmt::format("{:.9g}", value->mean) : std::string();
    };
    for (const ComparedFigures& row : figures)
        text += fmt::format("{},{},{},{},{},{},{},{}\n",
                            row.label,
                            figure_text(row.noise, 9, ""),
                            figure_text(row.noise_std, 9, ""),
                            figure_text(row.outsider, 9, ""),
                            figure_text(row.curious, 9, ""),
                            mean(row.accuracy),
                            mean(row.loss),
                            row.step_size);
    return text;
}

Json comparison_json(const std::vector<ComparedFigures>& figures) {
    Json rows = Json::array();
    for (const ComparedFigures& row : figures) {
        Json json{{"mechanism", row.label}};
        if (!row.problem.empty()) {
            json["problem"] = row.problem;
            rows.push_back(std::move(json));
            continue;
        }
        json["noise_of_ldp"] = number_or_null(row.noise);
        json["noise_std"] = number_or_null(row.noise_std);
        json["epsilon_outsider"] = number_or_null(row.outsider);
        json["outsider_infinite"] = std::isinf(row.outsider);
        json["epsilon_curious"] = number_or_null(row.curious);
        json["curious_infinite"] = std::isinf(row.curious);
        json["test_accuracy"] = mean_json(row.accuracy);
        json["test_loss"] = mean_json(row.loss);
        json["step_size"] = row.step_size.empty() ? Json() : Json(row.step_size);
        rows.push_back(std::move(json));
    }
    return rows;
}

std::string draw_comparison(const std::filesystem::path& directory,
                            const std::vector<ComparedFigures>& figures) {
    const std::vector<ComparedFigures> rows = planned(figures);
    // Without known batch sizes only trainings know the plan.
    const bool plans = std::ranges::any_of(
        rows, [](const ComparedFigures& row) { return !std::isnan(row.noise); });
    const bool trained = std::ranges::any_of(
        rows, [](const ComparedFigures& row) { return row.accuracy.has_value(); });
    const auto panel = [&](const char* title, std::vector<PictureCurve> bars) {
        PicturePanel made{.title = title, .x = "", .y = "", .curves = std::move(bars)};
        for (const ComparedFigures& row : rows) made.rows.push_back(in_lines(row.label));
        return made;
    };
    std::vector<PicturePanel> panels;
    if (plans) {
        panels.push_back(panel("Noise left, as a part of what ldp leaves",
                               {bars_of("", rows, &ComparedFigures::noise)}));
        panels.push_back(panel("Epsilon: what is learnt at most",
                               {bars_of("outsider", rows, &ComparedFigures::outsider),
                                bars_of("one agent", rows, &ComparedFigures::curious)}));
        panels.back().longest_bar = 1.25 * largest_finite_epsilon(rows);
    }
    if (trained) {
        PictureCurve accuracy{"", {}};
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (const auto& mean = rows[i].accuracy)
                accuracy.points.push_back(point_of(static_cast<double>(i), *mean));
        panels.push_back(panel("Test accuracy", {std::move(accuracy)}));
        panels.back().longest_bar = 1;
    }
    const std::string path = (directory / "comparison.svg").string();
    return draw_picture(path, std::move(panels)) ? path : std::string();
}

}  // namespace sotto
