#include "commands/ledger/ledger_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "account/composed_runs.hpp"
#include "commands/cli/command.hpp"
#include "config/agent_path.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "store/budget_account_file.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_agents_in_text = 20;

std::string figure(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : "infinite";
}

std::string mu_text(const PrivacyLoss& loss) {
    const auto mu = loss.mu();
    return mu ? figure(*mu) : std::string("-");
}

std::string name_in_text(const ComposedAgent& agent) {
    if (agent.identity.empty()) return fmt::format("agent {}", agent.number);
    return agent.name.empty() ? agent.identity.substr(0, 16) : agent.name;
}

/// Agents, those with the largest loss first.
std::vector<ComposedAgent> ranked(const ComposedRuns& composed) {
    std::vector<ComposedAgent> agents = composed.agents;
    std::ranges::stable_sort(agents, [&](const ComposedAgent& a, const ComposedAgent& b) {
        return b.loss.less_at(composed.delta, a.loss);
    });
    return agents;
}

std::string runs_text(const ComposedRuns& composed) {
    std::size_t width = 3;
    for (const RecordedLedger& run : composed.runs)
        width = std::max(width, run.directory.string().size());
    std::string text = fmt::format("{:<{}}  {:<12} {:>19}  {:>10}  {:>10}  {:>10}  {}\n",
                                   "run",
                                   width,
                                   "mechanism",
                                   "rounds that count",
                                   "mu",
                                   "epsilon",
                                   "at delta",
                                   "against");
    for (const RecordedLedger& run : composed.runs) {
        const PrivacyLoss worst = run.worst();
        text += fmt::format("{:<{}}  {:<12} {:>19}  {:>10}  {:>10}  {:>10}  {}\n",
                            run.directory.string(),
                            width,
                            run.mechanism,
                            fmt::format("{} of {}", run.rounds_accounted, run.rounds_planned),
                            mu_text(worst),
                            figure(worst.epsilon(run.delta).upper),
                            fmt::format("{:g}", run.delta),
                            run.observer);
    }
    return text;
}

Json loss_figures(const PrivacyLoss& loss, double epsilon) {
    const auto mu = loss.mu();
    return {{"mu", mu ? number_or_null(*mu) : Json()},
            {"epsilon", number_or_null(epsilon)},
            {"infinite", loss.infinite()}};
}

/// "adjacency record-add-remove, unit column patient_id"
std::string unit_words(Adjacency adjacency, const std::string& unit_column) {
    const std::string words = "adjacency " + name_of(adjacency);
    return unit_column.empty() ? words : fmt::format("{}, unit column {}", words, unit_column);
}

Json run_json(const RecordedLedger& run) {
    const PrivacyLoss worst = run.worst();
    Json json{{"directory", run.directory.string()},
              {"run_id", run.run},
              {"mechanism", run.mechanism},
              {"status", run.status},
              {"rounds", {{"planned", run.rounds_planned}, {"accounted", run.rounds_accounted}}},
              {"adjacency", name_of(run.adjacency)},
              {"unit_column", run.unit_column.empty() ? Json() : Json(run.unit_column)},
              {"observer", run.observer},
              {"coalition_size", run.coalition_size},
              {"agents", run.agents.size()},
              {"insecure", run.insecure},
              {"delta", run.delta}};
    json.update(loss_figures(worst, worst.epsilon(run.delta).upper));
    return json;
}

Json agent_json(const ComposedAgent& agent) {
    Json json{{"agent", agent.number}};
    json["identity"] = agent.identity.empty() ? Json() : Json(agent.identity);
    json["name"] = agent.name.empty() ? Json() : Json(agent.name);
    json["runs"] = agent.runs;
    json.update(loss_figures(agent.loss, agent.epsilon));
    return json;
}

}  // namespace

std::string ledger_report_text(const ComposedRuns& composed) {
    std::string text = runs_text(composed);
    text += fmt::format("\nall {} run{} together, {}, delta {:g}\n",
                        composed.runs.size(),
                        composed.runs.size() == 1 ? "" : "s",
                        unit_words(composed.adjacency, composed.unit_column),
                        composed.delta);
    const std::vector<ComposedAgent> agents = ranked(composed);
    for (std::size_t i = 0; i < std::min(agents.size(), most_agents_in_text); ++i)
        text += fmt::format("  {:<20} epsilon {:<10} mu {:<10} in {} run{}\n",
                            name_in_text(agents[i]),
                            figure(agents[i].epsilon),
                            mu_text(agents[i].loss),
                            agents[i].runs,
                            agents[i].runs == 1 ? "" : "s");
    if (agents.size() > most_agents_in_text)
        text += fmt::format("  and {} agents that lost less (--json has all)\n",
                            agents.size() - most_agents_in_text);
    if (composed.match == AgentMatch::number && composed.runs.size() > 1)
        text += fmt::format("  {:<20} epsilon {:<10} mu {}\n",
                            "whoever had the data",
                            figure(composed.anybody_epsilon),
                            mu_text(composed.anybody));
    for (const std::string& note : composed.notes) text += fmt::format("note: {}\n", note);
    return text;
}

