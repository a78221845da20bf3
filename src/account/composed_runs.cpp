#include "account/composed_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/numbers.hpp"
#include "privacy/budget_account.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Whether `known`, a phase with the same keys, contains all rounds of a phase of `run`.
bool is_within(const RecordedPhase& phase, const RecordedLedger& run, const RecordedPhase& known) {
    // After a crash only the continuation knows how many rounds were sent.
    const bool planned = !run.counts_exactly() && &phase == &run.phases.back();
    return goes_on(known.sessions, phase.sessions) && (planned || phase.rounds <= known.rounds);
}

/// Whether `later` is a continuation of the same run: its starts include those of `earlier`.
bool continues(const RecordedLedger& later, const RecordedLedger& earlier) {
    if (later.run != earlier.run || later.phases.size() < earlier.phases.size()) return false;
    for (std::size_t k = 0; k < earlier.phases.size(); ++k) {
        const RecordedPhase &a = earlier.phases[k], &b = later.phases[k];
        const bool last = k + 1 == earlier.phases.size();
        if (!is_within(a, earlier, b) || (!last && a.sessions != b.sessions)) return false;
    }
    return true;
}

/// Leaves to a continuation only what no earlier one counts. @return whether it shares noise keys
/// with an earlier continuation.
bool leave_out_common(RecordedLedger& run, const std::vector<RecordedLedger>& before) {
    bool same_keys = false;
    std::vector<PrivacyLoss> alone(run.agents.size());
    for (const RecordedPhase& phase : run.phases) {
        bool common = false;
        for (const RecordedLedger& other : before) {
            if (other.run != run.run) continue;
            for (const RecordedPhase& known : other.phases) {
                common = common || is_within(phase, run, known);
                same_keys = same_keys || share_keys_apart(phase.sessions, known.sessions);
            }
        }
        for (std::size_t u = 0; u < alone.size() && !common; ++u) alone[u] += phase.losses[u];
    }
    for (std::size_t u = 0; u < alone.size(); ++u)
        run.agents[u].alone = same_keys ? PrivacyLoss::gaussian(infinity) : alone[u];
    return same_keys;
}

/// Each run once; several continuations share their common part.
std::vector<RecordedLedger> distinct(std::vector<RecordedLedger> all,
                                     std::vector<std::string>& notes) {
    std::vector<RecordedLedger> runs;
    for (RecordedLedger& one : all) {
        const auto same = std::ranges::find_if(runs, [&](const RecordedLedger& other) {
            return continues(one, other) || continues(other, one);
        });
        if (same == runs.end()) {
            runs.push_back(std::move(one));
            continue;
        }
        notes.push_back(fmt::format("{} and {} are one run, which counts once",
                                    same->directory.string(),
                                    one.directory.string()));
        if (continues(one, *same)) *same = std::move(one);
    }
    std::vector<RecordedLedger> counted;
    for (RecordedLedger& run : runs) {
        const auto other = std::ranges::find(counted, run.run, &RecordedLedger::run);
        if (other != counted.end()) {
            const bool same_keys = leave_out_common(run, counted);
            notes.push_back(fmt::format(
                "{} and {} are continuations of one run: what they have in common counts once, and "
                "what each sent by itself counts{}",
                other->directory.string(),
                run.directory.string(),
                same_keys ? "; both went on with the same noise keys, so the difference of what "
                            "they sent has no noise, and nothing is protected"
                          : ""));
        }
        counted.push_back(std::move(run));
    }
    return counted;
}

void require_one_unit(const std::vector<RecordedLedger>& runs) {
    const RecordedLedger& first = runs.front();
    for (const RecordedLedger& run : runs)
        if (run.unit_agents > 1)
            throw ConfigError(fmt::format(
                "{} protects {} (--unit-agents {}); losses of such runs are not added up, since "
                "ledgers have those of single agents (name only runs for persons at one agent)",
                run.directory.string(),
                protected_unit(run.adjacency, run.unit_column, run.unit_agents),
                run.unit_agents));
    for (const RecordedLedger& run : runs)
        if (run.adjacency != first.adjacency || run.unit_column != first.unit_column)
            throw ConfigError(fmt::format(
                "{} protects {} ({}), {} protects {} ({}); their losses do not add up (name only "
                "runs that protect the same)",
                first.directory.string(),
                protected_unit(first.adjacency, first.unit_column),
                unit_options(first.adjacency, first.unit_column),
                run.directory.string(),
                protected_unit(run.adjacency, run.unit_column),
                unit_options(run.adjacency, run.unit_column)));
}

