#include "options/peer_options.hpp"

#include "options/option_formats.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"

namespace sotto {

namespace {

/// One of the files that authenticate the agents.
Binding<TrainConfig> trust_file(std::string TrustConfig::*member) {
    return {OptionKind::value,
            among_others("", {"FILE"}),
            [member](TrainConfig& config, const std::string&, const std::string& text) {
                if (!config.trust) config.trust.emplace();
                *config.trust.*member = text;
            },
            [member](const TrainConfig& config) -> std::optional<std::string> {
                if (!config.trust || (*config.trust.*member).empty()) return std::nullopt;
                return *config.trust.*member;
            }};
}

/// A format of messages; nothing for auto.
OptionFormat<std::optional<MessagePrecision>> message_precision() {
    static constexpr std::string_view shortest = "auto";
    std::vector<std::string> names = message_precisions.names();
    names.insert(names.begin(), std::string(shortest));
    return {
        one_of(names),
        [](const std::string& option, const std::string& text) -> std::optional<MessagePrecision> {
            if (text == shortest) return std::nullopt;
            return message_precisions.parse(option, text);
        },
        [](const std::optional<MessagePrecision>& precision) {
            return precision ? message_precisions.name_of(*precision) : std::string(shortest);
        }};
}

std::vector<Option<TrainConfig>> key_options() {
    return {
        {{.name = "run-directory",
          .common = true,
          .other_names = {"out", "output", "output-directory"},
          .help = "DIR to write to (default runs/<time>-<mechanism>)",
          .reproduces_run = false},
         bound(&TrainConfig::run_directory, folder_path())},
        {{.name = "noise-seed",
          .help = "reproducible noise: INSECURE, for experiments; the ledger says so",
          .details = R"(
Without it, noise keys come from the operating system.)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         bound(&TrainConfig::noise_seed, whole(0))},
        {{.name = "roster",
          .help = "FILE with the public keys of the agents that may take part (with --identity)",
          .details = R"(
With `--roster FILE --identity FILE` (both or neither), only the agents of the roster take part, and each proves that it
is one of them ([security](../security.md)). A roster has a line `<64 hex digits> <name>` for every agent, and `#`
starts a comment. Which agent has which number does not matter. `sotto keygen` makes both files.)",
          .beside_run = true,
          .peers_may_set = false},
         trust_file(&TrustConfig::roster)},
        {{.name = "identity",
          .help = "FILE with this agent's identity, made by `sotto keygen`; %r is its number",
          .details = R"(
An identity file that others can read is refused.)",
          .beside_run = true,
          .peers_may_set = false},
         trust_file(&TrustConfig::identity)},
        {{.name = "budget-account",
          .help = "FILE with the budget of all runs on this agent's data; the run is deducted "
                  "before it begins, or refused; %r is the agent's number",
          .details = R"(
`sotto ledger --open-account` makes one ([the ledger](../ledger.md)). If all agents run in one process and share a file,
the loss of the agent that loses most is deducted.)",
          .beside_run = true,
          .peers_may_set = false,
          .changes_results = false},
         bound(&TrainConfig::budget_account, file_path())},
        {{.name = "neighbours",
          .help = "FILE with the numbers of this agent's neighbours, one per line, or with its "
                  "edges; %r is its number: the graph is put together from all agents' files, and "
                  "every rank solves the plan",
          .details = R"(
No rank needs a file of the whole graph or has to trust rank 0 about it: every rank tells all others its neighbours,
builds the graph and its mixing weights, and solves the plan (`--bootstrap distributed`). An edge that only one of its
two agents names ends the job (exit code 3) with a message that names both. The graph is `graph.edges` in the run
directory. It is not possible with `--directed`, `--without`, `--spares` and random schedules.)",
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::neighbours, file_path())},
        {{.name = "bootstrap",
          .help = "who builds graph, mixing and plan: central (rank 0), distributed (every rank; "
                  "all must get the same result)",
          .details = R"(
`central`: rank 0 builds graph, mixing matrix and plan for all. `distributed`: every rank builds them from its own
options and files. Graphs must be equal, and mixing weights and the scale and coefficients of the plan may differ by at
most 1e-12 of the largest. A larger difference ends the job (exit code 5) with a message that names the rank. Otherwise
all ranks use rank 0's numbers, because shared noise cancels only if its coefficients are equal in every bit.)",
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::bootstrap, words(bootstraps))}};
}

