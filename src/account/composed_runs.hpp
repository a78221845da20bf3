#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/names.hpp"
#include "store/recorded_ledger.hpp"

namespace sotto {

/// How agents of different runs are matched.
enum class AgentMatch { identity, number };
inline constexpr NameTable<AgentMatch, 2> agent_matches{
    {{{AgentMatch::identity, "identity"}, {AgentMatch::number, "number"}}}};

struct ComposedAgent {
    int number = 0;        ///< in the first of its runs
    std::string identity;  ///< public key; empty if matched by number
    std::string name;      ///< in a roster; empty: none
    int runs = 0;
    PrivacyLoss loss;
    double epsilon = 0;  ///< at the common delta, certified upper bound; may be infinite
};

/// What several runs on the same data reveal together. Losses add up: with l_i of run i,
/// epsilon(delta) of l_1 + l_2 + ... (PrivacyLoss), exact for Gaussian parts (mu^2 = sum mu_i^2)
/// and pure ones (sum epsilon_i), a certified upper bound for both together. Holds against whoever
/// observes in each run what the headline of its ledger covers; runs may depend on earlier ones.
struct ComposedRuns {
    std::vector<RecordedLedger> runs;  ///< those that count, each once
    Adjacency adjacency = Adjacency::agent;
    std::string unit_column;  ///< as in the ledgers
    AgentMatch match = AgentMatch::number;
    double delta = 0;
    std::vector<ComposedAgent> agents;
    /// Sum over runs of a loss that dominates every agent's: a bound for data that moved between
    /// agents. Of one run, the loss of its worst agent.
    PrivacyLoss anybody;
    double anybody_epsilon = 0;
    std::vector<std::string> notes;  ///< what was left out or assumed

    [[nodiscard]] const ComposedAgent& worst() const;
};

/// @param runs on the same data; a run given twice (by run id) counts once.
/// @param delta of the total; none: the largest of the runs.
/// @param match none: by identity if all runs have them, by number if none has.
/// @throws ConfigError without runs, for runs that protect different things (adjacency or unit
/// column), naming them, or if only some have identities; DataError for an identity twice in a run.
[[nodiscard]] ComposedRuns compose_runs(std::vector<RecordedLedger> runs,
                                        std::optional<double> delta,
                                        std::optional<AgentMatch> match);

/// @param directories of runs and sweeps.
[[nodiscard]] ComposedRuns compose_runs_in(const std::vector<std::filesystem::path>& directories,
                                           std::optional<double> delta,
                                           std::optional<AgentMatch> match);

}  // namespace sotto
