#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "store/run_directory.hpp"
#include "training/training.hpp"

namespace sotto {

struct AuditConfig {
    TrainConfig train;  ///< the run; if inputs are fixed in advance, of its task only the seed and
                        ///< AttackRecord::options count
    std::string attack = "likelihood";  ///< of the table attacks()
    std::string view = "eavesdropper";
    double level = 0.99;  ///< confidence
    /// An earlier audit's run to analyse instead of a new run.
    std::optional<std::string> run;
    std::optional<std::string> report;  ///< FILE of a page with pictures

    // Of the likelihood attack.
    /// Whom the attack asks about, ascending; empty: whoever the view learns most about. Several
    /// are the agents of one person (PlanConfig::unit_agents).
    std::vector<int> targets;
    std::string hypothesis = "all";  ///< "constant", "random", "worst"
    std::optional<long> trials;      ///< per hypothesis; none: as the width requires
    double width = 0.05;             ///< half width of the interval of mu, relative to mu
    /// K: trials are dealt into private choices of so many trainings on average (TrainingCount).
    std::optional<double> private_choice;
    double choice_shape = 1;  ///< TrainingCount::shape
};

/// Result of an audit; each attack has a derived class.
struct AuditResult {
    virtual ~AuditResult() = default;

    std::string attack, mechanism, view;
    std::string task;  ///< trained task; empty if inputs were fixed in advance
    int agents = 0;
    long rounds = 0;
    double level = 0.99;
    std::uint64_t seed = 1;
    std::vector<std::string> findings;  ///< reasons why it is not consistent
    double seconds = 0;
    std::string run_directory;

    [[nodiscard]] bool consistent() const { return findings.empty(); }

    /// The JSON object of `sotto audit` (docs/cli.md).
    [[nodiscard]] virtual nlohmann::ordered_json json() const = 0;
    /// The question of the attack, to follow the view's name: "asks about agent 3".
    [[nodiscard]] virtual std::string question() const = 0;
    /// Lines for people, with line ends.
    [[nodiscard]] virtual std::string tables() const = 0;
    /// What a consistent result means: "what was seen agrees with the accountant".
    [[nodiscard]] virtual std::string agreement() const = 0;
    /// Writes further files beside audit.json.
    virtual void write_files(const RunDirectory&) const {}
};

struct AuditOutcome {
    bool consistent = true;
    std::unique_ptr<const AuditResult> result;  ///< process 0 only
};

/// The whole audit: the run that config.attack needs, with real messages and recordings of the
/// view; analysis on process 0; audit.json and the attack's files in the run directory. With
/// config.run only the analysis, of the given view, writing nothing. COLLECTIVE.
/// @throws ConfigError for an unknown attack or view, as its AttackRecord, and as run_training;
/// DataError for recordings that are missing or of another run.
[[nodiscard]] AuditOutcome run_audit(const AuditConfig& config,
                                     Network& network,
                                     TrainingListener& observer,
                                     const std::function<bool()>& stop_requested);

[[nodiscard]] std::string audit_report_json(const AuditResult& result);
[[nodiscard]] std::string audit_report_text(const AuditResult& result);

/// The first (attack, mechanism, task, agents, rounds) and last fields (findings, seed, seconds,
/// run_directory) of AuditResult::json.
[[nodiscard]] nlohmann::ordered_json run_json(const AuditResult& result);
void add_ending(nlohmann::ordered_json& json, const AuditResult& result);

/// Most lines of a table of single agents.
inline constexpr std::size_t most_table_lines = 10;

/// Null if not finite.
[[nodiscard]] nlohmann::ordered_json number_json(double value);
/// "-" for NaN, "infinite" for infinity.
[[nodiscard]] std::string number_text(double value, int digits);
/// Distance to the nearest member; null and "-" without one (-1).
[[nodiscard]] nlohmann::ordered_json distance_json(int distance);
[[nodiscard]] std::string distance_text(int distance);

}  // namespace sotto