AgentMatch match_of(const std::vector<RecordedLedger>& runs, std::optional<AgentMatch> asked) {
    if (asked == AgentMatch::number) return AgentMatch::number;
    const auto without =
        std::ranges::find_if(runs, [](const RecordedLedger& run) { return !run.has_identities(); });
    if (without == runs.end()) return AgentMatch::identity;
    const bool some = std::ranges::any_of(runs, &RecordedLedger::has_identities);
    if (some || asked)
        throw ConfigError(fmt::format(
            "{}: its agents have no identities{}, so it is not known who they are (if agents have "
            "the same numbers in all runs, give --match number)",
            without->directory.string(),
            some ? ", those of other runs have" : ""));
    return AgentMatch::number;
}

std::vector<ComposedAgent> composed_agents(const std::vector<RecordedLedger>& runs,
                                           AgentMatch match,
                                           double delta) {
    std::vector<ComposedAgent> agents;
    std::map<std::string, std::size_t> known;
    for (const RecordedLedger& run : runs) {
        std::set<std::string> here;
        for (const RecordedAgent& agent : run.agents) {
            const std::string key =
                match == AgentMatch::identity ? *agent.identity : fmt::format("{}", agent.number);
            if (!here.insert(key).second)
                throw DataError(
                    fmt::format("{}: two of its agents have the identity {} (every agent needs an "
                                "identity of its own)",
                                run.directory.string(),
                                key));
            const auto [place, fresh] = known.try_emplace(key, agents.size());
            if (fresh)
                agents.push_back({agent.number,
                                  match == AgentMatch::identity ? key : std::string(),
                                  agent.name,
                                  0,
                                  {},
                                  0});
            ComposedAgent& sum = agents[place->second];
            ++sum.runs;
            sum.loss += agent.apart();
        }
    }
    for (ComposedAgent& agent : agents) agent.epsilon = agent.loss.epsilon(delta).upper;
    return agents;
}

void add_notes(ComposedRuns& composed) {
    if (composed.match == AgentMatch::number && composed.runs.size() > 1)
        composed.notes.emplace_back(
            "agents are matched by their numbers; whether they held the same data in every run is "
            "not known (identities would say who they are)");
    const auto [fewest, most] =
        std::ranges::minmax_element(composed.runs, {}, &RecordedLedger::coalition_size);
    if (fewest->coalition_size < most->coalition_size)
        composed.notes.push_back(fmt::format(
            "the total holds against whoever every run counts: {}, as {} does; {} counts {}",
            fewest->observer,
            fewest->directory.string(),
            most->directory.string(),
            most->observer));
    for (const RecordedLedger& run : composed.runs) {
        if (run.status == "running" || run.status == "failed")
            composed.notes.push_back(fmt::format(
                "{}: {}; all planned rounds count",
                run.directory.string(),
                run.status == "failed" ? "it failed" : "it is still going on, or was killed"));
        if (run.insecure)
            composed.notes.push_back(fmt::format(
                "{}: INSECURE, its noise derives from --noise-seed", run.directory.string()));
    }
}

}  // namespace

const ComposedAgent& ComposedRuns::worst() const {
    const ComposedAgent* worst = &agents.front();
    for (const ComposedAgent& agent : agents)
        if (worst->loss.less_at(delta, agent.loss)) worst = &agent;
    return *worst;
}

ComposedRuns compose_runs(std::vector<RecordedLedger> runs,
                          std::optional<double> delta,
                          std::optional<AgentMatch> match) {
    if (runs.empty()) throw ConfigError("there is no run to add up (none came to its first round)");
    require_one_unit(runs);
    ComposedRuns composed;
    composed.runs = distinct(std::move(runs), composed.notes);
    composed.adjacency = composed.runs.front().adjacency;
    composed.unit_column = composed.runs.front().unit_column;
    composed.match = match_of(composed.runs, match);
    composed.delta =
        delta ? *delta : std::ranges::max(composed.runs, {}, &RecordedLedger::delta).delta;
    composed.agents = composed_agents(composed.runs, composed.match, composed.delta);
    // Within one run data stay where they are.
    if (composed.runs.size() == 1)
        composed.anybody = composed.worst().loss;
    else
        for (const RecordedLedger& run : composed.runs) composed.anybody += run.anybody_apart();
    // Bounds of sampled rounds have widths of their own: no agent's may be above that of anybody.
    composed.anybody_epsilon =
        std::max(composed.anybody.epsilon(composed.delta).upper,
                 std::ranges::max(composed.agents, {}, &ComposedAgent::epsilon).epsilon);
    add_notes(composed);
    return composed;
}

ComposedRuns compose_runs_in(const std::vector<std::filesystem::path>& directories,
                             std::optional<double> delta,
                             std::optional<AgentMatch> match) {
    std::vector<RecordedLedger> runs;
    for (const std::filesystem::path& directory : directories)
        for (const std::filesystem::path& run : runs_in(directory))
            runs.push_back(read_recorded_ledger(run));
    return compose_runs(std::move(runs), delta, match);
}

}  // namespace sotto
