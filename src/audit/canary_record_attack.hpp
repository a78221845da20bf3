#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audit/attack.hpp"
#include "audit/attack_statistics.hpp"
#include "audit/audit_job.hpp"
#include "audit/audit_subject.hpp"
#include "audit/known_models.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// Which canary records does an agent have, whose batches are secretly sampled (--participation
/// poisson)? One run with the production sampler, clipper, noise and network; every canary is a
/// trial (CanaryRecords, analyse_canary_records). A run directory keeps canary-records.json.
[[nodiscard]] AttackRecord canary_record_attack();

/// Records of an agent in an audit of this many canaries (none: the default), whose batches have
/// q = batch size / records.
/// @throws ConfigError for a number of canaries or a batch size that is not possible, and for
/// options that secret sampling excludes here: --sampling-probability, and a --noise-seed that is
/// --seed.
[[nodiscard]] long canary_records_of(const AuditConfig& config);

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
