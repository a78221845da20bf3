#include "privacy/budget_account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double account_tolerance = 1e-9;  // same as verification_tolerance of a plan
constexpr double share_precision = 1e-13;

/// Beyond any useful noise, and within the range where the curves are exact.
constexpr double most_amount = 1e12, most_epsilon = 1e6, least_delta = 1e-30;

bool is_countable(const PrivacyLoss& loss) {
    return !loss.infinite() && loss.largest_part() <= most_amount;
}

void require_account_limit(const AccountLimit& limit) {
    if (!(limit.epsilon > 0 && limit.epsilon <= most_epsilon))
        throw ConfigError(fmt::format(
            "epsilon: {} is not allowed in a budget account (must be above 0 and at most {:g})",
            limit.epsilon,
            most_epsilon));
    if (!(limit.delta == 0 || (limit.delta >= least_delta && limit.delta < 1)))
        throw ConfigError(fmt::format(
            "delta: {} is not allowed in a budget account (must be 0, or at least {:g} and less "
            "than 1)",
            limit.delta,
            least_delta));
}

/// Finite, and within what was deducted.
void require_countable(const AccountEntry& entry, double delta) {
    if (!is_countable(entry.loss) || !is_countable(entry.left))
        throw DataError("a deducted run has a loss that no account allows");
    if (entry.loss.less_at(delta, entry.left))
        throw DataError("a run has revealed more than is deducted for it");
    if (entry.rounds < 0) throw DataError("a run has fewer than 0 rounds");
    if (entry.mechanism.size() > BudgetAccount::most_mechanism_letters || entry.time.size() > 32)
        throw DataError("an entry's words are too long");
}

/// To four digits.
double rounded_down(double value) {
    const double scale = std::pow(10, 3 - std::floor(std::log10(value)));
    return std::floor(value * scale) / scale;
}

void add_loss(Hasher& hasher, const PrivacyLoss& loss) {
    const PrivacyLoss::Parts parts = loss.parts();
    if (!parts.pure || parts.mu_squared > 0) hasher.add("mu^2").add(parts.mu_squared);
    if (parts.pure) hasher.add("epsilon").add(*parts.pure);
    for (const SampledRounds& one : parts.sampled) {
        hasher.add("sampled_rounds")
            .add(one.noise_multiplier)
            .add(one.sampling_probability)
            .add(static_cast<std::int64_t>(one.count));
        if (one.is_allocated())
            hasher.add("rounds_an_epoch").add(static_cast<std::int64_t>(one.rounds_an_epoch));
    }
}

/// Whether a run with phases `later` continues one with `earlier`.
bool goes_on_from(const std::vector<AccountPhase>& later,
                  const std::vector<AccountPhase>& earlier) {
    if (later.size() < earlier.size()) return false;
    for (std::size_t k = 0; k < earlier.size(); ++k) {
        const bool last = k + 1 == earlier.size();
        if (last ? !goes_on(later[k].sessions, earlier[k].sessions)
                 : later[k].sessions != earlier[k].sessions)
            return false;
    }
    return true;
}

bool has_same_sessions(const std::vector<AccountPhase>& one,
                       const std::vector<AccountPhase>& other) {
    return std::ranges::equal(one, other, {}, &AccountPhase::sessions, &AccountPhase::sessions);
}

/// Whether the entry counts all rounds of this phase.
bool counts(const AccountEntry& entry, const AccountPhase& phase) {
    return std::ranges::any_of(entry.phases, [&](const AccountPhase& own) {
        return own.counted && goes_on(own.sessions, phase.sessions) && own.rounds >= phase.rounds;
    });
}

}  // namespace

BudgetAccount::BudgetAccount(const AccountLimit& limit) : limit_(limit) {
    require_account_limit(limit);
}

