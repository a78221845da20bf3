#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "audit/audit_job.hpp"
#include "audit/audit_subject.hpp"
#include "sotto/core/names.hpp"
#include "store/run_directory.hpp"
#include "tasks/task.hpp"

namespace sotto {

/// One attack on one run, in the steps of run_audit. Every process has one.
class Attack {
  public:
    Attack(AuditConfig config, AuditSubject subject)
        : config_(std::move(config)), subject_(std::move(subject)) {}
    virtual ~Attack() = default;
    Attack(const Attack&) = delete;
    Attack& operator=(const Attack&) = delete;

    [[nodiscard]] const AuditConfig& config() const { return config_; }
    [[nodiscard]] const AuditSubject& subject() const { return subject_; }

    /// The agents' contributions in the run, instead of training config().train.task.
    [[nodiscard]] virtual std::function<LocalTask()> inputs(const Control&) const { return {}; }
    /// Writes what a later analysis of the recordings needs. LOCAL, process 0.
    virtual void write_inputs(const RunDirectory&) const {}
    /// The part of the analysis that needs all processes. COLLECTIVE.
    /// @param folder of the run; process 0 reads it.
    virtual void gather(const std::filesystem::path& /*folder*/, Control&) {}
    /// Analyses the recordings and compares with the accountant. LOCAL, process 0.
    /// @return mechanism, task, findings, and the attack's own results.
    [[nodiscard]] virtual std::unique_ptr<AuditResult> analyse(
        const std::filesystem::path& folder) const = 0;

  private:
    AuditConfig config_;
    AuditSubject subject_;
};

struct AttackRecord {
    std::string name;
    std::string help;  ///< what they want to know
    /// Whether contributions are fixed in advance by the attack; else it trains --task, with all
    /// its options.
    bool fixed_inputs = true;
    /// Whether it is for secretly sampled batches (--participation poisson) only.
    bool sampled = false;
    /// Whether it looks at a training that has ended, in config.run, instead of a run of its own:
    /// participation and view are not asked for, and AuditSubject has the graph alone.
    bool of_trainings = false;
    /// Whether it can analyse recordings of steps (TrainConfig::records_steps).
    bool of_steps = false;
    /// Further allowed options of task and audit.
    std::vector<std::string> options;
    /// Options with another default for this attack.
    std::vector<std::pair<std::string, std::string>> defaults;
    /// Checks the configuration and prepares the inputs, or reads those of config.run. COLLECTIVE.
    std::unique_ptr<Attack> (*start)(AuditConfig config,
                                     AuditSubject subject,
                                     Control& network) = nullptr;
};

/// Every attack. The first for a kind of participation is its default.
[[nodiscard]] Registry<AttackRecord>& attacks();

}  // namespace sotto
