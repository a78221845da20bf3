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

/// What `sotto audit` is asked.
struct AuditConfig {
    TrainConfig train;  ///< the run; where inputs are fixed in advance its task counts as far as
                        ///< AttackRecord::options say, and for the seed
    std::string attack = "likelihood";  ///< of the table attacks()
    std::string view = "eavesdropper";
    double level = 0.99;  ///< confidence
    /// A run that was made by an audit before: its recordings are analysed, nothing runs.
    std::optional<std::string> run;
    std::optional<std::string> report;  ///< FILE of a page that draws the attack

    // Likelihood alone.
    std::optional<int> target;       ///< none: the agent the view learns most about
    std::string hypothesis = "all";  ///< "constant", "random", "worst"
    std::optional<long> trials;      ///< of every hypothesis; none: as the wanted width asks
    double width = 0.05;             ///< half width of the interval of mu, relative to mu
};

/// What an audit found. The parts that an attack alone has stand in the class of its result.
struct AuditResult {
    virtual ~AuditResult() = default;

    std::string attack, mechanism, view;
    std::string task;  ///< that was trained; empty where inputs were fixed in advance
    int agents = 0;
    long rounds = 0;
    double level = 0.99;
    std::uint64_t seed = 1;
    std::vector<std::string> findings;  ///< in words, why it is not consistent
    double seconds = 0;
    std::string run_directory;

    [[nodiscard]] bool consistent() const { return findings.empty(); }

    /// The JSON object of `sotto audit` (docs/cli.md).
    [[nodiscard]] virtual nlohmann::ordered_json json() const = 0;
    /// What the view asked, after its name: "asks about agent 3".
    [[nodiscard]] virtual std::string question() const = 0;
    /// Lines for people, each with its end.
    [[nodiscard]] virtual std::string tables() const = 0;
    /// What it means that it is consistent: "what was seen agrees with the accountant".
    [[nodiscard]] virtual std::string agreement() const = 0;
    /// Writes what a run directory keeps beside audit.json.
    virtual void write_files(const RunDirectory&) const {}
};

/// What processes know after an audit.
struct AuditOutcome {
    bool consistent = true;
    std::unique_ptr<const AuditResult> result;  ///< process 0 alone
};

/// The whole audit: the run that config.attack looks at, with real messages and recordings of the
/// view; analysis on process 0; audit.json and what the attack keeps in the run directory. With
/// config.run the analysis only, of the view that is asked; nothing is written. COLLECTIVE.
/// @throws ConfigError for an attack or view that does not exist, as its AttackRecord, and as
/// run_training; DataError for recordings that are missing or of another run.
[[nodiscard]] AuditOutcome run_audit(const AuditConfig& config,
                                     Network& network,
                                     TrainingListener& observer,
                                     const std::function<bool()>& stop_requested);

/// The JSON object of `sotto audit` (docs/cli.md), as text.
[[nodiscard]] std::string audit_report_json(const AuditResult& result);
/// The same for people.
[[nodiscard]] std::string audit_report_text(const AuditResult& result);

/// What AuditResult::json begins with (attack, mechanism, task, agents, rounds) and ends with
/// (findings, seed, seconds, run_directory).
[[nodiscard]] nlohmann::ordered_json run_json(const AuditResult& result);
void add_ending(nlohmann::ordered_json& json, const AuditResult& result);

/// Lines of a table of single agents.
inline constexpr std::size_t most_table_lines = 10;

/// Null where it is not finite.
[[nodiscard]] nlohmann::ordered_json number_json(double value);
/// "-" where it is not a number, "infinite" where it is that.
[[nodiscard]] std::string number_text(double value, int digits);
/// Distances of an agent from the nearest member; null and "-" without one (-1).
[[nodiscard]] nlohmann::ordered_json distance_json(int distance);
[[nodiscard]] std::string distance_text(int distance);

}  // namespace sotto
