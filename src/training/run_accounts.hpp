#pragma once

#include <optional>
#include <vector>

#include "store/budget_account_file.hpp"
#include "training/open_run.hpp"
#include "training/prepare_run.hpp"
#include "training/train_result.hpp"

namespace sotto {

// The budget accounts of the agents of a training.

/// A run that is deducted from its agents' budget accounts and has not begun yet. Nobody else can
/// use the accounts meanwhile. If it goes before `keep`, the run does not begin, and what was
/// deducted is put back.
class DeductedRun {
  public:
    /// Checks that the account of every agent that has one allows the whole planned run; nothing is
    /// deducted anywhere if one of them does not allow it. A file that
    /// several agents of a process share is charged with the largest loss of them: their data may
    /// be dealt otherwise in the next run. COLLECTIVE; before anything is sent that depends on
    /// data, or a run directory is made.
    /// @throws PrivacyError, the same on every process, naming the agent whose account does not
    /// allow the run; of several processes only its own keeps why, in a file beside the
    /// account (FILE.refusal, mode 0600). Alone: what BudgetAccountFile::hold throws, too.
    explicit DeductedRun(const PreparedRun& prepared);
    DeductedRun(const DeductedRun&) = delete;
    DeductedRun& operator=(const DeductedRun&) = delete;
    ~DeductedRun();

    /// Deducts it, on disk: after the history knows this start, so that a process killed in between
    /// does not make the next start look like one of another copy of the run; before anything is
    /// sent. COLLECTIVE. @throws as above.
    void write(const PreparedRun& prepared);

    /// The run begins. @return its use of the local account with the least left, if there is one.
    [[nodiscard]] std::optional<AccountUse> keep();

  private:
    void put_back();
    std::vector<BudgetAccountFile> files_;
    std::size_t written_ = 0;  // of these
    std::optional<AccountUse> use_;
};

/// The same check without deducting anything: of a dry run. COLLECTIVE. @throws as above.
void require_accounts_allow(const PreparedRun& prepared);

/// The run has ended cleanly after so many rounds: what it did not send is given back. A failure
/// leaves the whole run deducted, and a line on standard error says so. LOCAL.
/// @return the use, as it is now.
[[nodiscard]] std::optional<AccountUse> settle_accounts(const PreparedRun& prepared,
                                                        long rounds,
                                                        std::optional<AccountUse> use);

/// Writes ledger.json, and its digest into the manifest and every agent's copy of it. Every agent
/// first checks that the ledger of process 0 states for it no less than it counts itself. A crash
/// on the way leaves the old ledger or the new one, and digests of both. COLLECTIVE.
/// @param rounds completed.
/// @throws NetworkError, the same on every process, naming the agent whom the ledger states less
/// for.
void seal_ledger(const OpenRun& run, Ledger::Status status, long rounds);

/// On process 0, without the others, who may be gone: a ledger whose digest is that of the running
/// one, which counts all planned rounds.
void write_open_ledger(const OpenRun& run, Ledger::Status status, long rounds);

}  // namespace sotto
