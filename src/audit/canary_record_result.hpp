#pragma once

#include <string>
#include <vector>

#include "audit/audit_result.hpp"
#include "audit/canary_records.hpp"
#include "audit/coin_checks.hpp"
#include "audit/one_run_bound.hpp"

namespace sotto {

/// A threshold that was chosen on half of the canaries, tried on the other half.
struct CanaryRates {
    double aimed = 0;           ///< rate of false positives it was chosen for
    double false_positive = 0;  ///< measured
    double true_positive = 0;   ///< measured
    /// Largest rate of true positives that the accountant allows where that of false positives is
    /// the one measured. Measured rates scatter around true ones.
    double theory = 0;
};

/// What members can say about which records an agent has, whose batches are secretly sampled.
struct CanaryRecordResult : AuditResult {
    double delta = 0;
    CanaryRecords canaries;
    long present = 0;  ///< canaries that are in the shard
    Eigen::Index batch_size = 0;
    double sampling_probability = 0;  ///< that is accounted for
    double noise_multiplier = 0;      ///< that is accounted for
    double epsilon_theory = 0;        ///< the accountant's, of a record
    double epsilon_lower = 0;         ///< by a threshold
    OneRunFigures one_run;
    std::vector<CanaryRates> rates;
    std::vector<CoinCheck> checks;
    double check_risk = 0;  ///< a check fails where its p-value is below
    long rounds_recorded = 0;

    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
};

}  // namespace sotto
