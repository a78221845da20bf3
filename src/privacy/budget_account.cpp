#include "sotto/privacy/budget_account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double account_tolerance = 1e-9;  // as verification_tolerance of a plan
constexpr double share_precision = 1e-13;

/// Beyond what any noise is worth the name, and within what the curves are exact for.
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
        throw DataError("a run with a loss that no account allows is deducted");
    if (entry.loss.less_at(delta, entry.left))
        throw DataError("more has left in a run than is deducted for it");
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
    for (const SampledRounds& one : parts.sampled)
        hasher.add("sampled_rounds")
            .add(one.noise_multiplier)
            .add(one.sampling_probability)
            .add(static_cast<std::int64_t>(one.count));
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
    std::set<Digest> runs;
    for (const AccountEntry& entry : entries) {
        require_countable(entry, limit_.delta);
        if (!runs.insert(entry.run).second)
            throw DataError(fmt::format("run {} is in it twice", to_hex(entry.run)));
    }
    entries_ = std::move(entries);
}

PrivacyLoss BudgetAccount::spent() const {
    PrivacyLoss sum;
    for (const AccountEntry& entry : entries_) sum += entry.loss;
    return sum;
}

double BudgetAccount::epsilon_spent() const { return spent().epsilon(limit_.delta).upper; }

PrivacyLoss BudgetAccount::spent_by_others(const Digest& run) const {
    PrivacyLoss sum;
    for (const AccountEntry& entry : entries_)
        if (entry.run != run) sum += entry.loss;
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

AccountEntry* BudgetAccount::find(const Digest& run) {
    const auto place = std::ranges::find(entries_, run, &AccountEntry::run);
    return place == entries_.end() ? nullptr : &*place;
}

void BudgetAccount::reserve(AccountEntry entry) {
    AccountEntry* const before = find(entry.run);
    if (before == nullptr && entries_.size() >= most_entries)
        throw PrivacyError(fmt::format(
            "the account has {} entries, as many as it can hold; open a new one with what is left",
            entries_.size()));
    if (!is_countable(entry.loss))
        throw PrivacyError(
            "this run adds no noise, or next to none: no account allows it (another mechanism, or "
            "a smaller epsilon)");
    const PrivacyLoss others = spent_by_others(entry.run);
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
    before->settled = false;
}

void BudgetAccount::settle(const Digest& run, const PrivacyLoss& left, long rounds) {
    AccountEntry* const entry = find(run);
    if (entry == nullptr) return;
    entry->left = larger(entry->left, left);
    entry->loss = entry->left;
    entry->rounds = rounds;
    entry->settled = true;
}

Digest BudgetAccount::digest(std::span<const std::uint8_t> owner, long serial) const {
    Hasher hasher("sotto.budget-account.v1");
    hasher.add_bytes(owner).add(std::int64_t{serial});
    hasher.add(limit_.epsilon).add(limit_.delta).add(name_of(limit_.adjacency));
    hasher.add(static_cast<std::int64_t>(entries_.size()));
    for (const AccountEntry& entry : entries_) {
        hasher.add_bytes(entry.run).add(entry.time).add(entry.mechanism);
        hasher.add(std::int64_t{entry.rounds});
        add_loss(hasher, entry.loss);
        add_loss(hasher, entry.left);
        hasher.add(std::int64_t{entry.settled ? 1 : 0});
    }
    return hasher.finish();
}

}  // namespace sotto
