#pragma once

// Budget accounts as files hold them; not installed.

#include <optional>
#include <string>
#include <string_view>

#include "sotto/privacy/budget_account.hpp"
#include "sotto/trust/identity.hpp"

namespace sotto {

/// An account, and who vouches for it.
struct KeptAccount {
    BudgetAccount account;
    std::optional<IdentityKey> owner;  ///< whose signature is good; none: unsigned
    long serial = 0;                   ///< how often it was written
};

/// Longest text that is read. [bytes]
inline constexpr std::size_t most_account_bytes = 8'000'000;

/// JSON (docs/ledger.md): limit, entries, a BLAKE2b of all that (BudgetAccount::digest) and, with
/// an identity, its Ed25519 signature of it.
/// @param signer null: unsigned.
[[nodiscard]] std::string account_text(const BudgetAccount& account,
                                       long serial,
                                       const Identity* signer);
/// @param source what to call it in messages.
/// @throws DataError for what is no account: damaged, changed by somebody without the owner's
/// identity, unknown keys, numbers out of range, or longer than most_account_bytes.
[[nodiscard]] KeptAccount account_from_text(std::string_view text, const std::string& source);

}  // namespace sotto