BudgetAccount::BudgetAccount(const AccountLimit& limit, std::vector<AccountEntry> entries)
    : BudgetAccount(limit) {
    if (entries.size() > most_entries)
        throw DataError(
            fmt::format("it has {} entries, more than {}", entries.size(), most_entries));
    for (const AccountEntry& entry : entries) {
        require_countable(entry, limit_.delta);
        const auto twice = std::ranges::count_if(entries, [&](const AccountEntry& other) {
            return other.run == entry.run && has_same_sessions(other.phases, entry.phases);
        });
        if (twice > 1) throw DataError(fmt::format("run {} is in it twice", to_hex(entry.run)));
    }
    entries_ = std::move(entries);
}

PrivacyLoss BudgetAccount::spent() const {
    PrivacyLoss sum;
    for (const AccountEntry& entry : entries_) sum += entry.loss;
    return sum;
}

double BudgetAccount::epsilon_spent() const { return spent().epsilon(limit_.delta).upper; }

PrivacyLoss BudgetAccount::spent_by_others(const Digest& run,
                                           const std::vector<AccountPhase>& phases) const {
    const AccountEntry* const own = find(run, phases);
    PrivacyLoss sum;
    for (const AccountEntry& entry : entries_)
        if (&entry != own) sum += entry.loss;
    return sum;
}

