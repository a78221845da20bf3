#include "options/train_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/files.hpp"
#include "options/graph_options.hpp"
#include "options/option_formats.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "options/peer_options.hpp"
#include "options/plan_options.hpp"
#include "options/task_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
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
    return {
        {{.name = "eval-every",
          .help = "rounds between evaluations (0: fifty times a run)",
          .ranks_must_agree = true,
          .beside_run = true,
          .shapes_sums = true},
         bound(&TrainConfig::evaluate_every, whole(0))},
        {{.name = "eval-records",
          .help = "{}: records an agent reads for an evaluation, of the test set and of its "
                  "training data (auto: 1000, and after the last round the whole test set)",
          .details = R"(
Rows are taken at equal distances, whatever is in them, and another agent tests its model on other rows. The average of all
models is tested on so many rows by every agent. Where `optimality_gap` is known the training loss is of all records
whatever this says. `metrics.csv` and the summary name the records; figures of an interrupted run are those of an
evaluation during training. Rank 0 is shown losses of so few records as this says ([security](../security.md)).)",
          .ranks_must_agree = true,
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::evaluated_records, evaluated_records())},
        {{.name = "optimality-gap",
          .help = "{}: compare with the lowest loss possible, which shows rank 0 exact derivatives "
                  "of every agent's loss (default: off over MPI where every agent has a data file "
                  "of its own)",
          .details = R"(
For tasks of up to 512 parameters. It shows rank 0 exact gradients and curvatures; by default it is off over MPI where
every agent has a data file of its own (`%r`), and `optimality_gap` is then null.)",
          .ranks_must_agree = true,
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::optimality_gap, on_off())},
        {{.name = "baseline",
          .help = "{}: train the same model without privacy too, to compare with; only where one "
                  "process hosts all agents",
          .details = R"(
After the rounds: 500 steps of Adam on the mean of all agents' losses, without clip and noise, in about the time of a tenth to a third of
the rounds. The verdict and the summary (`accuracy_without_privacy`, `loss_without_privacy`) say what it comes to. Nothing of it is private, so no
run over MPI does it: private data would have to leave their agents.)",
          .beside_run = true,
          .changes_results = false},
         bound(&TrainConfig::baseline, on_off())},
        {{.name = "tensorboard",
          .help = "{}: write what metrics.csv holds as TensorBoard event files, too",
          .details = R"(
Rank 0 writes them to `tensorboard/` in the run directory as the run goes: `tensorboard --logdir runs` shows all runs
([run directory](../run-directory.md)). TensorBoard itself is not part of sotto.)",
          .beside_run = true,
          .changes_results = false},
         bound(&TrainConfig::tensorboard, on_off())},
        secure_sum_option<TrainConfig>(),
        {{.name = "pad-rounds",
          .help = "with --participation poisson: work through the same number of records every "
                  "round, so that its time does not tell the size of a batch",
          .details = R"(
As many as a batch exceeds in one round of 2^40: about 7 times the root of `--batch-size` more. Records that differ in
time themselves, as sparse ones do, still show. Memory still grows with the
batch, and no rank is told how much another has used.)",
          .peers_may_set = false,
          .changes_results = false},
         bound(&TrainConfig::pad_rounds, flag())}};
}

std::vector<Option<TrainConfig>> view_options() {
    return {
        {{.name = "view",
          .help = "additional views of the ledger, separated by ';': {}",
          .details = R"(
[The ledger](../ledger.md) says what they add.)",
          .beside_run = true},
         bound(&TrainConfig::views, any_text(one_of(view_placeholder_list(ViewUse::ledger))))},
        {{.name = "record-view",
          .help = "a,b,...: agents whose received messages, gradients, noise and seeds are written "
                  "to the run directory; eavesdropper (alone or among them): what every agent "
                  "sends",
          .details = R"(
What these agents receive, send and know is written to `views/` in the run directory
([recorded views](../recorded-view.md)). With `eavesdropper`, alone or in the list, every agent also writes what it
puts on the wire: its messages, or its masked shares; not with `cdp` and `dp-fedavg`.)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         recorded_views()}};
}

