#include "options/run_options.hpp"

#include "options/option_formats.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

namespace {

/// Agents whose views are recorded, and `eavesdropper` for the wire.
Binding<TrainConfig> recorded_views() {
    return {OptionKind::value,
            among_others("", {std::string(eavesdropper_view)}),
            [](TrainConfig& config, const std::string& option, const std::string& text) {
                RecordedNames recorded = parse_recorded_names(option, text);
                config.record_views = std::move(recorded.agents);
                config.record_wire = recorded.wire;
            },
            [](const TrainConfig& config) -> std::optional<std::string> {
                std::string text = recorded_names_text({config.record_views, config.record_wire});
                if (text.empty()) return std::nullopt;
                return text;
            }};
}

/// The run to resume, of which `member` is a part.
template <class Member, class Value>
Binding<TrainConfig> of_resumed_run(Member member, const OptionFormat<Value>& format) {
    return {format.kind,
            format.allowed,
            [=](TrainConfig& config, const std::string& option, const std::string& text) {
                if (!config.resume) config.resume.emplace();
                std::invoke(member, *config.resume) = format.read(option, text);
            },
            [=](const TrainConfig& config) -> std::optional<std::string> {
                if (!config.resume) return std::nullopt;
                std::string text = format.write(std::invoke(member, *config.resume));
                if (text.empty()) return std::nullopt;
                return text;
            }};
}

OptionFormat<std::optional<EvaluatedRecords>> evaluated_records() {
    return {
        among_others("auto, all, or a whole number, at least 1", {"auto", "all"}),
        [](const std::string& option, const std::string& text) -> std::optional<EvaluatedRecords> {
            const auto records = number_or_word(option, text, {"auto", "all"});
            if (text == "auto") return std::nullopt;
            return EvaluatedRecords{records, records};
        },
        [](const std::optional<EvaluatedRecords>& records) -> std::string {
            if (!records) return "auto";
            return records->test ? std::to_string(*records->test) : "all";
        }};
}

std::vector<Option<TrainConfig>> evaluation_options() {
    return {{{.name = "eval-every",
              .help = "rounds between evaluations (0: fifty evaluations per run)",
              .ranks_must_agree = true,
              .beside_run = true,
              .shapes_sums = true},
             bound(&TrainConfig::evaluate_every, whole(0))},
            {{.name = "eval-records",
              .help = "{}: records that an agent reads per evaluation, of the test set and of its "
                      "training data (auto: 1000, and after the last round the whole test set)",
              .details = R"(
The rows are evenly spaced, whatever they contain, and different agents test their models on different rows. Every agent
tests the average of all models on as many rows. Where `optimality_gap` is known, the training loss is that of all
records, whatever this option says. `metrics.csv` and the summary give the numbers of records; figures of an interrupted
run are those of an evaluation during training. Rank 0 sees losses of as few records as this option says
([security](../security.md)).)",
              .ranks_must_agree = true,
              .beside_run = true,
              .peers_may_set = false},
             bound(&TrainConfig::evaluated_records, evaluated_records())},
            {{.name = "optimality-gap",
              .help = "{}: compare with the lowest possible loss, for which rank 0 sees exact "
                      "derivatives of every agent's loss (default: off over MPI if every agent has "
                      "a data file of its own)",
              .details = R"(
It is for tasks of up to 512 parameters. Rank 0 sees exact gradients and curvatures; over MPI it is therefore off by
default if every agent has a data file of its own (`%r`), and `optimality_gap` is then null.)",
              .ranks_must_agree = true,
              .beside_run = true,
              .peers_may_set = false},
             bound(&TrainConfig::optimality_gap, on_off())},
            {{.name = "baseline",
              .help = "{}: also train the same model without privacy, for comparison; only where "
                      "one process hosts all agents",
              .details = R"(
After the rounds it makes 500 steps of Adam on the mean of all agents' losses, without clipping and noise, in about a
tenth to a third of the time of the rounds. The verdict and the summary (`accuracy_without_privacy`,
`loss_without_privacy`) give the result. Nothing of this is private: data would have to leave their agents, so no run
over MPI does it.)",
              .beside_run = true,
              .changes_results = false},
             bound(&TrainConfig::baseline, on_off())},
            {{.name = "tensorboard",
              .help = "{}: also write the content of metrics.csv as TensorBoard event files",
              .details = R"(
Rank 0 writes them to `tensorboard/` in the run directory during the run; `tensorboard --logdir runs` shows all runs
([run directory](../run-directory.md)). TensorBoard itself is not part of sotto.)",
              .beside_run = true,
              .changes_results = false},
             bound(&TrainConfig::tensorboard, on_off())},
            secure_sum_option<TrainConfig>(),
            {{.name = "pad-rounds",
              .help = "with --participation poisson: process the same number of records in every "
                      "round, so that its duration does not reveal the size of the batch",
              .details = R"(
The number is one that a batch exceeds in one of 2^40 rounds: `--batch-size` and about 7 times its square root more.
Records that differ in the time they take, such as sparse ones, still show. Memory still grows with the batch, and no
rank is told how much another has used.)",
              .peers_may_set = false,
              .changes_results = false},
             bound(&TrainConfig::pad_rounds, flag())}};
}

