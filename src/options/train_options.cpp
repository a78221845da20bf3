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

std::vector<Option<TrainConfig>> preconditioner_options() {
    return {{{.name = "precondition-every",
              .help = "rounds R between renewals of a preconditioner that all agents share, like "
                      "Adam's (0: none, plain SGD)",
              .details = R"(
Coordinates with small gradients get larger steps, up to 2.2 times, and others smaller ones. Every R rounds agents
exchange models until they agree, and each computes from how these have moved what the gradients of all agents were;
the noise in it is known and subtracted. So all agents scale by the same factors, and noise that they share still
cancels. It follows from messages, and costs no privacy against whoever sees them all; partial views have no figures of
their own. The step size stays that of SGD. It is meant for models whose gradients differ much in size; on a small
transformer it was no better than SGD with a well-chosen step. It needs noise on gradients that is independent over
rounds, a fixed symmetric mixing matrix, and no agents that join.)",
              .ranks_must_agree = true},
             bound(
                 [](auto& c) -> auto& { return c.plan.precondition_every; }, whole(0))}};
}

std::vector<Option<TrainConfig>> evaluation_options() {
    return {
        {{.name = "eval-every",
          .help = "rounds between evaluations (0: fifty evaluations per run)",
          .ranks_must_agree = true,
          .beside_run = true,
          .shapes_sums = true},
         bound(&TrainConfig::evaluate_every, whole(0))},
        {{.name = "eval-records",
          .help = "{}: records that an agent reads per evaluation, of the test set and of its "
                  "training data (auto: 1000, or less above 4000 agents, and after the last round "
                  "the whole test set)",
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
                  "derivatives of every agent's loss (default: off above 67 million values of "
                  "second derivatives, and over MPI if every agent has a data file of its own)",
          .details = R"(
It is for tasks of up to 512 parameters, and by default for agents that have at most 67 million second derivatives together
(4300 agents with 124 parameters). Rank 0 sees exact gradients and curvatures; over MPI it is therefore off by
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
        {{.name = "protect-against",
          .help = "observers whose view --epsilon limits: {} (q agents together); others than the "
                  "eavesdropper with --task averaging only",
          .details = R"(
Who averages fixed inputs can count on what observers do not see: with `secure-sum:1` (and `--secure-sum on`) no agent
learns more than epsilon from the sums it receives, with `node:q` no q agents learn more together from the messages of
their neighbours. Noise is then as small as the worst of all these views allows, all of which are examined, by every
process for its own agents. The headline of the ledger stays what somebody learns who sees all messages, usually more.
In a training gradients depend on messages, so that partial views bound nothing
([why](../accounting.md#views)).)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         bound(&TrainConfig::protect_against,
               any_text(one_of({std::string(eavesdropper_view), "node:q", "secure-sum:q"})))},
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
    static OptionGroup<TrainConfig> group = option_group<TrainConfig>(
        "Run", {preconditioner_options(), evaluation_options(), view_options(), start_options()});
    return group;
}

namespace {

/// Lies hide in the noise of honest agents. Measured with 20 agents, softmax on MNIST: noise that
/// is at most so many times what independent noise needs costs no accuracy, and is 7 times less
/// loud than without a cap.
constexpr double variance_cap_of_robust = 1.5;

}  // namespace

OptionSet<TrainConfig> train_option_set() {
    OptionSet<TrainConfig> set;
    set.add(graph_options(), &TrainConfig::graph);
    set.add(plan_options(), &TrainConfig::plan);
    set.add(task_options());
    set.add(run_options());
    set.add(peer_options());
    set.with_standing("gossip-steps", "auto where --tune chooses something, otherwise 1");
    set.with_standing("gossip", "chosen where --tune chooses something, otherwise plain");
    set.with_standing("precision", "auto where --tune chooses something, otherwise float64");
    return set;
}

TrainConfig read_train_config(const OptionTexts& given) {
    TrainConfig config = train_option_set().read(with_default_clip(
        with_tuning(with_default_participation(with_task_defaults(with_agents_of_files(given))))));
    config.plan.open.final_gossip = leaves_final_gossip_open(given, false);
    // Differences need every message, and a deadline is kept best in one exchange.
    const bool chosen = !config.misses_messages();
    config.plan.open.usual_gossip = chosen && !given.contains("gossip");
    config.plan.open.usual_gossip_steps = chosen && !given.contains("gossip-steps");
    config.usual_precision = chosen && !config.expects_lies() && !given.contains("precision");
    if (config.robust.on() && !given.contains("variance-cap"))
        config.plan.variance_cap = std::min(config.plan.variance_cap, variance_cap_of_robust);
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
            throw ConfigError(
                fmt::format("{}: '{}' is not an option that a run keeps; give --{} on the command "
                            "line of every rank",
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
            "--noise-std: --{} is given too; give only one of them, from which the noise follows",
            option));
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
            "--mechanism: {} needs --covariance FILE.npy too, with n x n numbers", mechanism.name));
    throw ConfigError(fmt::format("--covariance: not possible with mechanism {} (allowed: {})",
                                  mechanism.name,
                                  join(mechanisms_with(&Mechanism::takes_covariance), ", ")));
}

void require_roster_with_identity(const TrainConfig& config) {
    if (!config.trust) return;
    const bool roster = !config.trust->roster.empty();
    if (roster == !config.trust->identity.empty()) return;
    throw ConfigError(
        fmt::format("--{}: --{} is needed too (give both, or neither for agents that do not prove "
                    "who they are)",
                    roster ? "roster" : "identity",
                    roster ? "identity" : "roster"));
}

void require_resumed_run(const TrainConfig& config) {
    if (!config.resume) return;
    const bool leaves = !config.resume->without.empty(), joins = !config.resume->joining.empty();
    if (config.resume->directory.empty())
        throw ConfigError(
            leaves  ? "--without: --resume DIR is needed too; agents leave a run that "
                      "is resumed"
            : joins ? "--joining: --resume DIR is needed too; agents join a run that "
                      "is resumed"
                    : "--finish: --resume DIR is needed too; only a resumed run is finished");
    if ((leaves || joins) && config.resume->finish)
        throw ConfigError(
            fmt::format("--finish: not possible with --{}; a run ends with the agents that it has, "
                        "from their checkpoints",
                        leaves ? "without" : "joining"));
}

void require_sampling_with_padding(const TrainConfig& config) {
    if (config.pad_rounds && !config.plan.participation.is_secret())
        throw ConfigError(
            fmt::format("--pad-rounds: has no meaning with --participation {}, whose batches have "
                        "a size that everybody knows (allowed: poisson)",
                        name_of(config.plan.participation)));
}

void require_dry_run_with_network(const TrainConfig& config) {
    if (config.network && !config.dry_run)
        throw ConfigError("--network: --dry-run is needed too; a training uses the real network");
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