std::vector<Option<TrainConfig>> membership_options() {
    return {
        {{.name = "leave-file",
          .help = "FILE whose appearance makes this agent leave while the run goes on; %r is its "
                  "number",
          .details = R"(
The others finish the round and go on without it in a phase of their own, as after `--resume DIR --without N`, but
without a restart and within the same budget ([resuming](../resuming.md)). The signal SIGUSR2 makes all agents of a
process leave. The process of agent 0 leads the run and cannot leave, nor can agents of a rank that hosts several: the
run then stops and says so.)",
          .beside_run = true,
          .peers_may_set = false,
          .changes_results = false},
         bound(&TrainConfig::leave_file, file_path())},
        {{.name = "spares",
          .help = "a,b,...: spare agents, which wait until they are asked to join",
          .details = R"(
Every spare has its number, its place in the graph and its share of the data from the start, and its rank waits. The run
begins without the spares; they learn nothing of it and add no noise ([resuming](../resuming.md#agents-that-join)).
Agent 0 cannot be a spare, nor can agents of ranks that host several.)",
          .ranks_must_agree = true,
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::spares, agent_numbers())},
        {{.name = "join-file",
          .help =
              "FILE whose appearance on the host of agent 0 makes a spare join; %r is its number",
          .beside_run = true,
          .changes_results = false},
         bound(&TrainConfig::join_file, file_path())}};
}

std::vector<Option<TrainConfig>> link_options() {
    return {{{.name = "link-encryption",
              .help = "{}: encrypt and authenticate every message between agents (over MPI; in one "
                      "process nothing crosses a wire)",
              .details = R"(
What evaluation collects is encrypted and authenticated too ([security](../security.md)). In one process nothing crosses
a wire, and the manifest says so.)",
              .ranks_must_agree = true,
              .beside_run = true,
              .peers_may_set = false},
             bound(&TrainConfig::link_encryption, on_off())},
            {{.name = "precision",
              .help = "{}: format of messages, which are rounded after their noise is added",
              .details = R"(
`nibble` sends differences from what others already know, in 4 bits a value and 32 where that is too few: a sixteenth
of the bytes of float64. Steps follow from the plan alone, and nothing of the rounding enters the mean of all models
([how](../equations.md#short-messages)). `float32` halves the bytes. `auto` is nibble where it is possible and there
is noise, else float32, else float64. Rounding comes after the noise, so no privacy figure changes
([why](../decisions/grid.md)). With float32 a value moves by at most 6e-8 of itself, and the report says how much of
the noise that should cancel may remain. Noise, gradients and models are computed in float64. Only float64 is possible
with `--secure-sum on`, with a trusted aggregator, and where inputs are fixed in advance (`averaging`), whose partial
views would not be exact. Nibbles also need noise on gradients, one mixing matrix for all rounds whose columns sum to
1, and neither `--precondition-every` nor `--gossip optimal`. What is rounded away is a part of a message's noise, so a
plan for nibbles keeps `--variance-cap` at 10 or below; with `--plan`, use one whose noise is not far above that.

The default is `auto` where the rule of `--tune` chooses something and a model has more than 180 values, which fill a
packet as float64; elsewhere it is float64. With `auto` the rule takes float32 instead where nibbles and what they round
away would leave 1.25 times the noise ([why](../decisions/free-utility.md)).)",
              .ranks_must_agree = true},
             bound(&TrainConfig::precision, message_precision())},
            mask_partners_option<TrainConfig>()};
}

/// Seconds, or auto, which is 0.
OptionFormat<double> round_deadline() {
    return {among_others("auto, or seconds, above 0", {"auto"}),
            [](const std::string& option, const std::string& text) -> double {
                if (text == "auto") return 0;
                const double seconds = parse_real(option, text);
                require_positive(option, seconds);
                return seconds;
            },
            [](double seconds) { return seconds == 0 ? std::string("auto") : real_text(seconds); }};
}