std::vector<Option<TrainConfig>> view_options() {
    return {
        {{.name = "view",
          .help = "additional views of the ledger, separated by ';': {}",
          .details = R"(
[The ledger](../ledger.md) explains what they add.)",
          .beside_run = true},
         bound(&TrainConfig::views, any_text(one_of(view_placeholder_list(ViewUse::ledger))))},
        {{.name = "record-view",
          .help = "a,b,...: agents whose received messages, gradients, noise and seeds are written "
                  "to the run directory; eavesdropper (alone or among them): what every agent "
                  "sends",
          .details = R"(
What these agents receive, send and know is written to `views/` in the run directory ([recorded
views](../recorded-view.md)). With `eavesdropper`, alone or in the list, every agent also writes what it sends: its
messages or its masked shares. `eavesdropper` is not possible with `cdp` and `dp-fedavg`.)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         recorded_views()}};
}

std::vector<Option<TrainConfig>> start_options() {
    return {
        {{.name = "checkpoint-every",
          .help = "rounds between checkpoints, from which a run can be resumed after a failure (0: "
                  "only when the run is stopped)",
          .details = R"(
[Resuming](../resuming.md) explains what a checkpoint holds and how a run is resumed.)",
          .ranks_must_agree = true,
          .beside_run = true},
         bound(&TrainConfig::checkpoint_every, whole(0))},
        {{.name = "resume",
          .common = true,
          .help = "DIR: resume the run in this directory, with its options",
          .details = R"(
Only options that are marked "beside a run" in these tables can be given with it ([resuming](../resuming.md)).)",
          .reproduces_run = false,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::directory, folder_path())},
        {{.name = "without",
          .help = "a,b,...: agents that leave the resumed run",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::without, agent_numbers())},
        {{.name = "joining",
          .help = "a,b,...: agents that join the resumed run and were never part of it",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::joining, agent_numbers())},
        {{.name = "finish",
          .help = "end the resumed run at its checkpoint, without another round",
          .details = R"(
It is for a run whose budget is spent or whose model is good enough. Models are written and evaluated, the ledger counts
every round that may have been sent, and the run is complete. Final gossip and means of models are left out.)",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::finish, flag())},
        {{.name = "verbose",
          .help = "print everything about plan, ledger and training, not only the verdict",
          .details = R"(
`log.txt` in the run directory always has all of it.)",
          .reproduces_run = false,
          .beside_run = true,
          .changes_results = false},
         bound(&TrainConfig::verbose, flag())},
        {{.name = "dry-run",
          .help = "only print plan, epsilon, memory and estimated time",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         bound(&TrainConfig::dry_run, flag())},
        {{.name = "network",
          .help = "with --dry-run, LATENCY:BANDWIDTH[:HOSTS[:RANKS]], such as 10ms:100Mbit:3: "
                  "predict the time of a round over this network",
          .details = R"(
The latency is one way (half of a `ping`); the bandwidth is that of each host's link, in each direction. Ranks are
spread over HOSTS in order, as evenly as possible; without HOSTS they stay where they are, and in one process every rank
has a host of its own. RANKS is the number of ranks that host the agents, for a dry run in one process (by default one
rank per agent). Computation is measured here, with this machine's cores for each host; bytes and messages are counted
(`predict_exchange`). [Scaling](../scaling.md) compares predictions with rounds over such a network.)",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         bound(&TrainConfig::network, named("LATENCY:BANDWIDTH[:HOSTS[:RANKS]]", parse_network))}};
}

}  // namespace

OptionGroup<TrainConfig>& run_options() {
    static OptionGroup<TrainConfig> group =
        option_group<TrainConfig>("Run", {evaluation_options(), view_options(), start_options()});
    return group;
}

}  // namespace sotto
