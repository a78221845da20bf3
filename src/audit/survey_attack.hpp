#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "audit/attack.hpp"
#include "audit/audit_job.hpp"
#include "config/config.hpp"

namespace sotto {

/// Did the paid rounds before a training (training/survey.hpp) reveal what they may? Looks at what
/// agents recorded of them (`views-norms`, `views-moments`, docs/recorded-view.md), with config.run
/// only.
[[nodiscard]] AttackRecord survey_attack();

/// One paid round as the agents that recorded it saw it, and what it costs.
struct SurveyFigures {
    std::string kind;         ///< "norms" or "moments"
    std::string folder;       ///< of the recordings, in the run directory
    int phase = 0;            ///< of the ledger
    std::vector<int> agents;  ///< that recorded it; ascending
    bool contributions_sound = true;
    bool messages_sound = true;  ///< each is exactly -(contribution + noise)
    bool seeds_sound = true;     ///< the recorded seeds give the recorded noise, bit for bit
    /// Mean square of the noise of all recorded agents together, whitened by their covariance in
    /// the plan: 1 as planned. With all agents recorded it is the variance of the eavesdropper's
    /// likelihood ratios.
    double noise_ratio = 1;
    double noise_lower = 0;  ///< interval of the true ratio (chi-squared); all tests together hold
    double noise_upper = 0;  ///< at the audit's level
    double mu = 0;           ///< of this round alone, against the eavesdropper; largest of an agent
    double epsilon = 0;      ///< the same
    /// Part of the budget's mu^2 that it spends against the observers that the plan counts; largest
    /// of an agent.
    double share = 0;
    double share_allowed = 0;
};

struct SurveyResult : AuditResult {
    double delta = 0;
    std::vector<SurveyFigures> surveys;  ///< by start, moments first

    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
};

/// For every paid round that was recorded, with every violation a finding:
///   - a contribution to `norms` is 48 whole numbers of 0 or more, together at most the agent's
///     records; to `moments` sums of z and z^2 with |sum z| <= records and 0 <= sum z^2 <= records
///     (times sqrt(2k) if records are those of persons);
///   - the message is -(contribution + noise), and the noise that of the recorded seeds;
///   - the variance of every agent's noise, and of all noise whitened by the plan's covariance, is
///     as planned, by chi-squared intervals at `level` for all tests together;
///   - mu from the plan of the phase and the sensitivity of its kind is what ledger.json counts,
///   and
///     at most the share of mu^2 that a round of this kind may spend;
///   - no more rounds are recorded than counted, and none that is in no phase.
/// Records of an agent are those of its last checkpoint; without one, sums are not compared.
/// @param directory of the run.  @param config of its config.ini.
/// @return mechanism, task, findings and the attack's own results.
/// @throws DataError for a run without such recordings, as read_recorded_run and
/// RecordedViewReader. Cost: n^3 for n agents, and coalition_precision of every phase.
[[nodiscard]] SurveyResult analyse_surveys(const std::filesystem::path& directory,
                                           const TrainConfig& config,
                                           double level);

}  // namespace sotto
