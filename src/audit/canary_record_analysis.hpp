#pragma once

#include <filesystem>

#include "audit/audit_subject.hpp"
#include "audit/canary_record_result.hpp"
#include "audit/canary_records.hpp"
#include "audit/trade_off.hpp"
#include "sotto/privacy/guarantee.hpp"

namespace sotto {

/// What is accounted for: what the target's records may reveal to the view.
struct CanaryAccount {
    double contribution = 0;      ///< Delta = C / B
    double probability = 0;       ///< q
    Eigen::Index batch_size = 0;  ///< B
    Guarantee claim;              ///< of a record, all messages seen, with the members' seeds
    TradeOff trade_off;           ///< of that loss
};
/// @throws ConfigError where epsilon is infinite, and no test could be better than that.
[[nodiscard]] CanaryAccount account_of(const CanaryRecords& canaries, const AuditSubject& subject);

/// Looks at the recordings of a run with canary records. Every canary has a score, the likelihood
/// ratio of being in the shard; bounds of epsilon by thresholds (measure_attack) and by guesses in
/// one run (measure_one_run), rates beside the accountant's trade-off, and check_coins. All tests
/// together raise a false alarm with probability 1 - level at most.
/// @param process the run as it is accounted for. Rounds that were recorded beyond it are a
/// finding.
/// @throws DataError for recordings that are missing or of another run.
[[nodiscard]] CanaryRecordResult analyse_canary_records(const std::filesystem::path& views,
                                                        const MessageProcess& process,
                                                        const View& view,
                                                        const CanaryRecords& canaries,
                                                        const CanaryAccount& account,
                                                        double level,
                                                        int threads);

/// Logarithm of how much likelier every column is with a canary in the shard than without: exact
/// where modes are rounds, sum_t log(1 - q + q exp(r_t z_t - r_t^2 / 2)) with r_t = Delta
/// response_t; otherwise that of normal variables with the same means and variances.
/// @return one of every canary; not of the last coordinate.
[[nodiscard]] Eigen::VectorXd canary_scores(const ContributionModes& modes,
                                            double contribution,
                                            double probability);

}  // namespace sotto
