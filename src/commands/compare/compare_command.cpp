#include "commands/compare/compare_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "commands/compare/compare_job.hpp"
#include "commands/sweep/sweep_job.hpp"
#include "commands/sweep/sweep_report.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/output.hpp"
#include "core/picture.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "store/run_directory.hpp"
#include "training/job.hpp"
#include "training/stop_signal.hpp"

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
        "noise / ldp: noise in the mean model, divided by what independent noise leaves there "
        "(smaller is better). noise std: standard deviation of the noise of a message. outsider, "
        "one agent: epsilon against whoever records every message, and against the worst agent "
        "that does so and uses its seeds.\n";
    if (std::ranges::any_of(figures, [](const ComparedFigures& row) {
            return row.problem.empty() && std::isnan(row.noise);
        }))
        text +=
            "The noise of these plans depends on how many records each agent has. To see it, give "
            "--sampling-probability Q in place of --batch-size and --data, without --train.\n";
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

namespace sotto::cli {

namespace {

struct CompareOptions {
    std::string mechanisms = "ldp,decor,corn,pairs";
    bool train = false;
    std::vector<std::string> seeds{"1", "2", "3"};
    std::optional<std::vector<std::string>> step_sizes;
    std::string output = "comparison";
};

std::vector<Option<CompareOptions>> compare_options() {
    return {
        {{.name = "mechanisms",
          .common = true,
          .help = "mechanisms to compare, separated by commas: names, or FILE.npy for a covariance "
                  "of your own",
          .details = R"(
Each may have options of its own after plus signs: `ldp,corn+utility=one-step,pairs+coalition-size=2,R.npy`. All have
the same budget, and all other options are the same for all of them.)"},
         bound(&CompareOptions::mechanisms,
               some_text(among_others("", {"NAME[,NAME...]", "FILE.npy"})))},
        {{.name = "train",
          .common = true,
          .help = "also train with each of them (default: only if --data is given)"},
         bound(&CompareOptions::train, flag())},
        {{.name = "seeds",
          .common = true,
          .help = "seeds of the trainings of each mechanism, such as 1,2,3,4,5; figures are means "
                  "over them"},
         bound(&CompareOptions::seeds, word_list())},
        {{.name = "step-sizes",
          .common = true,
          .help = "step sizes, such as 0.1,0.2,0.5; every mechanism takes the one that is best on "
                  "held-out training data, as in sotto sweep"},
         bound(&CompareOptions::step_sizes, word_list())},
        {{.name = "output",
          .common = true,
          .help = "DIR for comparison.csv, comparison.svg and the trainings"},
         bound(&CompareOptions::output, folder_path())}};
}

OptionSet<CompareOptions> option_set_of_compare() {
    return OptionSet<CompareOptions>().add(
        option_group<CompareOptions>("Comparison", {compare_options()}));
}

std::vector<WrittenGroup> options_of_compare() {
    std::vector<WrittenGroup> groups = option_set_of_compare().written();
    for (WrittenGroup& group : train_option_set().written()) groups.push_back(std::move(group));
    return with_general(std::move(groups));
}

/// The options of all trainings, without those that the comparison sets.
/// @throws ConfigError for options of a single run, such as where it is written.
OptionTexts common_options(const OptionTexts& given) {
    const OptionSet<TrainConfig> of_training = train_option_set();
    OptionTexts common;
    for (const auto& [name, text] : given) {
        const auto* option = of_training.look_up(name);
        if (option == nullptr || name == "threads" || name == "seed") continue;
        if (!option->reproduces_run || name == "mechanism" || name == "covariance")
            throw ConfigError(fmt::format(
                "--{}: has no meaning in a comparison ({})",
                name,
                option->reproduces_run ? "--mechanisms sets it" : "it belongs to a single run"));
        common[name] = text;
    }
    return common;
}

/// Splits a list at blanks and commas.
std::vector<std::string> between_commas(const std::vector<std::string>& words) {
    std::vector<std::string> parts;
    for (const std::string& word : words)
        for (const std::string_view part : split(word, ',')) parts.emplace_back(part);
    return parts;
}

CompareConfig read_compare_config(const OptionTexts& given, bool alone) {
    const CompareOptions asked = option_set_of_compare().read(given);
    CompareConfig config;
    config.mechanisms = parse_compared_mechanisms("--mechanisms", asked.mechanisms);
    config.common = common_options(given);
    config.train = asked.train || given.contains("data");
    const auto seed = given.find("seed");
    config.seeds = seed == given.end() ? between_commas(asked.seeds) : std::vector{seed->second};
    config.step_sizes = between_commas(asked.step_sizes.value_or(std::vector<std::string>{}));
    config.directory = asked.output;
    const auto threads = given.find("threads");
    config.threads = granted_threads(
        threads == given.end() ? 0 : train_option_set().read({*threads}).asked_threads, alone);
    return config;
}

/// Trains if asked to. COLLECTIVE. @return what came of it; nothing if nothing was trained.
std::optional<SweepResult> train_all(const CompareConfig& config,
                                     std::vector<ComparedFigures>& figures,
                                     Network& network,
                                     std::FILE* report) {
    const SweepConfig sweep = compared_trainings(config, figures);
    if (!config.train || sweep.variants.empty()) return std::nullopt;
    SweepProgress progress(report);
    watch_for_stop();
    const SweepResult result = run_sweep(
        sweep,
        [](const std::string& ini) {
            return train_config_of({ini, "sotto compare"});
        },
        network,
        progress,
        stop_requested);
    progress.finish();
    network.agree([&] {
        if (network.process() != 0) return;
        add_trainings(figures, result, config.directory);
        if (result.first_failure)
            throw Error(static_cast<ExitCode>(result.first_failure->exit_code),
                        fmt::format("{} of {} trainings failed; the first: {}",
                                    result.failed,
                                    result.trainings,
                                    result.first_failure->error));
    });
    return result;
}

void write_comparison(const CompareConfig& config,
                      const std::vector<ComparedFigures>& figures,
                      const std::optional<SweepResult>& trained,
                      const GeneralOptions& general) {
    const std::filesystem::path table = config.directory / "comparison.csv";
    create_folder(config.directory);
    write_file_atomically(table, comparison_csv(figures));
    const std::string picture = draw_comparison(config.directory, figures);
    nlohmann::ordered_json json{{"mechanisms", comparison_json(figures)},
                                {"table", table.string()}};
    json["picture"] = picture.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(picture);
    write_json(general, to_text(json));
    std::FILE* const report = report_stream(general);
    if (report == nullptr) return;
    say(report,
        "{}{}written    {}",
        comparison_text(figures),
        trained ? privacy_line(config.directory, *trained) : std::string(),
        table.string());
    say(report, "{}\n", picture.empty() ? "" : " and " + picture);
    std::fflush(report);
}

/// Every process makes the plans, so that all know which mechanisms to train.
int compare_on(Network& network, const CompareConfig& config, const GeneralOptions& general) {
    const bool leader = network.process() == 0;
    std::vector<ComparedFigures> figures;
    network.agree([&] {
        if (leader) require_json_writable(general);
        for (const ComparedMechanism& mechanism : config.mechanisms)
            figures.push_back(compared_figures(config, mechanism));
    });
    const std::optional<SweepResult> trained =
        train_all(config, figures, network, leader ? report_stream(general) : nullptr);
    network.agree([&] {
        if (leader) write_comparison(config, figures, trained, general);
    });
    if (trained && trained->interrupted) return static_cast<int>(ExitCode::interrupted);
    const bool all_refused =
        std::ranges::none_of(figures, &std::string::empty, &ComparedFigures::problem);
    return static_cast<int>(all_refused ? ExitCode::usage : ExitCode::ok);
}

int compare_main(const std::vector<std::string>& arguments) {
    return run_job([&](Network& ranks, bool alone) {
        OptionTexts given;
        auto config = std::make_shared<CompareConfig>();
        ranks.agree([&] {
            given = parse_options(options_of_compare(), arguments);
            *config = read_compare_config(given, alone);
        });
        return PreparedJob{[] { return 1; },
                           config->threads,
                           [config, general = read_general(given)](Network& network) {
                               return compare_on(network, *config, general);
                           }};
    });
}

}  // namespace

Command compare_command() {
    return {.name = "compare",
            .summary = "compare mechanisms at equal epsilon: a table and a picture",
            .example = "sotto compare --mechanisms ldp,decor,corn,pairs,R.npy --epsilon 10",
            .description = R"(
Plans the noise of several mechanisms for the same budget, and prints how much noise mixing leaves, and what an outsider and one
curious agent learn at most. With data it also trains with each of them, several at a time under mpirun. If it is started again, it
trains what is missing.)",
            .files = {{"comparison/",
                       "comparison.csv, comparison.svg and the trainings; `--output` chooses "
                       "another folder"}},
            .options = options_of_compare,
            .parallel = true,
            .run = compare_main};
}

}  // namespace sotto::cli
