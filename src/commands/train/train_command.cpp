#include "commands/train/train_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <vector>

#include "commands/cli/general_options.hpp"
#include "commands/cli/job.hpp"
#include "commands/cli/progress.hpp"
#include "commands/cli/stop_signal.hpp"
#include "commands/train/leave_requests.hpp"
#include "commands/train/train_report.hpp"
#include "commands/train/train_setup.hpp"
#include "run/options/train_options.hpp"
#include "run/training.hpp"
#include "run/training_summary.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options() { return with_general(train_option_set().written()); }

/// Shows a training, and knows who takes part and which of them are asked to leave.
class WatchedTraining final : public Progress {
  public:
    WatchedTraining(std::FILE* report, Network& network, const TrainConfig& config)
        : Progress(report), network_(network), leave_(config.leave_file.value_or("")) {}
    void on_members(const Membership& members) override { members_ = members; }

    [[nodiscard]] const Membership& members() const { return members_; }
    /// Numbers of agents of this process.
    [[nodiscard]] const std::vector<int>& leaving() { return leave_.of(network_, members_); }

  private:
    Network& network_;
    LeaveRequests leave_;
    Membership members_;
};

int train_on(Network& network, const GeneralOptions& general, const TrainConfig& config);

/// The others go on; who leaves is done. COLLECTIVE.
int go_on_without(const std::vector<int>& leaving,
                  const Membership& members,
                  const TrainResult& result,
                  Network& network,
                  const GeneralOptions& general,
                  TrainConfig config) {
    if (network.process() == 0 && report_stream(general) != nullptr)
        fmt::print(report_stream(general),
                   "agent{} {} leave{} after round {}; the others go on\n",
                   leaving.size() == 1 ? "" : "s",
                   fmt::join(leaving, ", "),
                   leaving.size() == 1 ? "s" : "",
                   result.rounds);
    const auto rest = network.without(members.places(leaving));
    if (!rest) return static_cast<int>(ExitCode::ok);
    config.resume = ResumeConfig{result.run_directory, leaving};
    return run_together(*rest, [&] { return train_on(*rest, general, config); });
}

/// The job itself, on any network. Reports on process 0.
int train_on(Network& network, const GeneralOptions& general, const TrainConfig& config) {
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(general) : nullptr;
    WatchedTraining progress(report, network, config);
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
    watch_for_leaving();
    const auto stops = [&] { return stop_requested() || !progress.leaving().empty(); };
    const TrainResult result = run_training(config, network, progress, stops);
    progress.finish();
    if (result.interrupted) {
        const std::vector<int> leaving =
            agree_on_leaving(network, progress.members(), progress.leaving(), stop_requested());
        if (!leaving.empty())
            return go_on_without(leaving, progress.members(), result, network, general, config);
    }
    if (leader) {
        write_json(general, summary_json(result, config.plan));
        if (report != nullptr) {
            fmt::print(report, "{}", summary_text(result, config));
            std::fflush(report);
        }
    }
    return static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::ok);
}

int run(const std::vector<std::string>& arguments) {
    return run_job([&](Network& ranks, bool alone) {
        const auto setup =
            std::make_shared<TrainSetup>(read_train_setup(ranks, arguments, alone, options()));
        return PreparedJob{
            [setup] { return agents_alone(setup->config); },
            setup->config.threads,
            [setup](Network& network) { return train_on(network, setup->general, setup->config); },
            alone ? std::nullopt : std::optional(agents_of_ranks(ranks, setup->config)),
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
        .description = R"(
Agents train one model together: they exchange models with their neighbours in a graph, and add noise that is correlated across agents
and rounds, so that mixing cancels most of it while the messages of every agent stay private. What it reveals is accounted exactly.

Under mpirun every rank is one agent; with `--agents` above the number of ranks a rank hosts several. Alone all agents run in one
process, and come to the same bits. Ctrl-C stops after a whole round; `sotto train --resume DIR` goes on.)",
        .files = {{"DIR/config.ini",
                   "every option with its value; DIR is `--run-directory`, by default "
                   "runs/TIME-MECHANISM"},
                  {"DIR/plan.json", "the noise plan"},
                  {"DIR/ledger.json", "what the run has revealed"},
                  {"DIR/metrics.csv",
                   "losses, accuracies, epsilon and times, one row an evaluation"},
                  {"DIR/summary.json", "the JSON object of `--json`"},
                  {"DIR/manifest.json",
                   "version, hosts, digests, public keys, commitments to seeds"},
                  {"DIR/agents/AGENT/model.npy", "the final model of each agent"},
                  {"DIR/checkpoints/", "what `--resume` goes on from"}},
        .options = options,
        .parallel = true,
        .run = run};
}

}  // namespace sotto::cli