PrivacyLoss BudgetAccount::largest_left(const PrivacyLoss& others, const PrivacyLoss& like) const {
    const auto fits = [&](double share) {
        return compose(others, like.scaled(share)).epsilon(limit_.delta).upper <= limit_.epsilon;
    };
    const double most_share = most_amount / like.largest_part();
    if (!std::isfinite(most_share) || !fits(0)) return like.scaled(0);
    double low = 0, high = std::min(1.0, most_share);
    while (high < most_share && fits(high)) {
        low = high;
        high = std::min(2 * high, most_share);
    }
    for (int i = 0; i < 100 && high - low > share_precision * high; ++i) {
        const double middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return like.scaled(low);
}

const PrivacyLoss& BudgetAccount::larger(const PrivacyLoss& one, const PrivacyLoss& other) const {
    return one.less_at(limit_.delta, other) ? other : one;
}

const AccountEntry* BudgetAccount::find(const Digest& run,
                                        const std::vector<AccountPhase>& phases) const {
    const AccountEntry* found = nullptr;
    for (const AccountEntry& entry : entries_)
        if (entry.run == run && goes_on_from(phases, entry.phases) &&
            (found == nullptr || goes_on_from(entry.phases, found->phases)))
            found = &entry;
    return found;
}

AccountEntry* BudgetAccount::own_entry(const AccountEntry& asked) {
    const AccountEntry* const found = find(asked.run, asked.phases);
    return found == nullptr ? nullptr
                            : &entries_[static_cast<std::size_t>(found - entries_.data())];
}

void BudgetAccount::leave_out_common(AccountEntry& entry,
                                     const std::vector<PrivacyLoss>& losses,
                                     const AccountEntry* before) const {
    bool all = true;
    PrivacyLoss sum;
    for (std::size_t k = 0; k < entry.phases.size(); ++k) {
        AccountPhase& phase = entry.phases[k];
        phase.counted =
            before == nullptr || k >= before->phases.size() || before->phases[k].counted;
        const bool own = phase.counted && before != nullptr && k < before->phases.size();
        for (const AccountEntry& other : entries_) {
            if (&other == before || other.run != entry.run) continue;
            for (const AccountPhase& there : other.phases)
                if (share_keys_apart(there.sessions, phase.sessions))
                    throw PrivacyError(
                        "another copy of this run has gone on with the same noise keys; what both "
                        "send would differ without any noise (go on with the copy that did, or "
                        "start another run)");
            if (!own && counts(other, phase)) phase.counted = false;
        }
        // The other entry that counted it may have had fewer rounds.
        if (!phase.counted && std::ranges::none_of(entries_, [&](const AccountEntry& other) {
                return &other != before && other.run == entry.run && counts(other, phase);
            }))
            phase.counted = true;
        all = all && phase.counted;
        if (phase.counted && k < losses.size()) sum += losses[k];
    }
    if (!all) entry.loss = sum;
}

void BudgetAccount::reserve(AccountEntry entry, const std::vector<PrivacyLoss>& losses) {
    AccountEntry* const before = own_entry(entry);
    leave_out_common(entry, losses, before);
    if (before == nullptr && entries_.size() >= most_entries)
        throw PrivacyError(fmt::format(
            "the account has {} entries, as many as it can hold; open a new one with what is left",
            entries_.size()));
    if (!is_countable(entry.loss))
        throw PrivacyError(
            "this run adds no noise, or next to none: no account allows it (another mechanism, or "
            "a smaller epsilon)");
    const PrivacyLoss others = spent_by_others(entry.run, entry.phases);
    const PrivacyLoss asked = before != nullptr ? larger(before->loss, entry.loss) : entry.loss;
    const double together = compose(others, asked).epsilon(limit_.delta).upper;
    if (!(together <= limit_.epsilon * (1 + account_tolerance))) {
        const double left = largest_left(others, asked).epsilon(limit_.delta).upper;
        throw PrivacyError(fmt::format(
            "epsilon {:.4g} of {:.4g} at delta {:g} is spent by {} other run{}, this one asks for "
            "{:.4g}, together {:.4g}; {}",
            others.epsilon(limit_.delta).upper,
            limit_.epsilon,
            limit_.delta,
            entries_.size() - (before != nullptr ? 1 : 0),
            entries_.size() - (before != nullptr ? 1 : 0) == 1 ? "" : "s",
            asked.epsilon(limit_.delta).upper,
            together,
            left > 0 ? fmt::format("ask for at most epsilon {:.4g} at this delta, or for fewer "
                                   "rounds",
                                   rounded_down(left))
                     : std::string("nothing is left: train on other data")));
    }
    if (before == nullptr) {
        entry.left = entry.loss.scaled(0);
        entry.settled = false;
        entries_.push_back(std::move(entry));
        return;
    }
    before->loss = asked;
    before->rounds = std::max(before->rounds, entry.rounds);
    before->phases = std::move(entry.phases);
    before->settled = false;
}

void BudgetAccount::settle(AccountEntry entry, const std::vector<PrivacyLoss>& losses) {
    AccountEntry* const own = own_entry(entry);
    if (own == nullptr) return;
    leave_out_common(entry, losses, own);
    own->left = larger(own->left, entry.loss);
    own->loss = own->left;
    own->rounds = entry.rounds;
    own->phases = std::move(entry.phases);
    own->settled = true;
}

Digest BudgetAccount::digest(std::span<const std::uint8_t> owner, long serial) const {
    Hasher hasher("sotto.budget-account.v2");
    hasher.add_bytes(owner).add(std::int64_t{serial});
    hasher.add(limit_.epsilon).add(limit_.delta).add(name_of(limit_.adjacency));
    if (!limit_.unit_column.empty()) hasher.add("unit column").add(limit_.unit_column);
    hasher.add(static_cast<std::int64_t>(entries_.size()));
    for (const AccountEntry& entry : entries_) {
        hasher.add_bytes(entry.run).add(entry.time).add(entry.mechanism);
        hasher.add(std::int64_t{entry.rounds});
        add_loss(hasher, entry.loss);
        add_loss(hasher, entry.left);
        hasher.add(std::int64_t{entry.settled ? 1 : 0});
        hasher.add(static_cast<std::int64_t>(entry.phases.size()));
        for (const AccountPhase& phase : entry.phases) {
            hasher.add(static_cast<std::int64_t>(phase.sessions.size()));
            for (const Digest& session : phase.sessions) hasher.add_bytes(session);
            hasher.add(std::int64_t{phase.rounds}).add(std::int64_t{phase.counted ? 1 : 0});
        }
    }
    return hasher.finish();
}

}  // namespace sotto