std::vector<Option<TrainConfig>> late_options() {
    return {
        {{.name = "round-deadline",
          .help = "{}: a round goes on without the messages that have not come after this time",
          .details = R"(
Agents mix what has come, and their own model gets the weights of the others. A message that comes later is dropped. An
agent that is behind goes on with its neighbours' round, and sends nothing for those that it has missed. `auto`: 1.2
times what it takes until six sevenths of all messages are there, measured in the first five rounds, which wait for all. [Rounds without the late
ones](../cluster.md#rounds-without-the-late-ones) explains what it costs; it costs no privacy. All meet to evaluate
(`--eval-every`, here ten times a run by default) and to write checkpoints. It needs several processes, noise on
gradients that is independent over rounds, a fixed mixing matrix, float64 or float32, and none of `--secure-sum`,
`--correction`, `--precondition-every`, `--view`, `--record-view` of agents alone, and cyclic participation.)",
          .ranks_must_agree = true},
         bound(&TrainConfig::round_deadline, round_deadline())},
        {{.name = "max-lag",
          .help = "{}: rounds that agents may be apart with --round-deadline, before they wait for "
                  "each other",
          .details = R"(
With 0 an agent waits in every round, until the deadline, for neighbours that are not much behind. With L it goes on
while each of them is at most L rounds behind, and a message that comes up to L rounds late still counts: by what it
differed from the receiver's own message of the same round. Agents keep their own messages, and what they took of each
neighbour's, for L rounds. It helps where rounds take now longer and now shorter, and costs no privacy.)",
          .ranks_must_agree = true},
         bound(&TrainConfig::max_lag, whole(0, 16))},
        {{.name = "robust",
          .help = "{}: what agents do with messages of neighbours that may lie",
          .details = R"(
`clip` shortens what differs from the own message by more than TAU (a norm) and, without TAU, by more than noise and
gradients of honest agents make it differ, which follows from the plan: at most one honest message in a hundred is
shortened, and noise that should cancel still does. It also leaves out what a neighbour's messages say on average over
many rounds beyond what honest ones do, and those of neighbours that are too loud all the time, and names them
(`suspected`). `trimmed:F` leaves out the F largest and F smallest values of every coordinate, which shared noise does
not survive well. By each of them, a neighbour whose messages lack the noise that it shares with the receiver is no
longer heard, and named. [Peers that lie](../threat-models.md#peers-that-lie) has figures. What receivers do with messages
costs no privacy, but for a millionth of delta in each start: that a neighbour is no longer heard can show something of
shared noise. With it `--variance-cap` is 1.5 by default, since lies hide in loud noise. Not with `--secure-sum`,
nibbles, `--correction`, `--precondition-every`, `--round-deadline`, `--view`, `--record-view` of agents alone, and
mixing that is not fixed and symmetric.)",
          .ranks_must_agree = true},
         bound(&TrainConfig::robust,
               named(among_others(
                         "off, clip, clip:TAU with a norm above 0, or trimmed:F with F from 1",
                         {"off", "clip", "clip:TAU", "trimmed:F"}),
                     parse_robust_rule))},
        {{.name = "faults",
          .help = "for experiments, silent:P (agents leave out their message in a round with this "
                  "probability), slow:AGENT:FACTOR (its gradients take so many times as long), "
                  "lie:KIND:AGENT+AGENT[:STRENGTH], separated by commas",
          .details = R"(
KIND of [lies](../threat-models.md#peers-that-lie): sign-flip, noise, little, inner-product, label-flip, no-pair-noise,
wrong-sign. Figures of accuracy and loss leave out the models of liars, and no guarantee covers their data: give it with
data that nobody has to protect.)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         bound(&TrainConfig::faults, named({}, parse_round_faults))}};
}

std::vector<Option<TrainConfig>> process_options() {
    return {
        {{.name = "stall-abort",
          .help = "seconds that a rank waits for others before it ends the job with exit code 5; "
                  "ten times as long before the first round and after the last (0: never)",
          .details = R"(
After a tenth of that time, but at most 30 seconds, a rank asks the ranks that it waits for and names those that do not
answer. Before the first round data are read and the plan is solved ([clusters](../cluster.md)); after the last round
the figures of views are computed. Until its options are read, a rank waits as long as the default says.)",
          .beside_run = true,
          .peers_may_set = false,
          .changes_results = false},
         bound(&TrainConfig::stall_abort_seconds, real_between(0, 1e9))},
        {{.name = "threads",
          .help = "threads of one process hosting many agents (0: all cores)",
          .beside_run = true,
          .changes_results = false},
         bound(&TrainConfig::asked_threads, whole(0, 4096))}};
}

}  // namespace

OptionGroup<TrainConfig>& peer_options() {
    static OptionGroup<TrainConfig> group = option_group<TrainConfig>(
        "Peers and keys",
        {key_options(), membership_options(), link_options(), late_options(), process_options()});
    return group;
}

}  // namespace sotto
