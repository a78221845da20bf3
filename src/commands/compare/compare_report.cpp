#include "commands/compare/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/gnuplot.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"

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

/// A data block of the gnuplot script: label, noise, outsider, curious, accuracy. Infinite figures
/// are replaced by `top`.
std::string data_of(const std::vector<ComparedFigures>& rows, double top) {
    std::string data = "$rows << END\n";
    const auto number = [&](double value) {
        return std::isnan(value) ? std::string("NaN") : fmt::format("{:.9g}", std::min(value, top));
    };
    for (const ComparedFigures& row : rows)
        data += fmt::format("\"{}\" {} {} {} {}\n",
                            row.label,
                            number(row.noise),
                            number(row.outsider),
                            number(row.curious),
                            number(row.accuracy ? row.accuracy->mean : not_a_number));
    return data + "END\n";
}

/// Labels "infinite" above bars of infinite figures.
std::string infinite_labels(const std::vector<ComparedFigures>& rows, double top) {
    std::string script;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const auto& [value, shift] :
             {std::pair(rows[i].outsider, -0.2), std::pair(rows[i].curious, 0.2)})
            if (std::isinf(value))
                script += fmt::format(
                    "set label 'infinite' at {:g},{:.9g} rotate by 90 right font ',11' textcolor "
                    "rgb 'white'\n",
                    static_cast<double>(i) + shift,
                    0.97 * top);
    return script;
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
        "noise / ldp: noise in the mean model, divided by what independent noise leaves there "
        "(smaller is better). noise std: standard deviation of the noise of a message. outsider, "
        "one agent: epsilon against whoever records every message, and against the worst agent "
        "that does so and uses its seeds.\n";
    if (std::ranges::any_of(figures, [](const ComparedFigures& row) {
            return row.loss && !std::isfinite(row.loss->half_width);
        }))
        text +=
            "One training cannot tell which mechanism is better, because noise differs from seed "
            "to seed (--seeds 1,2,3,4,5 gives intervals).\n";
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
    if (!(plans || trained) || !has_gnuplot()) return {};
    const double top = 1.25 * largest_finite_epsilon(rows);
    const std::string path = (directory / "comparison.svg").string();
    const int panels = (plans ? 2 : 0) + (trained ? 1 : 0);
    std::string script = fmt::format(
        "set terminal svg size {},400 font 'sans,14' background 'white'\nset output {}\n{}"
        "set style fill solid noborder\nset boxwidth 0.38\nset grid ytics\nset xtics rotate by -35 "
        "noenhanced\nset xrange [-0.6:{}]\nset multiplot layout 1,{}\n",
        panels * 380,
        quoted_for_gnuplot(path),
        data_of(rows, top),
        static_cast<double>(rows.size()) - 0.4,
        panels);
    if (plans)
        script += fmt::format(
            "set title 'Noise that is left, as a part of what ldp leaves'\nset yrange [0:*]\nunset "
            "key\nplot $rows using 0:2:xtic(1) with boxes lc rgb '#0072B2'\n"
            "set title 'Epsilon: what is learnt at most'\nset yrange [0:{:.9g}]\nset key top left "
            "samplen 1 "
            "horizontal\n{}plot $rows using ($0-0.2):3:xtic(1) with boxes lc rgb '#009E73' title "
            "'outsider', $rows using ($0+0.2):4 with boxes lc rgb '#D55E00' title 'one agent'\n",
            1.2 * top,
            infinite_labels(rows, top));
    if (trained)
        script +=
            "unset label\nset title 'Test accuracy'\nset yrange [0:1]\nunset key\nplot $rows using "
            "0:5:xtic(1) with boxes lc rgb '#56B4E9'\n";
    return draw_with_gnuplot(script + "unset multiplot\n") ? path : std::string();
}

}  // namespace sotto
