#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/attack_statistics.hpp"
#include "audit/audit_result.hpp"
#include "audit/canaries.hpp"
#include "audit/whiteness.hpp"

namespace sotto {

/// What the trials of one hypothesis came to.
struct HypothesisVerdict {
    AttackFigures figures;  ///< intervals at the audit's level
    /// Where the lower end, at the level corrected for the number of tests, is above what the
    /// accountant says.
    std::vector<std::string> findings;
    [[nodiscard]] bool exceeds() const { return !findings.empty(); }
};

/// What members can say about the contributions of one agent.
struct LikelihoodResult : AuditResult {
    double delta = 0;
    AuditDesign design;
    std::vector<HypothesisVerdict> verdicts;    ///< as design.hypotheses
    std::optional<WhitenessFigures> whiteness;  ///< Gaussian noise only
    bool noise_as_accounted = true;
    long mask_pairs = 0;  ///< of masked shares compared; 0 without secure sums

    [[nodiscard]] std::size_t strongest() const;  ///< hypothesis with the largest theory
    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
};

}  // namespace sotto
