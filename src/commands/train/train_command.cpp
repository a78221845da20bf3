#include <memory>
#include <optional>
#include <vector>

#include "commands/cli/command.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "training/job.hpp"
#include "training/train_job.hpp"

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options_of_train() { return with_general(train_option_set().written()); }

int train_main(const std::vector<std::string>& arguments) {
    return run_job([&](Network& ranks, bool alone) {
        const auto setup = std::make_shared<TrainSetup>(
            read_train_setup(ranks, arguments, alone, options_of_train()));
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
            "mpirun -n 20 sotto train --data a9a.gz --adjacency record-add-remove --epsilon 1",
        .description = R"(
Agents train one model together: they exchange models with their neighbours in a graph, and add noise that is correlated across agents
and rounds, so that mixing cancels most of it while the messages of every agent stay private. What it reveals is accounted exactly.

Under mpirun every rank is one agent; with `--agents` above the number of ranks, a rank hosts several. Without mpirun all agents run
in one process, with the same results in every bit. Ctrl-C stops after a whole round; `sotto train --resume DIR` goes on.)",
        .files = {{"DIR/config.ini",
                   "every option with its value; DIR is `--run-directory`, by default "
                   "runs/TIME-MECHANISM"},
                  {"DIR/plan.json", "the noise plan"},
                  {"DIR/ledger.json", "what the run has revealed"},
                  {"DIR/metrics.csv",
                   "losses, accuracies, epsilon and times, one row per evaluation"},
                  {"DIR/summary.json", "the JSON object of `--json`"},
                  {"DIR/manifest.json",
                   "version, hosts, digests, public keys, commitments to seeds"},
                  {"DIR/agents/AGENT/model.npy", "the final model of each agent"},
                  {"DIR/checkpoints/", "checkpoints, from which `--resume` goes on"}},
        .options = options_of_train,
        .parallel = true,
        .run = train_main};
}

}  // namespace sotto::cli
