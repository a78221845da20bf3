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
Without it noise keys come from the operating system.)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         bound(&TrainConfig::noise_seed, whole(0))},
        {{.name = "roster",
          .help = "FILE with the public keys of the agents that may take part (with --identity)",
          .details = R"(
`--roster FILE --identity FILE` (both or none): only the agents of the roster take part, and each proves that it is
one ([security](../security.md)). A roster has a line `<64 hex digits> <name>` for every agent, `#` comments; which
agent has which number does not matter. `sotto keygen` makes both files.)",
          .beside_run = true,
          .peers_may_set = false},
         trust_file(&TrustConfig::roster)},
        {{.name = "identity",
          .help = "FILE with this agent's identity, of `sotto keygen`; %r is its number",
          .details = R"(
An identity that others can read is refused.)",
          .beside_run = true,
          .peers_may_set = false},
         trust_file(&TrustConfig::identity)},
        {{.name = "budget-account",
          .help = "FILE with all that runs on this agent's data may spend; the run is deducted "
                  "before it begins, or refused; %r is the agent's number",
          .details = R"(
`sotto ledger --open-account` makes one ([the ledger](../ledger.md)). Where all agents run in one process and share a
file, the agent that loses most is counted.)",
          .beside_run = true,
          .peers_may_set = false,
          .changes_results = false},
         bound(&TrainConfig::budget_account, file_path())},
        {{.name = "neighbours",
          .help =
              "FILE with the numbers of this agent's neighbours, one a line, or its edges; %r is "
              "its number: the graph is what all agents say, and every rank solves the plan",
          .details = R"(
No file of the whole graph is needed, and rank 0's word on it is not taken: every rank tells all others what it knows, makes the graph
and its mixing weights, and solves the plan (`--bootstrap distributed`). An edge that only one of its two agents names ends the job
(exit code 3) and names both. The graph is `graph.edges` in the run directory. Not with `--directed`, `--without`, `--spares` and random schedules.)",
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::neighbours, file_path())},
        {{.name = "bootstrap",
          .help = "who builds graph, mixing and plan: central (rank 0), distributed (every rank; "
                  "all must come to the same)",
          .details = R"(
`central`: rank 0 builds graph, mixing matrix and plan for all. `distributed`: every rank builds them from its own
options and files; graphs must be equal, and mixing weights, scale and coefficients of the plan within 1e-12 of the
largest. A difference ends the job (exit code 5) and is named with its rank; otherwise all use rank 0's numbers,
because shared noise cancels only where its coefficients have the same bits.)",
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::bootstrap, words(bootstraps))}};
}

std::vector<Option<TrainConfig>> membership_options() {
    return {
        {{.name = "leave-file",
          .help = "FILE whose appearance says that this agent leaves while the run goes on; %r is "
                  "its number",
          .details = R"(
The others finish their round, and go on without it in a phase of their own, as after `--resume DIR --without N`, but without
a restart and within the same budget ([resuming](../resuming.md)). SIGUSR2 says it for all agents of a process. Not for agent 0's process, which leads the
run, nor where ranks host several agents: then the run stops, and says so.)",
          .beside_run = true,
          .peers_may_set = false,
          .changes_results = false},
         bound(&TrainConfig::leave_file, file_path())},
        {{.name = "spares",
          .help = "a,b,...: agents that wait until they are asked to join",
          .details = R"(
Each has its number, its place in the graph and its share of the data from the start, and its rank waits. The run begins without them; they know nothing of
it, and add no noise ([resuming](../resuming.md#agents-that-join)). Not agent 0, nor where ranks host several agents.)",
          .ranks_must_agree = true,
          .beside_run = true,
          .peers_may_set = false},
         bound(&TrainConfig::spares, agent_numbers())},
        {{.name = "join-file",
          .help = "FILE whose appearance, where agent 0 runs, says that a spare joins; %r is its "
                  "number",
          .beside_run = true,
          .changes_results = false},
         bound(&TrainConfig::join_file, file_path())}};
}

std::vector<Option<TrainConfig>> link_options() {
    return {{{.name = "link-encryption",
              .help = "{}: encrypt and authenticate every message between agents (over MPI; in one "
                      "process nothing crosses a wire)",
              .details = R"(
What evaluation collects is encrypted and authenticated too ([security](../security.md)). In one process nothing
crosses a wire, and the manifest says so.)",
              .ranks_must_agree = true,
              .beside_run = true,
              .peers_may_set = false},
             bound(&TrainConfig::link_encryption, on_off())},
            {{.name = "precision",
              .help = "{}: what messages are rounded to, after their noise",
              .details = R"(
`float32` halves the bytes between agents. Rounding comes after the noise, so no privacy figure changes
([why](../decisions/grid.md)); a value moves by at most 6e-8 of itself, and the report says how much of the noise that
would cancel may stay. Noise, gradients and models are computed in float64. Not possible with `--secure-sum on`, with a
trusted aggregator, and where inputs are fixed in advance (`averaging`), whose partial views would not be exact.)",
              .ranks_must_agree = true},
             bound(&TrainConfig::precision, words(message_precisions))},
            mask_partners_option<TrainConfig>()};
}

std::vector<Option<TrainConfig>> process_options() {
    return {
        {{.name = "stall-abort",
          .help = "seconds that a rank waits for others before it ends the job with exit code 5; "
                  "ten times as long before the first round and after the last (0: never)",
          .details = R"(
After a tenth of that time, at most 30 seconds, a rank asks those that it waits for and names the silent ones.
Before the first round data are read and the plan is solved ([clusters](../cluster.md)), after the last
figures of views are computed. Until the options are read, a rank waits as long as the default says.)",
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
        "Peers and keys", {key_options(), membership_options(), link_options(), process_options()});
    return group;
}

}  // namespace sotto
