#pragma once

// What several runs on the same data have revealed together.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/names.hpp"
#include "store/recorded_ledger.hpp"

namespace sotto {

/// How agents of different runs are known to be the same.
enum class AgentMatch { identity, number };
inline constexpr NameTable<AgentMatch, 2> agent_matches{
    {{{AgentMatch::identity, "identity"}, {AgentMatch::number, "number"}}}};

/// One agent over all runs.
struct ComposedAgent {
    int number = 0;        ///< in the first of its runs
    std::string identity;  ///< public key; empty where agents are matched by number
    std::string name;      ///< of a roster; empty: none
    int runs = 0;
    PrivacyLoss loss;
    double epsilon = 0;  ///< at the delta of all, certified from above; may be infinite
};

/// Losses of runs add up: with l_i of run i, epsilon(delta) of l_1 + l_2 + ... (PrivacyLoss), exact
/// for Gaussian parts (mu^2 = sum mu_i^2) and pure ones (sum epsilon_i), certified from above for
/// both together. It holds against whoever sees in each run what the headline of its ledger is
/// about, for runs of which each may follow from what the others said.
struct ComposedRuns {
    std::vector<RecordedLedger> runs;  ///< that count, each once
    Adjacency adjacency = Adjacency::agent;
    AgentMatch match = AgentMatch::number;
    double delta = 0;
    std::vector<ComposedAgent> agents;
    /// Of the agent that lost most in each run: a bound for data that were with different agents.
    PrivacyLoss anybody;
    double anybody_epsilon = 0;
    std::vector<std::string> notes;  ///< what was left out or assumed, in words

    /// Who lost most.
    [[nodiscard]] const ComposedAgent& worst() const;
};

/// @param runs any that concern the same data; one that is there twice (by run id) counts once.
/// @param delta of the total; none: the largest of the runs.
/// @param match none: by identity where all runs have them, by number where none has.
/// @throws ConfigError without runs, for runs with different adjacencies, naming them, or of which
/// only some have identities; DataError for an identity twice in a run.
[[nodiscard]] ComposedRuns compose_runs(std::vector<RecordedLedger> runs,
                                        std::optional<double> delta,
                                        std::optional<AgentMatch> match);

/// Reads them. @param directories of runs and sweeps.
[[nodiscard]] ComposedRuns compose_runs_in(const std::vector<std::filesystem::path>& directories,
                                           std::optional<double> delta,
                                           std::optional<AgentMatch> match);

}  // namespace sotto
