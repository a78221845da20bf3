#pragma once

#include <optional>
#include <vector>

#include "store/budget_account_file.hpp"
#include "training/open_run.hpp"
#include "training/prepare_run.hpp"
#include "training/train_result.hpp"

namespace sotto {

// The budget accounts of the agents of a training.

/// A run that is deducted from its agents' budget accounts but has not begun. It locks the
/// accounts. If it is destroyed before `keep`, the run does not begin and the deduction is undone.
class DeductedRun {
  public:
    /// Checks that every agent's account allows the whole planned run; nothing is deducted anywhere
    /// if one does not. A file that several agents of a process share is charged with their largest
    /// loss, since the next run may distribute their data differently. COLLECTIVE. Call it before
    /// anything that depends on data is sent and before a run directory is made.
    /// @throws PrivacyError, the same on every process, naming the agent whose account does not
    /// allow the run. With several processes only its own process stores the reason, in a file
    /// beside the account (FILE.refusal, mode 0600). Alone, also what BudgetAccountFile::hold
    /// throws.
    explicit DeductedRun(const PreparedRun& prepared);
    DeductedRun(const DeductedRun&) = delete;
    DeductedRun& operator=(const DeductedRun&) = delete;
    ~DeductedRun();

    /// Writes the deduction to disk. Call it after the history has recorded this start: otherwise
    /// the next start after a crash would look like another copy of the run. Call it before
    /// anything is sent. COLLECTIVE. @throws as above.
    void write(const PreparedRun& prepared);

    /// Marks the run as begun. @return the use of the local account with the least left, if any.
    [[nodiscard]] std::optional<AccountUse> keep();

  private:
    void put_back();
    std::vector<BudgetAccountFile> files_;
    std::size_t written_ = 0;  // number of accounts written
    std::optional<AccountUse> use_;
};

/// The same check for a dry run, which deducts nothing. COLLECTIVE. @throws as above.
void require_accounts_allow(const PreparedRun& prepared);

/// Returns the budget of rounds that were not sent, after a run that ended cleanly at this round.
/// If this fails, the whole run remains deducted and standard error has a line about it. LOCAL.
/// @return the updated use.
[[nodiscard]] std::optional<AccountUse> settle_accounts(const PreparedRun& prepared,
                                                        long rounds,
                                                        std::optional<AccountUse> use);

/// Writes ledger.json, and its digest into the manifest and every agent's copy of it. First every
/// agent checks that process 0's ledger states no less for it than its own count. After a crash in
/// between there is the old ledger or the new one, and digests of both. COLLECTIVE.
/// @param rounds completed.
/// @throws NetworkError, the same on every process, naming the agent for which the ledger states
/// less.
void seal_ledger(const OpenRun& run, Ledger::Status status, long rounds);

/// Writes a ledger on process 0 alone, since the others may be gone. Its digest is that of the
/// running ledger, which counts all planned rounds.
void write_open_ledger(const OpenRun& run, Ledger::Status status, long rounds);

}  // namespace sotto
