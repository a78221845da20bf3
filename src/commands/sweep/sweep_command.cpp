#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <thread>

#include "commands/cli/command.hpp"
#include "commands/cli/progress.hpp"
#include "commands/sweep/sweep_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/net/memory_network.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto::cli {

namespace {

std::vector<OptionGroup> options() {
    std::vector<OptionGroup> groups{sweep_options()};
    for (OptionGroup& group : train_options()) groups.push_back(std::move(group));
    return groups;
}

class SweepProgress : public SweepListener {
  public:
    explicit SweepProgress(std::FILE* report) : report_(report) {}

    void on_start(std::size_t cells, long trainings, long known) override {
        if (report_ == nullptr) return;
        fmt::print(report_, "sweep      {} cells, {} trainings", cells, trainings);
        if (known > 0) fmt::print(report_, "; {} known from an earlier start", known);
        fmt::print(report_, "\n");
        std::fflush(report_);
        bar_.restart();
    }

    void on_progress(long finished, long left) override {
        if (report_ == nullptr || left == 0 || !bar_.due()) return;
        const double elapsed = bar_.elapsed_seconds();
        const auto done = static_cast<double>(finished), rest = static_cast<double>(left);
        bar_.show(done / (done + rest),
                  fmt::format("{} trainings done, {} to do, {} left",
                              finished,
                              left,
                              finished > 0 ? duration_text(elapsed / done * rest) : "?"));
    }

    void finish() { bar_.finish(); }

  private:
    std::FILE* report_;
    ProgressBar bar_;
};

/// The sweep on any network: every process of it trains.
int sweep_on(Network& network, const ParsedOptions& parsed) {
    const bool leader = network.process() == 0;
    std::string file, text;
    network.agree([&] {
        if (!parsed.has("file"))
            throw ConfigError("file: the sweep's FILE is missing (example: sotto sweep a9a.ini)");
        file = parsed.text("file");
        if (!leader) return;
        require_json_writable(parsed);
        text = read_file(file);
    });
    text = network.broadcast(text);
    SweepConfig config;
    network.agree([&] {
        config = read_sweep(parsed, text, file);
        config.directory = parsed.has("output")
                               ? parsed.text("output")
                               : "sweeps/" + std::filesystem::path(file).stem().string();
        if (config.threads == 0)
            config.threads =
                network.processes() > 1
                    ? 1
                    : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        set_linear_algebra_threads(config.threads);
    });
    std::FILE* report = leader ? report_stream(parsed) : nullptr;
    SweepProgress progress(report);
    watch_for_stop();
    const SweepResult result = run_sweep(
        config,
        [&](const std::string& ini) {
            return read_train_config(ParsedOptions(train_options(), {}, ConfigText{ini, file}));
        },
        network,
        progress,
        stop_requested);
    progress.finish();
    network.agree([&] {
        if (!leader) return;
        write_file_atomically(config.directory / "sweep.ini", text);
        write_json(parsed, sweep_report_json(config, result));
        if (report != nullptr) {
            fmt::print(report, "{}", sweep_report_text(config, result));
            std::fflush(report);
        }
        if (result.first_failure)
            throw Error(static_cast<ExitCode>(result.first_failure->exit_code),
                        fmt::format("{} of {} trainings failed (column error of {}); the first: {}",
                                    result.failed,
                                    result.trainings,
                                    (config.directory / "runs.csv").string(),
                                    result.first_failure->error));
    });
    return static_cast<int>(result.interrupted ? ExitCode::other : ExitCode::ok);
}

int run(const std::vector<std::string>& arguments) {
    if (!launch_environment().launched) {
        const auto network = make_memory_network(1, 1);
        return sweep_on(*network, ParsedOptions(options(), arguments));
    }
    const MpiSession session;
    const auto network = make_mpi_network(session);
    return run_together(*network, [&] {
        std::optional<ParsedOptions> parsed;
        network->agree([&] { parsed.emplace(options(), arguments); });
        return sweep_on(*network, *parsed);
    });
}

}  // namespace

Command sweep_command() {
    return {"sweep",
            "train a grid of options, one training a rank at a time; resumable; one CSV",
            "mpirun -n 2 --bind-to none sotto sweep bench/figures/a9a.ini --data a9a.gz",
            options,
            true,
            run};
}

}  // namespace sotto::cli
