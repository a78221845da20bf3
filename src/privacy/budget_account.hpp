#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {

/// All that may be revealed about the same data, in however many runs.
struct AccountLimit {
    double epsilon = 0;  ///< above 0, at most 1e6
    double delta = 0;    ///< 0, or 1e-30 <= delta < 1
    Adjacency adjacency = Adjacency::agent;
};

/// A stretch of a run's rounds under one set of noise keys, in an account.
struct AccountPhase {
    std::vector<Digest> sessions;  ///< ids of the starts that sent in it, in order
    long rounds = 0;               ///< that may have left
    bool counted = true;           ///< in this entry; else another continuation's has it
};

/// One run in an account, or one continuation of a run that was resumed in several places.
struct AccountEntry {
    Digest run{};           ///< run id of its first session
    std::string time;       ///< when it was first deducted, UTC
    std::string mechanism;  ///< at most most_mechanism_letters
    long rounds = 0;        ///< that `loss` counts
    PrivacyLoss loss;       ///< deducted: finite
    PrivacyLoss left;       ///< had left for certain when the run last ended cleanly; within `loss`
    bool settled = false;   ///< it ended cleanly, and no more is reserved for it
    /// What it consists of. Starts have random ids: where two directories have the same, the rounds
    /// under them are the same and count once; others are another continuation, and count.
    std::vector<AccountPhase> phases{};
};

/// What runs on the same data have spent of a limit, and may still spend. Losses compose
/// (PrivacyLoss): with l_i of run i, epsilon(l_1 + l_2 + ...) at the limit's delta is what is
/// spent. Runs may follow from what others said. A run is deducted whole before it sends anything
/// (reserve), and what it did not send is given back when it ends cleanly (settle).
class BudgetAccount {
  public:
    static constexpr std::size_t most_entries = 10000;
    static constexpr std::size_t most_mechanism_letters = 64;

    /// @throws ConfigError unless the limit is in range.
    explicit BudgetAccount(const AccountLimit& limit);
    /// As it was kept. @throws ConfigError as above; DataError for entries that cannot be: a run
    /// twice, an infinite loss, more left than deducted, too many.
    BudgetAccount(const AccountLimit& limit, std::vector<AccountEntry> entries);

    [[nodiscard]] const AccountLimit& limit() const { return limit_; }
    [[nodiscard]] std::span<const AccountEntry> entries() const { return entries_; }

    /// Of all entries.
    [[nodiscard]] PrivacyLoss spent() const;
    /// Its epsilon at the limit's delta, certified from above.
    [[nodiscard]] double epsilon_spent() const;
    /// Of all entries but the one that a run of these phases goes on with.
    [[nodiscard]] PrivacyLoss spent_by_others(const Digest& run,
                                              const std::vector<AccountPhase>& phases = {}) const;
    /// Largest PrivacyLoss::scaled of `like`, which reveals something, that still fits beside
    /// `others`; nothing (loss 0) if none does. Cost: about 50 epsilons.
    [[nodiscard]] PrivacyLoss largest_left(const PrivacyLoss& others,
                                           const PrivacyLoss& like) const;

    /// Deducts the whole planned loss of a run. A run that is resumed keeps its entry: the
    /// larger of what was deducted and what is planned now is, and what had left stays counted. A
    /// copy of a run's directory that is resumed beside it has an entry of its own, without the
    /// phases that another one counts with as many rounds.
    /// @param entry its `left`, `settled` and what its phases count are ignored.
    /// @param losses of its phases, in order, whose sum `entry.loss` does not exceed; read where
    /// some of them are counted elsewhere.
    /// @throws PrivacyError naming what is spent, asked for and left, and what to do, if everything
    /// together would exceed the limit by more than a share 1e-9, or for noise keys with which
    /// another continuation went on; the account is then unchanged.
    void reserve(AccountEntry entry, const std::vector<PrivacyLoss>& losses = {});
    /// The run has ended cleanly, and this is what left: what else was deducted for it is free
    /// again, but never what had left before. Nothing happens without an entry of the run.
    /// @param entry as reserved, with the rounds and the loss that left.
    void settle(AccountEntry entry, const std::vector<PrivacyLoss>& losses = {});

    /// Of limit and entries: what a signature is about.
    /// @param serial how often the account was written.
    [[nodiscard]] Digest digest(std::span<const std::uint8_t> owner, long serial) const;

  private:
    /// The entry that a run of these phases goes on with; nullptr: there is none.
    [[nodiscard]] const AccountEntry* find(const Digest& run,
                                           const std::vector<AccountPhase>& phases) const;
    [[nodiscard]] AccountEntry* own_entry(const AccountEntry& asked);
    /// Leaves in the entry what no other entry counts. @param before its own, or nullptr.
    /// @throws PrivacyError for keys that another continuation has used, too.
    void leave_out_common(AccountEntry& entry,
                          const std::vector<PrivacyLoss>& losses,
                          const AccountEntry* before) const;
    /// Of two losses that one run may have caused.
    [[nodiscard]] const PrivacyLoss& larger(const PrivacyLoss& one, const PrivacyLoss& other) const;

    AccountLimit limit_;
    std::vector<AccountEntry> entries_;
};

// A stretch of rounds under one set of noise keys is known by the ids of the starts that sent in
// it, in order: the first one drew the keys, each later one went on with them after a clean stop.
// Ids are random, so two directories that have the same ids have them from one run.

/// Whether `one` is `other`, or what came of it with the same keys.
template <class Session>
[[nodiscard]] bool goes_on(const std::vector<Session>& one, const std::vector<Session>& other) {
    return other.size() <= one.size() && std::equal(other.begin(), other.end(), one.begin());
}

/// Whether both went on from one start with its keys, each by itself: they drew the same noise for
/// messages that need not be the same, whose difference has none.
template <class Session>
[[nodiscard]] bool share_keys_apart(const std::vector<Session>& one,
                                    const std::vector<Session>& other) {
    return !one.empty() && !other.empty() && one.front() == other.front() && !goes_on(one, other) &&
           !goes_on(other, one);
}

}  // namespace sotto
