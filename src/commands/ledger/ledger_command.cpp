#include <fmt/format.h>

#include "account/composed_runs.hpp"
#include "commands/cli/command.hpp"
#include "commands/ledger/ledger_report.hpp"
#include "config/agent_path.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "store/budget_account_file.hpp"

namespace sotto::cli {

namespace {

struct LedgerOptions {
    std::vector<std::string> directories;
    std::optional<double> delta;
    std::optional<AgentMatch> match;
    std::optional<std::string> budget_account, open_account, identity;
    std::optional<double> epsilon;
    Adjacency adjacency = Adjacency::agent;
};

std::vector<Option<LedgerOptions>> total_options() {
    return {{{.name = "runs",
              .help = "directories of runs and of sweeps, all about the same data",
              .details = R"(
Arguments without an option name are its values. A run that is given twice counts once.)",
              .positional = true},
             bound(&LedgerOptions::directories, folder_list())},
            {{.name = "delta",
              .help = "delta of the total (default: the largest of the runs), or of a new account"},
             bound(&LedgerOptions::delta, real_between(0, 1))},
            {{.name = "match",
              .help = "how agents of different runs are recognised as the same: {} (default: "
                      "identity if all runs have identities, number if none has)"},
             bound(&LedgerOptions::match, words(agent_matches))}};
}

std::vector<Option<LedgerOptions>> account_options() {
    return {
        {{.name = "budget-account",
          .help = "FILE to show: what may be spent, what was spent and what is left"},
         bound(&LedgerOptions::budget_account, file_path())},
        {{.name = "open-account",
          .help = "new FILE for `train --budget-account`; needs --epsilon and --delta",
          .details = R"(
The file has mode 0600. With `--identity` it is signed: only that agent's runs can use it, and nobody else can change it
unnoticed ([the ledger](../ledger.md)).)"},
         bound(&LedgerOptions::open_account, file_path())},
        {{.name = "epsilon", .help = "total that runs may spend from the new account"},
         bound(&LedgerOptions::epsilon, positive_real())},
        {{.name = "adjacency",
          .help = "adjacency of the new account: {}; runs with another one are refused"},
         bound(&LedgerOptions::adjacency, named(one_of(adjacency_names()), parse_adjacency))},
        {{.name = "identity", .help = "FILE with the identity of the agent whose account it is"},
         bound(&LedgerOptions::identity, file_path())}};
}

OptionSet<LedgerOptions> option_set_of_ledger() {
    return OptionSet<LedgerOptions>().add(
        option_group<LedgerOptions>("Ledger", {total_options(), account_options()}));
}

std::vector<WrittenGroup> options_of_ledger() {
    return with_general(option_set_of_ledger().written());
}

/// Requires that the options ask for exactly one thing.
void require_one_subject(const LedgerOptions& asked) {
    const int subjects = (asked.directories.empty() ? 0 : 1) + (asked.budget_account ? 1 : 0) +
                         (asked.open_account ? 1 : 0);
    if (subjects == 0)
        throw ConfigError(
            "ledger: which runs? (example: sotto ledger runs/a runs/b; or --budget-account FILE, "
            "--open-account FILE)");
    if (subjects > 1)
        throw ConfigError(
            "ledger: directories, --budget-account and --open-account go one at a time");
    if (asked.open_account && (!asked.epsilon || !asked.delta))
        throw ConfigError(
            fmt::format("--open-account: --{} is needed too", asked.epsilon ? "delta" : "epsilon"));
    if (!asked.open_account && (asked.epsilon || asked.identity))
        throw ConfigError(fmt::format("--{}: it is of a new account (--open-account FILE)",
                                      asked.epsilon ? "epsilon" : "identity"));
    if (asked.open_account && differs_by_agent(*asked.open_account))
        throw ConfigError(
            fmt::format("--open-account: {} holds %r, which stands for an agent's number in `sotto "
                        "train`; name one file",
                        *asked.open_account));
}

void open_account(const LedgerOptions& asked) {
    std::optional<Identity> owner;
    if (asked.identity) owner = Identity::read(*asked.identity);
    BudgetAccountFile::create(*asked.open_account,
                              {*asked.epsilon, *asked.delta, asked.adjacency},
                              owner ? &*owner : nullptr);
}

struct Answer {
    std::string text, json;
};

Answer answer_to(const LedgerOptions& asked) {
    if (!asked.directories.empty()) {
        const ComposedRuns composed = compose_runs_in(
            {asked.directories.begin(), asked.directories.end()}, asked.delta, asked.match);
        return {ledger_report_text(composed), ledger_report_json(composed)};
    }
    if (asked.open_account) open_account(asked);
    const std::string& path = asked.open_account ? *asked.open_account : *asked.budget_account;
    const KeptAccount kept = BudgetAccountFile::look(path);
    return {kept_account_text(kept, path), kept_account_json(kept, path)};
}

int ledger_main(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options_of_ledger(), arguments);
    const GeneralOptions general = read_general(given);
    require_json_writable(general);
    const LedgerOptions asked = option_set_of_ledger().read(given);
    require_one_subject(asked);
    const Answer answer = answer_to(asked);
    write_json(general, answer.json);
    if (std::FILE* stream = report_stream(general)) say(stream, "{}", answer.text);
    return 0;
}

}  // namespace

Command ledger_command() {
    return {.name = "ledger",
            .summary = "add up what several runs on the same data reveal; budget accounts",
            .example = "sotto ledger runs/monday runs/tuesday sweeps/a9a",
            .description = R"(
Adds up what runs and sweeps on the same data reveal, agent by agent, from the ledgers in their directories. `--budget-account FILE`
shows an account of what runs may spend, and `--open-account FILE` makes one.)",
            .files = {{"DIR/ledger.json", "what a run has revealed; read"}},
            .options = options_of_ledger,
            .run = ledger_main};
}

}  // namespace sotto::cli
