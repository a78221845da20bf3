#include "commands/train/train_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "commands/cli/beside_run.hpp"
#include "commands/cli/general_options.hpp"
#include "commands/cli/job.hpp"
#include "commands/cli/option_parser.hpp"
#include "commands/cli/progress.hpp"
#include "commands/cli/run_of_directory.hpp"
#include "commands/cli/stop_signal.hpp"
#include "commands/train/train_report.hpp"
#include "run/history_copies.hpp"
#include "run/options/train_options.hpp"
#include "run/run_history.hpp"
#include "run/training_summary.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options() { return with_general(train_option_set().written()); }

/// Of a run that is taken up.
int agents_left(const ResumeConfig& resume) {
    const RunHistory history = read_history(resume.directory);
    return history.phases.back().members.size() - static_cast<int>(resume.without.size());
}

/// Agents of this process, where it is alone.
int agents_alone(const TrainConfig& config) {
    return config.resume ? agents_left(*config.resume) : agents_of(config.graph);
}

/// Agents of all ranks; of a run that is taken up rank 0 knows them. COLLECTIVE.
int agents_of_ranks(Network& ranks, const TrainConfig& config) {
    if (!config.resume) return agree_on_agents(ranks, config.graph.topology.agents);
    int agents = 1;
    ranks.agree([&] {
        if (ranks.process() == 0) agents = std::max(1, agents_left(*config.resume));
    });
    return agents_of_rank_0(ranks, agents);
}

/// The job itself, on any network. Reports on process 0.
int train_on(Network& network, const GeneralOptions& general, const TrainConfig& config) {
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(general) : nullptr;
    Progress progress(report);
    network.agree([&] {
        if (leader) require_json_writable(general);
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
        write_json(general, summary_json(result, config.plan));
        if (report != nullptr) {
            fmt::print(report, "{}", summary_text(result, config));
            std::fflush(report);
        }
    }
    return static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::ok);
}

/// config.ini of the run to take up, as rank 0 reads it: the others may not see its files. Nothing
/// for a new run. COLLECTIVE. @throws Error if some ranks take up a run and others do not.
std::optional<ConfigText> share_config_of_run(Network& ranks, const OptionTexts& given) {
    const bool resumes = given.contains("resume");
    const std::string own = resumes ? "--resume" : "";
    const auto all = ranks.all_gather(own, std::string_view("--resume").size());
    if (std::ranges::all_of(all, [](const std::string& said) { return said.empty(); }))
        return std::nullopt;
    ConfigText of_run{"", "the run's config.ini"};
    ranks.agree([&] {
        const auto without = std::ranges::find(all, std::string());
        const auto with = std::ranges::find_if(all, [](const auto& said) { return !said.empty(); });
        if (without != all.end())
            throw NetworkError(
                fmt::format("rank {} was started without --resume, rank {} with it; start all "
                            "ranks with the same options",
                            without - all.begin(),
                            with - all.begin()));
    });
    // Who lost its disk gets back what the others keep of it.
    (void)restore_history(given.at("resume"), ranks);
    ranks.agree([&] {
        if (ranks.process() == 0) of_run = config_of_run("--resume", given.at("resume"));
    });
    of_run.text = ranks.broadcast(of_run.text, largest_config_bytes);
    return of_run;
}

int run(const std::vector<std::string>& arguments) {
    return run_job([&](Network& ranks, bool alone) {
        OptionTexts given;
        ranks.agree([&] {
            given = parse_options(options(), arguments);
            if (given.contains("resume"))
                require_beside_run(
                    options(),
                    given,
                    "cannot be given with --resume, which goes on with the run's own options");
        });
        const std::optional<ConfigText> of_run = share_config_of_run(ranks, given);
        auto config = std::make_shared<TrainConfig>();
        ranks.agree([&] {
            std::vector<std::string> beside;
            for (const auto& [name, text] : given) beside.push_back(name);
            std::set<std::string> kept;
            if (of_run) {
                require_kept_options(*of_run);
                given = parse_options(options(), arguments, of_run);
                for (const auto& [name, text] : given)
                    if (std::ranges::find(beside, name) == beside.end()) kept.insert(name);
            } else if (!alone) {
                resolve_agents(given, ranks.processes());
            }
            *config = read_train_config(given, kept);
            // What is warned of follows from this one where it is not given too.
            if (std::ranges::find(beside, "stall-abort") != beside.end())
                beside.emplace_back("stall-warn");
            if (config->resume) config->resume->given = std::move(beside);
            config->threads = granted_threads(config->asked_threads, alone);
        });
        return PreparedJob{[config] { return agents_alone(*config); },
                           config->threads,
                           [config, general = read_general(given)](Network& network) {
                               return train_on(network, general, *config);
                           },
                           alone ? std::nullopt : std::optional(agents_of_ranks(ranks, *config)),
                           true};
    });
}

}  // namespace

Command train_command() {
    return {
        .name = "train",
        .summary =
            "train a model privately, one agent or several per MPI rank (or all in one process)",
        .example =
            "mpirun -n 20 sotto train --data a9a.gz --mechanism corn --epsilon 10 "
            "--rounds 1000",
        .options = options,
        .parallel = true,
        .run = run};
}

}  // namespace sotto::cli
