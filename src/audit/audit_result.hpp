#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "store/run_directory.hpp"

namespace sotto {

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

}  // namespace sotto
