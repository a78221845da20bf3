#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "commands/cli/command.hpp"
#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_job.hpp"
#include "commands/sweep/sweep_report.hpp"
#include "core/files.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "training/job.hpp"
#include "training/stop_signal.hpp"

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options_of_sweep() {
    std::vector<WrittenGroup> groups = sweep_option_set().written();
    for (WrittenGroup& group : train_option_set().written()) groups.push_back(std::move(group));
    return with_general(std::move(groups));
}

/// A sweep with its file and options.
struct SweepTask {
    SweepConfig config;
    std::string file, text;  ///< of the sweep
    GeneralOptions general;
};

/// Process 0 reads the file for all. COLLECTIVE.
SweepTask read_task(Network& ranks, const OptionTexts& given) {
    SweepTask task{{}, {}, {}, read_general(given)};
    SweepOptions options;
    ranks.agree([&] {
        options = sweep_option_set().read(given);
        if (options.file.empty())
            throw ConfigError("file: the sweep's FILE is missing (example: sotto sweep a9a.ini)");
        task.file = options.file;
        if (ranks.process() != 0) return;
        require_json_writable(task.general);
        task.text = read_file(task.file, largest_config_bytes);
    });
    task.text = ranks.broadcast(task.text, largest_config_bytes);
    ranks.agree([&] {
        task.config = read_sweep(given, task.text, task.file);
        task.config.directory =
            options.output.value_or("sweeps/" + std::filesystem::path(task.file).stem().string());
        task.config.threads = granted_threads(task.config.threads, ranks.processes() == 1);
    });
    return task;
}

/// Runs the sweep on any network; every process trains.
int sweep_on(Network& network, const SweepTask& task) {
    const SweepConfig& config = task.config;
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(task.general) : nullptr;
    SweepProgress progress(report);
    watch_for_stop();
    const SweepResult result = run_sweep(
        config,
        [&](const std::string& ini) {
            return train_config_of({ini, task.file});
        },
        network,
        progress,
        stop_requested);
    progress.finish();
    network.agree([&] {
        if (!leader) return;
        write_file_atomically(config.directory / "sweep.ini", task.text);
        write_json(task.general, sweep_report_json(config, result));
        if (report != nullptr) {
            say(report, "{}", sweep_report_text(config, result));
            std::fflush(report);
        }
        if (!result.first_failure) return;
        const auto code = static_cast<ExitCode>(result.first_failure->exit_code);
        if (config.private_choice)
            throw Error(code,
                        fmt::format("private-choice: a training failed, so nothing is released; "
                                    "run the same command again once this is mended: {}",
                                    result.first_failure->error));
        throw Error(code,
                    fmt::format("{} of {} trainings failed (column error of {}); the first: {}",
                                result.failed,
                                result.trainings,
                                (config.directory / "runs.csv").string(),
                                result.first_failure->error));
    });
    return static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::ok);
}

int sweep_main(const std::vector<std::string>& arguments) {
    return run_job([&](Network& ranks, bool) {
        OptionTexts given;
        ranks.agree([&] { given = parse_options(options_of_sweep(), arguments); });
        const auto task = std::make_shared<SweepTask>(read_task(ranks, given));
        return PreparedJob{[] { return 1; },
                           task->config.threads,
                           [task](Network& network) { return sweep_on(network, *task); }};
    });
}

}  // namespace

Command sweep_command() {
    return {.name = "sweep",
            .summary =
                "train a grid of options, one training per rank at a time, into one CSV; resumable",
            .example = "mpirun -n 2 --bind-to none sotto sweep bench/figures/a9a.ini --data a9a.gz",
            .description = R"(
FILE is an INI file with options of `sotto train`; several values, separated by blanks, form a grid, and sections are variants of it.
Every cell is trained, several at a time under mpirun, and one table has the figures of all. Every cell takes the best value of
`step-size`, or of the options that `--choose` names; while that is the smallest or largest value tried, further ones are tried. If the
command is started again, it trains what is missing.)",
            .files = {{"sweeps/NAME/",
                       "results, unless `--output` names another folder: results.csv, a picture "
                       "with `--plot`, the sweep itself"}},
            .options = options_of_sweep,
            .parallel = true,
            .run = sweep_main};
}

}  // namespace sotto::cli
