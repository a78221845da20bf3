#include "commands/account/account_options.hpp"

#include "options/graph_options.hpp"
#include "options/option_set.hpp"
#include "options/plan_options.hpp"
#include "options/train_options.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

namespace {

/// Options for observers, and for the inputs of the accounted messages.
std::vector<Option<AccountConfig>> observer_options() {
    constexpr NameTable<bool, 2> inputs{{{{false, "adaptive"}, {true, "fixed"}}}};
    return {
        {{.name = "view",
          .common = true,
          .help = "who observes: {}",
          .details = R"(
`all-messages:a,b`: the seeds of these agents, and every message. Agents are named by number; the error for one that
does not exist says how a graph file's labels are numbered.)",
          .beside_run = true},
         bound(&AccountConfig::view, any_text(one_of(view_placeholder_list(ViewUse::account))))},
        {{.name = "targets", .help = "about whom: all, or u,...", .beside_run = true},
         bound(&AccountConfig::targets, any_text(among_others("", {"all"})))},
        {{.name = "inputs",
          .help = "adaptive (training: gradients follow messages), fixed (averaging, private "
                  "means)",
          .details = R"(
Changes `argument` only.)"},
         bound(
             [](auto& c) -> auto& { return c.subject.fixed_inputs; }, words(inputs))},
        {{.name = "l2",
          .help = "regularisation of the training, which counts in partial views",
          .details = R"(
With `--step-schedule inverse`, step size 1 and `--l2 1`: averaging.)"},
         bound(
             [](auto& c) -> auto& { return c.subject.l2; }, any_real())},
        {{.name = "sensitivity",
          .help = "Delta of one participation (default 1 with --noise-std or matrices, else "
                  "from --adjacency, --clip-norm, --batch-size)"},
         bound(
             [](auto& c) -> auto& { return c.subject.sensitivity; }, any_real())},
        {{.name = "dimension",
          .help = "parameters of the model, for what is left to the plan (--temporal auto, "
                  "--max-bytes)"},
         bound(
             [](auto& c) -> auto& { return c.subject.dimension; }, whole(1))}};
}

std::vector<Option<AccountConfig>> dropout_options() {
    return {
        {{.name = "dropouts",
          .help =
              "D: messages of any D agents may be missing in every round, in figures beside the "
              "view's",
          .details = R"(
Three figures, of all messages that are sent and the seeds of the view's members: nothing is revealed because of it
(then nothing is lost, whoever is missing); those who are there publish the noise of the streams they share with the
missing, so that it can be subtracted (as a coalition of D more); and a message that is seen after its streams were
published. Each as if in every round. For independent rounds of Gaussian noise on gradients
([equations](../equations.md#rounds-that-agents-miss)).)"},
         bound(&AccountConfig::dropouts, whole(1, 1000000))},
        {{.name = "missing",
          .help = "a,b,...: the same where messages of these agents are missing in every round",
          .details = R"(
Exact for them, where `--dropouts` has the worst agents.)"},
         bound(&AccountConfig::missing, any_text())}};
}

std::vector<Option<AccountOptions>> run_to_account_for() {
    return {{{.name = "run",
              .common = true,
              .help = "DIR of a training: its graph, plans, rounds and all that happened in it, "
                      "instead of options",
              .details = R"(
Graph, plans, sensitivities and rounds are those of the directory; rounds that were repeated count, agents that left
are gone. Of a run that has not ended all planned rounds count. Only what is marked may stand beside it, and
`--config`.)",
              .beside_run = true},
             bound(&AccountOptions::run, folder_path())}};
}

std::vector<Option<AccountConfig>> departure_options() {
    return {{{.name = "departures",
              .help = "ROUND:a,b;ROUND:c: agents that are gone from this round on (rounds from 0)",
              .details = R"(
The mixing rule then holds among those who stay.)"},
             bound(
                 [](auto& c) -> auto& { return c.subject.departures; }, any_text())}};
}

/// Whether a view receives less than every message; false for an unknown view, which is refused
/// later.
bool sees_few_messages(const std::string& view) {
    const ViewRecord* const record = view_records().look_up(view.substr(0, view.find(':')));
    return record != nullptr && record->receives != View::Kind::all_messages;
}

/// Options for other subjects and for conversions.
std::vector<Option<AccountOptions>> other_options() {
    return {
        {{.name = "observation-a",
          .help = "FILE.npy: A of observations O = A G + B Z, instead of a plan",
          .details = R"(
float64, with `--agents`; instead of graph and plan ([the library](../library.md)).)"},
         bound(&AccountOptions::observation_a, file_path())},
        {{.name = "observation-b", .help = "FILE.npy: B"},
         bound(&AccountOptions::observation_b, file_path())},
        {{.name = "mu",
          .help = "convert this mu into epsilon at --delta, nothing else",
          .details = R"(
`--mu M --delta D`, `--epsilon E --delta D` convert only; JSON: mu, epsilon, delta, renyi_alpha2, rdp_epsilon.
`--epsilon` with any other option but `--delta` is a budget.)"},
         bound(&AccountOptions::mu, positive_real())},
        {{.name = "noise-multiplier",
          .common = true,
          .help = "convert rounds with this noise (standard deviations a record's largest "
                  "contribution) and --sampling-probability into epsilon, nothing else",
          .details = R"(
`--noise-multiplier S --sampling-probability q --rounds T --delta D`: what T rounds cost when a record joins each with
probability q, decided by a secret coin. With `--epsilon E` instead of `--noise-multiplier` the smallest one is found.
JSON: epsilon (certified from above), epsilon_lower, delta, noise_multiplier, sampling_probability, sampled_rounds,
rounds ([accounting](../accounting.md)).)"},
         bound(&AccountOptions::noise_multiplier, real_between(1e-3, 1e9))},
        {{.name = "sampled-rounds",
          .help = "S:q:T,S:q:T: the same of several phases with noise multiplier S, probability "
                  "q and T rounds"},
         bound(&AccountOptions::sampled_rounds, any_text())},
        {{.name = "tight-gap",
          .help = "relative gap at which the tight sensitivity is good enough",
          .beside_run = true},
         bound(
             [](auto& c) -> auto& { return c.account.how.tight_gap; }, real_between(1e-9, 1))},
        {{.name = "by-distance",
          .help = "write the table by distance to FILE; a picture if it ends in .svg",
          .details = R"(
Epsilon and the Renyi divergence of order 2, smallest, mean and largest over the pairs of every distance. With a name that ends
in `.svg` the picture of both, drawn by gnuplot if installed, and the table in FILE.txt.)",
          .beside_run = true},
         bound(&AccountOptions::by_distance, file_path())},
        {{.name = "threads",
          .help = "threads of one process (0: all cores; under mpirun 1)",
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
         other_options()});
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
    return set;
}

AccountOptions read_account_options(const OptionTexts& given) {
    AccountOptions options =
        account_option_set().read(with_default_clip(with_participation_without_data(given)));
    require_one_source_of_noise(options.account.subject.plan);
    require_covariance_file(options.account.subject.plan);
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
           (given.contains("sampling-probability") && !given.contains("participation") &&
            !given.contains("adjacency"));
}

bool converts_only(const OptionTexts& given) {
    if (given.contains("mu") || converts_sampled_rounds(given)) return true;
    if (!given.contains("epsilon")) return false;
    for (const WrittenGroup& group : account_option_set().written())
        for (const WrittenOption& option : group.options) {
            const bool counts = option.changes_results && option.kind != OptionKind::flag &&
                                option.name != "epsilon" && option.name != "delta";
            if (counts && given.contains(option.name)) return false;
        }
    return true;
}

}  // namespace sotto
