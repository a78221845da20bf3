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

/// Which canary records does an agent with secretly sampled batches have (--participation poisson)?
/// One run with the production sampler, clipper, noise and network; every canary is a trial
/// (CanaryRecords, analyse_canary_records). A run directory keeps canary-records.json.
[[nodiscard]] AttackRecord canary_record_attack();

/// Records per agent in an audit of this many canaries (none: the default), with q = batch size /
/// records.
/// @throws ConfigError for an impossible number of canaries or batch size, and for options that are
/// not allowed here: --sampling-probability, and a --noise-seed equal to --seed.
[[nodiscard]] long canary_records_of(const AuditConfig& config);

/// A threshold chosen on half of the canaries and tried on the other half.
struct CanaryRates {
    double aimed = 0;           ///< false positive rate it was chosen for
    double false_positive = 0;  ///< measured
    double true_positive = 0;   ///< measured
    /// Largest true positive rate that the accountant allows at the measured false positive rate.
    /// Measured rates scatter around true ones.
    double theory = 0;
};

/// What members can say about the canary records of an agent.
struct CanaryRecordResult : AuditResult {
    double delta = 0;
    CanaryRecords canaries;
    long present = 0;  ///< canaries that are in the shard
    Eigen::Index batch_size = 0;
    SecretRounds secret;          ///< accounted
    double noise_multiplier = 0;  ///< accounted
    double epsilon_theory = 0;    ///< the accountant's, per record
    double epsilon_lower = 0;     ///< by thresholds
    OneRunFigures one_run;
    std::vector<CanaryRates> rates;
    std::vector<CoinCheck> checks;
    double check_risk = 0;  ///< a check fails if its p-value is below
    long rounds_recorded = 0;

    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
};

/// The accountant's figures for the target's records against the view.
struct CanaryAccount {
    double contribution = 0;  ///< Delta = C / B
    SecretRounds secret;
    Eigen::Index batch_size = 0;  ///< B
    Guarantee claim;              ///< per record, all messages seen, with the members' seeds
    TradeOff trade_off;           ///< of that loss
};
/// @throws ConfigError if epsilon is infinite, which no test can exceed.
[[nodiscard]] CanaryAccount account_of(const CanaryRecords& canaries, const AuditSubject& subject);

/// Analyses the recordings of a run with canary records. A canary's score is the likelihood ratio
/// of being in the shard. Computes bounds of epsilon by thresholds (measure_attack) and by guesses
/// in one run (measure_one_run), compares guesses (one_run_excludes) and rates with the
/// accountant's trade-off, and runs check_coins. All tests together raise a false alarm with
/// probability at most 1 - level.
/// @param process the run as accounted; more recorded rounds are a finding.
/// @throws DataError for recordings that are missing or of another run.
[[nodiscard]] CanaryRecordResult analyse_canary_records(const std::filesystem::path& views,
                                                        const MessageProcess& process,
                                                        const View& view,
                                                        const CanaryRecords& canaries,
                                                        const CanaryAccount& account,
                                                        double level,
                                                        int threads);

/// Log-likelihood ratio of every column with and without a canary in the shard: exact if modes are
/// rounds, sum_t log(1 - q + q exp(r_t z_t - r_t^2 / 2)) with r_t = Delta response_t, and with
/// random allocation the sum over epochs of log(1 - sum_t q + sum_t q exp(r_t z_t - r_t^2 / 2));
/// otherwise for normal variables with the same means and variances.
/// @return one per canary, without the last coordinate.
[[nodiscard]] Eigen::VectorXd canary_scores(const ContributionModes& modes,
                                            double contribution,
                                            const SecretRounds& secret);

}  // namespace sotto
