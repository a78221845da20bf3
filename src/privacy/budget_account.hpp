#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// Limit on what all runs on the same data may reveal.
struct AccountLimit {
    double epsilon = 0;  ///< above 0, at most 1e6
    double delta = 0;    ///< 0, or 1e-30 <= delta < 1
    Adjacency adjacency = Adjacency::agent;
    std::string unit_column{};  ///< of tables; empty: runs protect single records, or agents
};

/// Consecutive rounds of a run under one set of noise keys.
struct AccountPhase {
    std::vector<Digest> sessions;  ///< ids of the starts that sent messages in it, in order
    long rounds = 0;               ///< whose messages may have been sent
    bool counted = true;           ///< in this entry; otherwise another continuation's entry counts
                                   ///< it
};

/// One run in an account, or one of several continuations of a run.
struct AccountEntry {
    Digest run{};           ///< run id of its first session
    std::string time;       ///< when first deducted, UTC
    std::string mechanism;  ///< at most most_mechanism_letters
    long rounds = 0;        ///< counted in `loss`
    PrivacyLoss loss;       ///< deducted: finite
    PrivacyLoss left;       ///< certainly sent when the run last ended cleanly; within `loss`
    bool settled = false;   ///< the run ended cleanly, and nothing more is reserved
    /// Phases of the run. Starts have random ids: equal ids in two directories mean the same
    /// rounds, which count once; phases with other ids belong to another continuation and count
    /// separately.
    std::vector<AccountPhase> phases{};
};

/// Losses of runs on the same data under a limit. Losses l_i of runs, which may depend on each
/// other's messages, compose (PrivacyLoss): epsilon(l_1 + l_2 + ...) at the limit's delta is spent.
/// A run reserves its whole loss before it sends anything (reserve); when it ends cleanly, what it
/// did not send is given back (settle).
class BudgetAccount {
  public:
    static constexpr std::size_t most_entries = 10000;
    static constexpr std::size_t most_mechanism_letters = 64;

    /// @throws ConfigError unless the limit is in range.
    explicit BudgetAccount(const AccountLimit& limit);
    /// From storage.
    /// @throws ConfigError as above; DataError for impossible entries: a run twice, an infinite
    /// loss, more sent than deducted, too many.
    BudgetAccount(const AccountLimit& limit, std::vector<AccountEntry> entries);

    [[nodiscard]] const AccountLimit& limit() const { return limit_; }
    [[nodiscard]] std::span<const AccountEntry> entries() const { return entries_; }

    /// Composition of all entries.
    [[nodiscard]] PrivacyLoss spent() const;
    /// Its epsilon at the limit's delta, certified from above.
    [[nodiscard]] double epsilon_spent() const;
    /// Composition of all entries except the one that a run with these phases continues.
    [[nodiscard]] PrivacyLoss spent_by_others(const Digest& run,
                                              const std::vector<AccountPhase>& phases = {}) const;
    /// Largest PrivacyLoss::scaled of `like`, which must reveal something, that still fits beside
    /// `others`; loss 0 if none does. Cost: about 50 epsilons.
    [[nodiscard]] PrivacyLoss largest_left(const PrivacyLoss& others,
                                           const PrivacyLoss& like) const;

    /// Deducts the whole planned loss of a run. A resumed run keeps its entry, with the larger of
    /// the old and the new loss; what was sent stays counted. A copy of a run's directory that is
    /// resumed separately gets its own entry, without the phases that another entry counts with as
    /// many rounds.
    /// @param entry its `left`, `settled` and the `counted` of its phases are ignored.
    /// @param losses of its phases, in order, which together are at least `entry.loss`; used if
    /// some are counted elsewhere.
    /// @throws PrivacyError with what is spent, requested and left, and what to do, if the total
    /// would exceed the limit by more than a relative 1e-9, or if another continuation went on with
    /// the same noise keys; the account is then unchanged.
    void reserve(AccountEntry entry, const std::vector<PrivacyLoss>& losses = {});
    /// Records that the run has ended cleanly with this loss sent; the rest of its deduction is
    /// free again, but never what was sent before. Does nothing without an entry of the run.
    /// @param entry as reserved, with the rounds and the loss that were sent.
    void settle(AccountEntry entry, const std::vector<PrivacyLoss>& losses = {});

    /// Digest of limit and entries, for a signature.
    /// @param serial number of times the account was written.
    [[nodiscard]] Digest digest(std::span<const std::uint8_t> owner, long serial) const;

  private:
    /// The entry that a run with these phases continues; null if none.
    [[nodiscard]] const AccountEntry* find(const Digest& run,
                                           const std::vector<AccountPhase>& phases) const;
    [[nodiscard]] AccountEntry* own_entry(const AccountEntry& asked);
    /// Keeps only phases that no other entry counts.
    /// @param before the run's own old entry, or null.
    /// @throws PrivacyError for keys that another continuation has used too.
    void leave_out_common(AccountEntry& entry,
                          const std::vector<PrivacyLoss>& losses,
                          const AccountEntry* before) const;
    /// The larger of two possible losses of one run.
    [[nodiscard]] const PrivacyLoss& larger(const PrivacyLoss& one, const PrivacyLoss& other) const;

    AccountLimit limit_;
    std::vector<AccountEntry> entries_;
};

// Rounds under one set of noise keys are identified by the random ids of the starts that sent
// messages in them, in order: the first start drew the keys, each later one reused them after a
// clean stop. Equal ids in two directories come from one run.

/// Whether `one` equals or continues `other` with the same keys.
template <class Session>
[[nodiscard]] bool goes_on(const std::vector<Session>& one, const std::vector<Session>& other) {
    return other.size() <= one.size() && std::equal(other.begin(), other.end(), one.begin());
}

/// Whether both continued separately from one start with its keys. Then they added the same noise
/// to messages that may differ, and the difference of the messages has no noise.
template <class Session>
[[nodiscard]] bool share_keys_apart(const std::vector<Session>& one,
                                    const std::vector<Session>& other) {
    return !one.empty() && !other.empty() && one.front() == other.front() && !goes_on(one, other) &&
           !goes_on(other, one);
}

}  // namespace sotto