std::vector<Option<TrainConfig>> start_options() {
    return {
        {{.name = "checkpoint-every",
          .help = "rounds between checkpoints to go on from after a failure (0: only where a "
                  "run is stopped)",
          .details = R"(
[Resuming](../resuming.md) says what a checkpoint holds and how a run is resumed.)",
          .ranks_must_agree = true,
          .beside_run = true},
         bound(&TrainConfig::checkpoint_every, whole(0))},
        {{.name = "resume",
          .common = true,
          .help = "DIR: resume the run in this directory, with its options",
          .details = R"(
Only what this page and the others mark may stand beside it ([resuming](../resuming.md)).)",
          .reproduces_run = false,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::directory, folder_path())},
        {{.name = "without",
          .help = "a,b,...: agents that leave the run that is resumed",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::without, agent_numbers())},
        {{.name = "joining",
          .help = "a,b,...: agents that join the run that is resumed, and were never part of it",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::joining, agent_numbers())},
        {{.name = "finish",
          .help = "the run that is resumed ends at its checkpoint, without another round",
          .details = R"(
Where nothing is left of the budget, or enough is trained: models are written and evaluated, the ledger counts every round that may
have left, and the run is complete. Final gossip and means of models are left out.)",
          .reproduces_run = false,
          .ranks_must_agree = true,
          .beside_run = true},
         of_resumed_run(&ResumeConfig::finish, flag())},
        {{.name = "verbose",
          .help = "tell everything about plan, ledger and training, not the verdict alone",
          .details = R"(
`log.txt` in the run directory has it all either way.)",
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
          .help = "with --dry-run, LATENCY:BANDWIDTH[:HOSTS[:RANKS]], as 10ms:100Mbit:3: predict "
                  "the time of a round over this network",
          .details = R"(
The latency is one way (half of a `ping`), the bandwidth that of each host's link, either way. Ranks are spread over the hosts in
order, as evenly as possible; without HOSTS they are where they are, or in one process one a host. RANKS (in one process; by default one an
agent) host the agents. Computing is measured here, with this machine's cores for each host; bytes and messages are
counted (`predict_exchange`). [Scaling](../scaling.md) compares predictions with rounds over such a network.)",
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

OptionSet<TrainConfig> train_option_set() {
    OptionSet<TrainConfig> set;
    set.add(graph_options(), &TrainConfig::graph);
    set.add(plan_options(), &TrainConfig::plan);
    set.add(task_options());
    set.add(run_options());
    set.add(peer_options());
    return set;
}

TrainConfig read_train_config(const OptionTexts& given) {
    TrainConfig config = train_option_set().read(with_default_clip(
        with_default_participation(with_task_defaults(with_agents_of_files(given)))));
    config.plan.open.final_gossip = leaves_final_gossip_open(given, false);
    settle_train_config(config);
    (void)as_ini(config);
    return config;
}

std::string as_ini(const TrainConfig& config) {
    return ini_text("train", train_option_set().written(config));
}

std::string agreement_lines(const TrainConfig& config) {
    return agreement_lines(train_option_set().written(config));
}

bool changes_results(std::string_view option) {
    static const OptionSet<TrainConfig> set = train_option_set();
    const Option<TrainConfig>* const known = set.look_up(option);
    return known == nullptr || known->changes_results;
}

OptionTexts own_options(const TrainConfig& config) {
    OptionTexts own;
    for (const WrittenGroup& group : train_option_set().written(config))
        for (const WrittenOption& option : group.options)
            if ((!option.peers_may_set || option.shapes_sums) && option.text)
                own[option.name] = *option.text;
    return own;
}

bool is_own_with_secure_sums_only(std::string_view name) {
    const OptionSet<TrainConfig> set = train_option_set();
    const Option<TrainConfig>* option = set.look_up(name);
    return option != nullptr && option->peers_may_set && option->shapes_sums;
}

ConfigText config_of_run(std::string_view option, const std::string& directory) {
    const std::string file = (std::filesystem::path(directory) / "config.ini").string();
    if (!std::filesystem::exists(file))
        throw ConfigError(
            fmt::format("{}: {} holds no run (there is no config.ini)", option, directory));
    return {read_file(file, largest_config_bytes), file};
}