std::string ledger_report_json(const ComposedRuns& composed) {
    Json json;
    json["adjacency"] = name_of(composed.adjacency);
    json["unit_column"] = composed.unit_column.empty() ? Json() : Json(composed.unit_column);
    json["delta"] = composed.delta;
    json["matched_by"] = agent_matches.name_of(composed.match);
    json["runs"] = Json::array();
    for (const RecordedLedger& run : composed.runs) json["runs"].push_back(run_json(run));
    json["worst"] = agent_json(composed.worst());
    json["anybody"] = loss_figures(composed.anybody, composed.anybody_epsilon);
    json["agents"] = Json::array();
    for (const ComposedAgent& agent : composed.agents) json["agents"].push_back(agent_json(agent));
    json["notes"] = composed.notes;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

std::string state_of(const AccountEntry& entry) { return entry.settled ? "settled" : "reserved"; }

double epsilon_of(const PrivacyLoss& loss, const AccountLimit& limit) {
    return loss.epsilon(limit.delta).upper;
}

/// Epsilon of the largest run with Gaussian noise that the budget still allows.
double epsilon_left(const BudgetAccount& account) {
    const PrivacyLoss left = account.largest_left(account.spent(), PrivacyLoss::gaussian(1));
    return epsilon_of(left, account.limit());
}

}  // namespace

std::string kept_account_text(const KeptAccount& kept, const std::string& path) {
    const BudgetAccount& account = kept.account;
    const AccountLimit& limit = account.limit();
    std::string text =
        fmt::format("account    {}, {}\nallowed    epsilon {:.6g} at delta {:g}, {}\n",
                    path,
                    kept.owner ? fmt::format("signed by {}", to_hex(*kept.owner))
                               : std::string("not signed: whoever can write it can change it"),
                    limit.epsilon,
                    limit.delta,
                    unit_words(limit.adjacency, limit.unit_column));
    for (const AccountEntry& entry : account.entries())
        text += fmt::format("{}  {:<12} {:>8} rounds  epsilon {:<10.6g} {}\n",
                            entry.time,
                            entry.mechanism,
                            entry.rounds,
                            epsilon_of(entry.loss, limit),
                            state_of(entry));
    return text + fmt::format("spent      epsilon {:.6g}; a run may still ask for {:.6g}\n",
                              account.epsilon_spent(),
                              epsilon_left(account));
}

std::string kept_account_json(const KeptAccount& kept, const std::string& path) {
    const BudgetAccount& account = kept.account;
    const AccountLimit& limit = account.limit();
    Json json;
    json["account"] = path;
    json["epsilon"] = limit.epsilon;
    json["delta"] = limit.delta;
    json["adjacency"] = name_of(limit.adjacency);
    json["unit_column"] = limit.unit_column.empty() ? Json() : Json(limit.unit_column);
    json["owner"] = kept.owner ? Json(to_hex(*kept.owner)) : Json();
    json["epsilon_spent"] = account.epsilon_spent();
    json["epsilon_left"] = epsilon_left(account);
    json["entries"] = Json::array();
    for (const AccountEntry& entry : account.entries())
        json["entries"].push_back({{"run_id", to_hex(entry.run)},
                                   {"time", entry.time},
                                   {"mechanism", entry.mechanism},
                                   {"rounds", entry.rounds},
                                   {"epsilon", epsilon_of(entry.loss, limit)},
                                   {"state", state_of(entry)}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sotto

namespace sotto::cli {

namespace {

struct LedgerOptions {
    std::vector<std::string> directories;
    std::optional<double> delta;
    std::optional<AgentMatch> match;
    std::optional<std::string> budget_account, open_account, identity;
    std::optional<double> epsilon;
    Adjacency adjacency = Adjacency::agent;
    std::string unit_column;
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
        {{.name = "unit-column",
          .help = "column whose values are persons in the runs of the new account (`train "
                  "--unit-column`); runs with another one, or with none, are refused"},
         bound(&LedgerOptions::unit_column, any_text())},
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
    if (!asked.unit_column.empty() && !asked.open_account)
        throw ConfigError("--unit-column: it is of a new account (--open-account FILE)");
    if (!asked.unit_column.empty() && protects_agents(asked.adjacency))
        throw ConfigError(
            fmt::format("--unit-column: adjacency {} protects all data of an agent, not persons "
                        "(allowed: --adjacency record-add-remove and other adjacencies of records)",
                        name_of(asked.adjacency)));
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
                              {*asked.epsilon, *asked.delta, asked.adjacency, asked.unit_column},
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
