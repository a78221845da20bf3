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

/// One attack on one run, in the steps that run_audit takes. Every process has one.
class Attack {
  public:
    Attack(AuditConfig config, AuditSubject subject)
        : config_(std::move(config)), subject_(std::move(subject)) {}
    virtual ~Attack() = default;
    Attack(const Attack&) = delete;
    Attack& operator=(const Attack&) = delete;

    [[nodiscard]] const AuditConfig& config() const { return config_; }
    [[nodiscard]] const AuditSubject& subject() const { return subject_; }

    /// What the agents contribute in the run, instead of training config().train.task.
    [[nodiscard]] virtual std::function<LocalTask()> inputs(const Network&) const { return {}; }
    /// Writes what else must be known to look at the run's recordings again. LOCAL, process 0.
    virtual void write_inputs(const RunDirectory&) const {}
    /// What needs all processes in looking at the recordings. COLLECTIVE.
    /// @param folder of the run; process 0 reads it.
    virtual void gather(const std::filesystem::path& /*folder*/, Network&) {}
    /// Looks at the recordings and compares with the accountant. LOCAL, process 0.
    /// @return mechanism, task, findings, and what the attack alone has.
    [[nodiscard]] virtual std::unique_ptr<AuditResult> analyse(
        const std::filesystem::path& folder) const = 0;

  private:
    AuditConfig config_;
    AuditSubject subject_;
};

/// Something the members of a view may try to find out.
struct AttackRecord {
    std::string name;
    std::string help;  ///< what they want to know
    /// Whether the run contributes what the attack says, fixed in advance; else it trains --task,
    /// whose options all have a meaning then.
    bool fixed_inputs = true;
    /// Whether it is about secretly sampled batches (--participation poisson), and no others.
    bool sampled = false;
    /// Further options of a task and of the audit that have a meaning.
    std::vector<std::string> options;
    /// Options whose default is another one with this attack.
    std::vector<std::pair<std::string, std::string>> defaults;
    /// Checks the configuration and prepares the inputs, or reads those of config.run. COLLECTIVE.
    std::unique_ptr<Attack> (*start)(AuditConfig config,
                                     AuditSubject subject,
                                     Network& network) = nullptr;
};

/// Every attack there is. Of those that are about the same participation the first is the default.
[[nodiscard]] Registry<AttackRecord>& attacks();

}  // namespace sotto