void require_kept_options(const ConfigText& of_run) {
    const std::vector<WrittenGroup> groups = with_general(train_option_set().written());
    for (const auto& [name, text] : parse_options(groups, {}, of_run))
        if (!find_option(groups, name)->reproduces_run)
            throw ConfigError(fmt::format(
                "{}: '{}' is nothing that a run keeps; give --{} on the command line of every rank",
                of_run.source,
                name,
                name));
}

TrainConfig train_config_of(const ConfigText& config) {
    return read_train_config(parse_options(with_general(train_option_set().written()), {}, config));
}

void require_one_source_of_noise(const PlanConfig& config) {
    if (!config.noise_std) return;
    const auto refuse = [](std::string_view option) {
        throw ConfigError(fmt::format(
            "--noise-std: --{} is given too; the noise follows from one of them", option));
    };
    // config.ini of a run has every option, so a default value there is not a request.
    if (config.epsilon != PlanConfig{}.epsilon) refuse("epsilon");
    if (config.budgets_file) refuse("budgets");
}

void require_covariance_file(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (mechanism.takes_covariance == config.covariance_file.has_value()) return;
    if (mechanism.takes_covariance)
        throw ConfigError(fmt::format(
            "--mechanism: {} takes --covariance FILE.npy too, n x n numbers", mechanism.name));
    throw ConfigError(fmt::format("--covariance: not possible with mechanism {} (allowed: {})",
                                  mechanism.name,
                                  join(mechanisms_with(&Mechanism::takes_covariance), ", ")));
}

void require_roster_with_identity(const TrainConfig& config) {
    if (!config.trust) return;
    const bool roster = !config.trust->roster.empty();
    if (roster == !config.trust->identity.empty()) return;
    throw ConfigError(fmt::format(
        "--{}: --{} is needed too (both, or none for agents that do not prove who they are)",
        roster ? "roster" : "identity",
        roster ? "identity" : "roster"));
}

void require_resumed_run(const TrainConfig& config) {
    if (!config.resume) return;
    const bool leaves = !config.resume->without.empty(), joins = !config.resume->joining.empty();
    if (config.resume->directory.empty())
        throw ConfigError(leaves ? "--without: --resume DIR is needed too; agents leave a run that "
                                   "is resumed"
                          : joins ? "--joining: --resume DIR is needed too; agents join a run that "
                                    "is resumed"
                                  : "--finish: --resume DIR is needed too; a run that was resumed "
                                    "ends");
    if ((leaves || joins) && config.resume->finish)
        throw ConfigError(
            fmt::format("--finish: not possible with --{}; a run ends with all who are there, from "
                        "their checkpoints",
                        leaves ? "without" : "joining"));
}

void require_sampling_with_padding(const TrainConfig& config) {
    if (config.pad_rounds && !config.plan.participation.poisson)
        throw ConfigError(
            fmt::format("--pad-rounds: has no meaning with --participation {}, whose batches have "
                        "a size that everybody knows (allowed: poisson)",
                        name_of(config.plan.participation)));
}

void require_dry_run_with_network(const TrainConfig& config) {
    if (config.network && !config.dry_run)
        throw ConfigError(
            "--network: --dry-run is needed too; a training uses the network there is");
}

void require_records_of_units(const TrainConfig& config) {
    if (!config.task.table.unit.empty() && protects_agents(config.plan.adjacency))
        throw ConfigError(fmt::format(
            "unit-column: {} is given, but adjacency {} protects everything of an agent together "
            "(allowed with it: --adjacency record, record-add-remove, record-zero-out)",
            config.task.table.unit,
            name_of(config.plan.adjacency)));
}

void settle_train_config(TrainConfig& config) {
    require_one_source_of_noise(config.plan);
    require_covariance_file(config.plan);
    require_resumed_run(config);
    require_dry_run_with_network(config);
    require_roster_with_identity(config);
    require_sampling_with_padding(config);
    require_records_of_units(config);
}

}  // namespace sotto
