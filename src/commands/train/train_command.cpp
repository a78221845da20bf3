#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <thread>

#include "commands/cli/command.hpp"
#include "commands/cli/progress.hpp"
#include "run/run_history.hpp"
#include "run/training_summary.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/net/memory_network.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto::cli {

std::vector<OptionGroup> train_options() {
    return {graph_options(),
            plan_options(),
            task_options(),
            run_options(),
            peer_options(),
            common_options()};
}

namespace {

int default_threads() {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// What may be given beside --resume: where and how the job runs, and what it says. All else is as
/// the run was started with.
constexpr std::array<std::string_view, 20> resumable_options{"resume",
                                                             "without",
                                                             "data",
                                                             "test-data",
                                                             "roster",
                                                             "identity",
                                                             "threads",
                                                             "stall-warn",
                                                             "stall-abort",
                                                             "checkpoint-every",
                                                             "eval-every",
                                                             "link-encryption",
                                                             "past-noise-memory",
                                                             "view",
                                                             "json",
                                                             "quiet",
                                                             "dry-run",
                                                             "bootstrap",
                                                             "optimality-gap",
                                                             "help"};

void require_resumable(const ParsedOptions& parsed) {
    for (const OptionGroup& group : train_options())
        for (const Option& option : group.options)
            if (parsed.given(option.name) &&
                std::ranges::find(resumable_options, option.name) == resumable_options.end())
                throw ConfigError(fmt::format(
                    "--{}: cannot be given with --resume, which goes on with the run's own options "
                    "(allowed: {})",
                    option.name,
                    fmt::join(resumable_options, ", ")));
}

/// Number of agents that take part in a run that is taken up.
int members_of_run(const TrainConfig& config) {
    const RunHistory history = read_history(config.resume->directory);
    return history.phases.back().members.size() - static_cast<int>(config.resume->without.size());
}

/// The job itself, on any network. Reports on process 0.
int train_on(Network& network, const ParsedOptions& parsed, const TrainConfig& config) {
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(parsed) : nullptr;
    Progress progress(report);
    network.agree([&] {
        if (leader) require_json_writable(parsed);
    });
    if (report != nullptr && network.processes() == 1 && network.agents() > 1)
        fmt::print(report,
                   "all {} agents run in this process; `mpirun -n {} sotto train ...` gives each "
                   "its own\n",
                   network.agents(),
                   network.agents());
    watch_for_stop();
    const TrainResult result = run_training(config, network, progress, stop_requested);
    progress.finish();
    if (leader) {
        write_json(parsed, summary_json(result, config.plan));
        if (report != nullptr) {
            fmt::print(report, "{}", summary_text(result, config));
            std::fflush(report);
        }
    }
    return static_cast<int>(result.interrupted ? ExitCode::other : ExitCode::ok);
}

int train_alone(const std::vector<std::string>& arguments) {
    std::optional<ParsedOptions> parsed(std::in_place, train_options(), arguments);
    if (parsed->has("resume")) {
        require_resumable(*parsed);
        parsed.emplace(
            train_options(), arguments, config_of_run("--resume", parsed->text("resume")));
    }
    TrainConfig config = read_train_config(*parsed);
    if (config.threads == 0) config.threads = default_threads();
    set_linear_algebra_threads(config.threads);
    const auto network = make_memory_network(
        std::max(1, config.resume ? members_of_run(config) : agents_of(config.graph)),
        config.threads);
    return train_on(*network, *parsed, config);
}

int train_over_mpi(const std::vector<std::string>& arguments) {
    const MpiSession session;
    const auto network = make_mpi_network(session);
    return run_together(*network, [&] {
        std::optional<ParsedOptions> parsed;
        TrainConfig config;
        network->agree([&] {
            parsed.emplace(train_options(), arguments);
            if (parsed->has("resume")) require_resumable(*parsed);
        });
        // The others may not see the run directory's files of rank 0.
        std::optional<ConfigText> of_run;
        const bool any_resume = network->maximum(parsed->has("resume") ? 1 : 0) > 0;
        network->agree([&] {
            if (any_resume && !parsed->has("resume"))
                throw NetworkError(
                    fmt::format("rank {} was started without --resume, others with it; start all "
                                "ranks with the "
                                "same options",
                                session.rank()));
            if (any_resume && session.rank() == 0)
                of_run = config_of_run("--resume", parsed->text("resume"));
        });
        if (any_resume) {
            of_run =
                ConfigText{network->broadcast(of_run ? of_run->text : ""), "the run's config.ini"};
        }
        network->agree([&] {
            if (of_run)
                parsed.emplace(train_options(), arguments, of_run);
            else
                resolve_agents(*parsed, session.ranks());
            config = read_train_config(*parsed);
            if (config.threads == 0) config.threads = 1;
            set_linear_algebra_threads(config.threads);
        });
        return train_on(*network, *parsed, config);
    });
}

int run(const std::vector<std::string>& arguments) {
    return launch_environment().launched ? train_over_mpi(arguments) : train_alone(arguments);
}

}  // namespace

Command train_command() {
    return {"train",
            "train a model privately, one agent per MPI rank (or all in one process)",
            "mpirun -n 20 sotto train --data a9a.gz --mechanism corn --epsilon 10 --rounds 1000",
            train_options,
            true,
            run};
}

}  // namespace sotto::cli
