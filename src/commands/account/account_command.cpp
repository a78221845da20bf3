#include "commands/account/account_command.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "account/account_job.hpp"
#include "account/distance_table.hpp"
#include "audit/audit_options.hpp"
#include "commands/account/account_text.hpp"
#include "commands/cli/command.hpp"
#include "core/output.hpp"
#include "net/agreement.hpp"
#include "options/graph_options.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "options/plan_options.hpp"
#include "options/train_options.hpp"
#include "privacy/large_plans.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_record.hpp"
#include "training/job.hpp"
#include "training/progress.hpp"
#include "training/run_subject.hpp"

namespace sotto {

namespace {

/// Options for observers, and for the inputs of the accounted messages.
std::vector<Option<AccountConfig>> observer_options() {
    constexpr NameTable<Inputs, 3> inputs{
        {{{Inputs::adaptive, "adaptive"}, {Inputs::fixed, "fixed"}, {Inputs::convex, "convex"}}}};
    return {
        {{.name = "view",
          .common = true,
          .help = "who observes: {}",
          .details = R"(
Of more than 2000 agents the default is `worst-all-messages:1`, which bounds what any one agent learns about each, or
`eavesdropper` where noise is not of single agents and pairs; one observer, as `node:5`, can be asked about all.

`all-messages:a,b` sees the seeds of these agents and every message. Agents are named by number; the error for an agent
that does not exist explains how the labels of a graph file are numbered.)",
          .beside_run = true},
         bound(&AccountConfig::view, any_text(one_of(view_placeholder_list(ViewUse::account))))},
        {{.name = "targets",
          .help = "agents that are learnt about: all, or u,...",
          .beside_run = true},
         bound(&AccountConfig::targets, any_text(among_others("", {"all"})))},
        {{.name = "inputs",
          .help = "adaptive (training: gradients follow messages), fixed (averaging, private "
                  "means), convex (training: convex and smooth losses)",
          .details = R"(
Between adaptive and fixed only `argument` differs. With `convex`, figures of partial views are guarantees for trainings
whose losses are convex and smooth, and whose steps are at most 2 / (b + 2 l2), b the largest curvature of any record's
loss: linear and logistic regression (curvature: the squared length of a record, a quarter of it), whose gradients are
clipped record by record or not at all. Of options sotto cannot check that, since the records of agents that nobody sees
decide it ([equations](../equations.md#convex-trainings)); of a run that was trained with `--feature-norm`, where it is the
default, the sealed ledger says that every agent enforced it, and other runs are refused. For one phase of plain gossip,
with Gaussian noise on gradients, independent between rounds that are not sampled in secret.)",
          .beside_run = true},
         bound(
             [](auto& c) -> auto& { return c.subject.inputs; }, words(inputs))},
        {{.name = "l2",
          .help = "regularisation of the training, which partial views depend on",
          .details = R"(
With `--step-schedule inverse`, step size 1 and `--l2 1` this is averaging.)"},
         bound(
             [](auto& c) -> auto& { return c.subject.l2; }, any_real())},
        {{.name = "sensitivity",
          .help = "sensitivity Delta of one participation (default: 1 with --noise-std or "
                  "matrices, otherwise from --adjacency, --clip-norm, --batch-size)"},
         bound(
             [](auto& c) -> auto& { return c.subject.sensitivity; }, any_real())},
        {{.name = "dimension",
          .help = "parameters of the model, for choices that are left to the plan (--temporal "
                  "auto, --max-bytes)"},
         bound(
             [](auto& c) -> auto& { return c.subject.dimension; }, whole(1))}};
}

std::vector<Option<AccountConfig>> dropout_options() {
    return {{{.name = "dropouts",
              .help = "D: also print figures for runs in which the messages of any D agents are "
                      "missing in every round",
              .details = R"(
There are three figures, all for an observer of every message that is sent who also has the seeds of the view's members.
In the first, agents reveal nothing to make up for what is missing, so nothing is lost, whoever is missing. In the
second, the agents that are present publish the noise of the streams they share with the missing ones, so that it can be
subtracted; this costs as much as a coalition with D more members. The third is for a missing agent whose message is
seen after its streams were published. Each figure assumes that this happens in every round. They are possible for
independent rounds of Gaussian noise on gradients ([equations](../equations.md#rounds-that-agents-miss)).)"},
             bound(&AccountConfig::dropouts, whole(1, 1000000))},
            {{.name = "missing", .help = "a,b,...: as --dropouts, for these agents", .details = R"(
The figures are exact for these agents, while those of `--dropouts` are for the worst ones.)"},
             bound(&AccountConfig::missing, any_text())}};
}

std::vector<Option<AccountOptions>> run_to_account_for() {
    return {{{.name = "run",
              .common = true,
              .help = "DIR of a training: account for its graph, its plans, its rounds and "
                      "everything that happened in it, instead of options",
              .details = R"(
Graph, plans, sensitivities and rounds are those of the directory. Rounds that were repeated count, and agents that left
are gone. If the run has not ended, all its planned rounds count. Only the options that are marked "beside a run", and
`--config`, can be given with it.)",
              .beside_run = true},
             bound(&AccountOptions::run, folder_path())}};
}

std::vector<Option<AccountConfig>> departure_options() {
    return {
        {{.name = "departures",
          .help =
              "ROUND:a,b;ROUND:c: agents that are gone from that round on (rounds count from 0)",
          .details = R"(
From then on, the mixing rule applies to the agents that stay.)"},
         bound(
             [](auto& c) -> auto& { return c.subject.departures; }, any_text())}};
}

/// Whether a view receives less than every message; false for an unknown view, which is refused
/// later.
bool sees_few_messages(const std::string& view) {
    const ViewRecord* const record = view_records().look_up(view.substr(0, view.find(':')));
    return record != nullptr && record->receives != View::Kind::all_messages;
}

/// Options for the price of a private choice.
std::vector<Option<AccountOptions>> choice_options() {
    return {
        {{.name = "private-choice",
          .common = true,
          .help =
              "K: convert one training, given as above, into the cost of publishing the best of "
              "a random number of such trainings, K on average",
          .details = R"(
It stands beside `--mu`, `--epsilon`, `--noise-multiplier`, `--sampled-rounds` or `--allocation`, which give the loss of one training.
`sotto sweep --private-choice` makes such a choice ([sweeps](../sweeps.md#a-private-choice)). The JSON has epsilon, of the choice (certified
from above), epsilon_lower, epsilon_one, epsilon_added_up, of K trainings that somebody sees, epsilon_by_profile and epsilon_by_renyi, and
epsilon_for_the_same, of trainings whose choice costs epsilon_one.)"},
         bound(&AccountOptions::private_choice, real_between(1, 1e4))},
        {{.name = "choice-shape",
          .help = "shape of the number of trainings, above -1: 1 stops with the same probability "
                  "after each, less is cheaper and varies more"},
         bound(&AccountOptions::choice_shape, real_between(-0.99, 10))}};
}

/// Options for other subjects and for conversions.
std::vector<Option<AccountOptions>> other_options() {
    return {
        {{.name = "observation-a",
          .help = "FILE.npy: matrix A of observations O = A G + B Z, instead of a plan",
          .details = R"(
It holds float64 values, needs `--agents`, and replaces graph and plan ([the library](../library.md)).)"},
         bound(&AccountOptions::observation_a, file_path())},
        {{.name = "observation-b", .help = "FILE.npy: B"},
         bound(&AccountOptions::observation_b, file_path())},
        {{.name = "mu",
          .help = "convert this mu into epsilon at --delta, and do nothing else",
          .details = R"(
`--mu M --delta D` and `--epsilon E --delta D` only convert. Their JSON has mu, epsilon, delta, renyi_alpha2 and
rdp_epsilon. `--epsilon` with any other option than `--delta` is a budget.)"},
         bound(&AccountOptions::mu, positive_real())},
        {{.name = "noise-multiplier",
          .common = true,
          .help =
              "convert rounds with this noise (its standard deviation divided by a record's "
              "largest contribution) and --sampling-probability into epsilon, and do nothing else",
          .details = R"(
`--noise-multiplier S --sampling-probability q --rounds T --delta D` gives the cost of T rounds if a record joins each
of them with probability q, decided by a secret coin. With `--epsilon E` instead of `--noise-multiplier`, the smallest
one that is enough is found. The JSON has epsilon (certified from above), epsilon_lower, delta, noise_multiplier,
sampling_probability, sampled_rounds and rounds ([accounting](../accounting.md)).)"},
         bound(&AccountOptions::noise_multiplier, real_between(1e-3, 1e9))},
        {{.name = "sampled-rounds",
          .help = "S:q:T,S:q:T: as --noise-multiplier, for several phases of T rounds with noise "
                  "multiplier S and probability q"},
         bound(&AccountOptions::sampled_rounds, any_text())},
        {{.name = "allocation",
          .common = true,
          .help = "t: as --noise-multiplier, for epochs of t rounds in exactly one of which, drawn "
                  "in secret, each record takes part",
          .details = R"(
`--allocation t --epochs E --noise-multiplier S --delta D` gives the cost of E epochs, certified from both sides, and
what Poisson sampling with the same noise costs ([equations](../equations.md#random-allocation)). With `--epsilon` instead
of `--noise-multiplier`, the smallest one that is enough is found. The JSON also has rounds_an_epoch, epochs and
poisson_epsilon. Trainings do so with `--participation allocation:t`.)"},
         bound(&AccountOptions::allocation, whole(2L, most_rounds_an_epoch))},
        {{.name = "epochs", .help = "epochs of --allocation"},
         bound(&AccountOptions::epochs, whole(1L, 1'000'000L))},
        {{.name = "tight-gap",
          .help = "relative gap to which the tight sensitivity is computed",
          .beside_run = true},
         bound(
             [](auto& c) -> auto& { return c.account.how.tight_gap; }, real_between(1e-9, 1))},
        {{.name = "by-distance",
          .help = "write the table by distance to FILE, as a picture if it ends in .svg",
          .details = R"(
The table has epsilon and the Renyi divergence of order 2: smallest, mean and largest over the pairs of every distance.
If the name ends in `.svg`, the picture of both is drawn by gnuplot, if that is installed, and the table is in FILE.txt.)",
          .beside_run = true},
         bound(&AccountOptions::by_distance, file_path())},
        {{.name = "threads",
          .help = "threads of one process (0: all cores, or one under mpirun)",
          .beside_run = true,
          .changes_results = false},
         bound(&AccountOptions::asked_threads, whole(0, 4096))}};
}

}  // namespace

OptionGroup<AccountOptions>& account_options() {
    static OptionGroup<AccountOptions> group = option_group<AccountOptions>(
        "Account",
        {lifted<AccountOptions>(observer_options(), &AccountOptions::account),
         run_to_account_for(),
         lifted<AccountOptions>(departure_options(), &AccountOptions::account),
         lifted<AccountOptions>(dropout_options(), &AccountOptions::account),
         other_options(),
         choice_options()});
    return group;
}

OptionSet<AccountOptions> account_option_set() {
    OptionSet<AccountOptions> set;
    set.add(
        graph_options(), [](auto& c) -> auto& { return c.account.subject.graph; });
    set.add(
        plan_options(), [](auto& c) -> auto& { return c.account.subject.plan; });
    set.add(account_options());
    set.with_standing("final-gossip", "0");  // for the default view
    set.with_beside_run("unit-agents");      // of a run's messages, whatever its plan was made for
    return set;
}

AccountOptions read_account_options(const OptionTexts& given) {
    AccountOptions options =
        account_option_set().read(with_default_clip(with_participation_without_data(given)));
    require_one_source_of_noise(options.account.subject.plan);
    require_covariance_file(options.account.subject.plan);
    if (options.private_choice && !converts_only(given))
        throw ConfigError(
            "--private-choice: converts only, beside --mu, --epsilon, --noise-multiplier, "
            "--sampled-rounds or --allocation, which give the loss of one training");
    if (!options.private_choice && given.contains("choice-shape"))
        throw ConfigError("--choice-shape: needs --private-choice");
    AskedPlan& plan = options.account.subject.plan;
    plan.open.final_gossip =
        leaves_final_gossip_open(given, sees_few_messages(options.account.view));
    // A given sensitivity is that of whatever takes part, so cyclic participation is allowed.
    if ((options.account.subject.sensitivity || plan.noise_std) && !given.contains("adjacency") &&
        plan.participation.cycle > 1 && !plan.participation.poisson)
        plan.adjacency = Adjacency::record;
    return options;
}

bool converts_sampled_rounds(const OptionTexts& given) {
    return given.contains("noise-multiplier") || given.contains("sampled-rounds") ||
           given.contains("allocation") || given.contains("epochs") ||
           (given.contains("sampling-probability") && !given.contains("participation") &&
            !given.contains("adjacency"));
}

bool converts_only(const OptionTexts& given) {
    if (given.contains("mu") || converts_sampled_rounds(given)) return true;
    if (!given.contains("epsilon")) return false;
    for (const WrittenGroup& group : account_option_set().written())
        for (const WrittenOption& option : group.options) {
            const bool counts = option.changes_results && option.kind != OptionKind::flag &&
                                option.name != "epsilon" && option.name != "delta" &&
                                option.name != "private-choice" && option.name != "choice-shape";
            if (counts && given.contains(option.name)) return false;
        }
    return true;
}

}  // namespace sotto

namespace sotto::cli {

namespace {

std::vector<WrittenGroup> options_of_account() {
    return with_general(account_option_set().written());
}

/// @throws ConfigError if one of `names` is given.
void refuse_beside(std::string_view option,
                   std::initializer_list<const char*> names,
                   const OptionTexts& given) {
    for (const char* name : names)
        if (given.contains(name))
            throw ConfigError(
                fmt::format("--{}: has no meaning with --{}, which converts only", name, option));
}

SampledConversion convert_sampled(const AccountOptions& options, const OptionTexts& given) {
    const PlanConfig& plan = options.account.subject.plan;
    if (options.sampled_rounds) {
        refuse_beside("sampled-rounds",
                      {"noise-multiplier", "sampling-probability", "rounds", "epsilon", "mu"},
                      given);
        return convert_sampled_rounds(
            parse_sampled_rounds("--sampled-rounds", *options.sampled_rounds), plan.delta);
    }
    const bool allocated = options.allocation || options.epochs;
    if (options.allocation.has_value() != options.epochs.has_value())
        throw ConfigError(fmt::format("--{}: is needed too (how many epochs of how many rounds)",
                                      options.allocation ? "epochs" : "allocation"));
    if (allocated)
        refuse_beside("allocation", {"sampling-probability", "rounds", "participation"}, given);
    for (const char* needed : {"sampling-probability", "rounds"})
        if (!allocated && !given.contains(needed))
            throw ConfigError(fmt::format(
                "--{}: is needed too (what each of how many rounds is sampled with)", needed));
    refuse_beside(allocated ? "allocation" : "sampling-probability",
                  {"mu", "graph", "plan", "view", "run", "noise-std"},
                  given);
    if (options.noise_multiplier.has_value() == given.contains("epsilon"))
        throw ConfigError(
            "--noise-multiplier: exactly one of it and --epsilon is needed; the other is computed");
    if (allocated && options.noise_multiplier.value_or(1) < least_allocated_noise)
        throw ConfigError(
            fmt::format("--noise-multiplier: {} is not possible with --allocation, where so little "
                        "noise hides nothing (allowed: {} or more)",
                        *options.noise_multiplier,
                        least_allocated_noise));
    if (allocated && options.noise_multiplier)
        return convert_allocation(
            *options.noise_multiplier, *options.allocation, *options.epochs, plan.delta);
    if (allocated)
        return convert_allocated_budget(
            plan.epsilon, plan.delta, *options.allocation, *options.epochs);
    const double probability = *options.account.subject.plan.sampling_probability;
    require_sampling_probability("--sampling-probability", probability);
    if (!options.noise_multiplier)
        return convert_sampled_budget(plan.epsilon, plan.delta, probability, plan.rounds);
    const SampledRounds rounds{*options.noise_multiplier, probability, plan.rounds};
    return convert_sampled_rounds({&rounds, 1}, plan.delta);
}

/// Writes what a private choice among trainings of this loss costs.
void write_choice(const AccountOptions& options,
                  const PrivacyLoss& training,
                  const GeneralOptions& general) {
    const ChoiceConversion choice = convert_choice(training,
                                                   {*options.private_choice, options.choice_shape},
                                                   options.account.subject.plan.delta);
    write_json(general, choice_conversion_json(choice));
    if (std::FILE* out = report_stream(general)) say(out, "{}", choice_conversion_text(choice));
}

void convert(const AccountOptions& options,
             const OptionTexts& given,
             const GeneralOptions& general) {
    if (options.mu && given.contains("epsilon"))
        throw ConfigError("--mu: --epsilon is given too; give only the one to convert");
    if (converts_sampled_rounds(given)) {
        const SampledConversion sampled = convert_sampled(options, given);
        if (options.private_choice)
            return write_choice(options, PrivacyLoss::sampled(sampled.rounds), general);
        write_json(general, sampled_conversion_json(sampled));
        if (std::FILE* out = report_stream(general))
            say(out, "{}", sampled_conversion_text(sampled));
        return;
    }
    const PlanConfig& plan = options.account.subject.plan;
    const Conversion conversion = options.mu ? convert_mu(*options.mu, plan.delta)
                                             : convert_epsilon(plan.epsilon, plan.delta);
    if (options.private_choice)
        return write_choice(options, PrivacyLoss::gaussian(conversion.mu), general);
    write_json(general, conversion_json(conversion));
    if (std::FILE* out = report_stream(general)) say(out, "{}", conversion_text(conversion));
}

/// Accounts for given matrices A and B.
void account_for_matrices(const AccountOptions& options,
                          const OptionTexts& given,
                          const GeneralOptions& general) {
    for (const char* needed : {"observation-a", "observation-b"})
        if (!given.contains(needed))
            throw ConfigError(
                fmt::format("--{}: is needed too (A and B of O = A G + B Z)", needed));
    if (!given.contains("agents"))
        throw ConfigError(
            "--agents: is needed with --observation-a: A has that many columns a round");
    for (const char* useless : {"view", "plan", "noise-std", "graph", "topology", "mechanism"})
        if (given.contains(useless))
            throw ConfigError(fmt::format(
                "--{}: has no meaning with --observation-a, which is the view itself", useless));
    const AccountConfig& config = options.account;
    const double sensitivity = config.subject.sensitivity.value_or(1);
    const AccountResult result = account_matrices(*options.observation_a,
                                                  *options.observation_b,
                                                  config.subject.graph.topology.agents,
                                                  config.targets,
                                                  sensitivity,
                                                  config.subject.plan.participation,
                                                  config.subject.plan.delta);
    write_json(general, matrices_report_json(result, sensitivity, config.subject.plan.delta));
    if (std::FILE* out = report_stream(general))
        say(out, "{}", matrices_report_text(result, sensitivity, config.subject.plan.delta));
}

/// What to account for: a plan that the options describe, or a run.
struct AccountTask {
    AccountOptions options;
    bool view_given = true;
    std::optional<RecordedRun> run;
};

/// Adds what the run directory says, if --run names one.
AccountTask make_account_task(const AccountOptions& asked, const OptionTexts& given) {
    AccountTask task{asked, given.contains("view"), std::nullopt};
    if (!asked.run) return task;
    require_beside_run(options_of_account(),
                       given,
                       "has no meaning with --run, whose directory sets it",
                       {"config"});
    task.run = read_recorded_run(*asked.run, train_config_of_run("--run", *asked.run));
    task.options.account.subject = subject_config_of(*task.run);
    if (given.contains("inputs"))
        take_inputs(task.options.account.subject, *task.run, asked.account.subject.inputs);
    if (given.contains("unit-agents"))
        task.options.account.subject.plan.unit_agents = asked.account.subject.plan.unit_agents;
    return task;
}

int account_on(Control& network, const AccountTask& task, const GeneralOptions& general) {
    AccountConfig config = task.options.account;
    const std::optional<std::string>& by_distance = task.options.by_distance;
    const bool leader = network.process() == 0;
    network.agree([&] {
        if (!leader) return;
        require_json_writable(general);
        if (by_distance) require_by_distance_writable(*by_distance);
    });
    std::unique_ptr<AccountSubject> subject;
    if (task.run)
        network.agree([&] { subject = account_subject_of(*task.run); });
    else
        subject = build_account_subject(config.subject, network);
    if (!task.view_given && subject->plan.agents > most_dense_agents)
        config.view = large_pairwise_noise(subject->plan) ? "worst-all-messages:1" : "eavesdropper";
    ProgressBar bar;
    if (leader && report_stream(general) != nullptr)
        config.how.on_answer = [&](long done, long all) {
            if (!bar.due()) return;
            bar.show(
                static_cast<double>(done) / static_cast<double>(all),
                fmt::format(
                    "{} of {} observers in {}", done, all, duration_text(bar.elapsed_seconds())));
        };
    const AccountResult result = run_account(config, *subject, network);
    bar.finish();
    network.agree([&] {
        if (!leader) return;
        write_json(general, account_report_json(result, config, *subject));
        if (std::FILE* out = report_stream(general)) {
            say(out, "{}", account_report_text(result, config, *subject));
            std::fflush(out);
        }
        if (by_distance) write_by_distance(result, *by_distance);
    });
    return 0;
}

/// Lets process 0 do conversions and given matrices alone. COLLECTIVE. @return whether it did.
bool is_done_by_leader(Control& ranks,
                       const AccountOptions& options,
                       const OptionTexts& given,
                       const GeneralOptions& general) {
    const bool conversion = converts_only(given);
    if (!conversion && !options.of_matrices()) return false;
    ranks.agree([&] {
        if (ranks.process() != 0) return;
        require_json_writable(general);
        if (conversion)
            convert(options, given, general);
        else
            account_for_matrices(options, given, general);
    });
    return true;
}

int account_main(const std::vector<std::string>& arguments) {
    return run_job([&](Control& ranks, bool alone) {
        OptionTexts given;
        AccountOptions asked;
        ranks.agree([&] {
            given = parse_options(options_of_account(), arguments);
            asked = read_account_options(given);
        });
        require_same_options(ranks, lines_of_all(account_option_set().written(asked)));
        const GeneralOptions general = read_general(given);
        PreparedJob job{[] { return 1; }, 1, [](Control&) { return 0; }};
        if (is_done_by_leader(ranks, asked, given, general)) return job;
        auto task = std::make_shared<AccountTask>();
        ranks.agree([&] { *task = make_account_task(asked, given); });
        job.threads = task->options.account.how.threads =
            granted_threads(asked.asked_threads, alone);
        job.run = [task, general](Control& network) { return account_on(network, *task, general); };
        return job;
    });
}

}  // namespace

Command account_command() {
    return {.name = "account",
            .summary = "compute what every observer learns about every agent",
            .example =
                "sotto account --graph florentine_families.edges --mechanism ldp --rounds "
                "100 --view all-nodes",
            .description = R"(
Computes for every observer and every agent what the observer learns from the messages of all rounds: mu and epsilon, exact at
`--delta`, worst first. The plan is solved as `sotto plan` does, read with `--plan`, or taken from a training with `--run`. The command
runs in one process or under mpirun, where observers are spread over the ranks.

With `--mu` or `--epsilon` and no other option than `--delta`, or with `--noise-multiplier`, it converts figures and does nothing else.)",
            .options = options_of_account,
            .parallel = true,
            .run = account_main};
}

}  // namespace sotto::cli
