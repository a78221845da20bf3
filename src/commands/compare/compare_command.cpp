#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "commands/compare/compare_job.hpp"
#include "commands/compare/compare_report.hpp"
#include "commands/sweep/sweep_job.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "store/run_directory.hpp"
#include "training/job.hpp"
#include "training/stop_signal.hpp"

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

/// Trains if asked to. COLLECTIVE. @return whether it was interrupted.
bool train_all(const CompareConfig& config,
               std::vector<ComparedFigures>& figures,
               Network& network,
               std::FILE* report) {
    const SweepConfig sweep = compared_trainings(config, figures);
    if (!config.train || sweep.variants.empty()) return false;
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
        add_trainings(figures, result);
        if (result.first_failure)
            throw Error(static_cast<ExitCode>(result.first_failure->exit_code),
                        fmt::format("{} of {} trainings failed; the first: {}",
                                    result.failed,
                                    result.trainings,
                                    result.first_failure->error));
    });
    return result.interrupted;
}

void write_comparison(const CompareConfig& config,
                      const std::vector<ComparedFigures>& figures,
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
    say(report, "{}written    {}", comparison_text(figures), table.string());
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
    const bool interrupted =
        train_all(config, figures, network, leader ? report_stream(general) : nullptr);
    network.agree([&] {
        if (leader) write_comparison(config, figures, general);
    });
    if (interrupted) return static_cast<int>(ExitCode::interrupted);
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
