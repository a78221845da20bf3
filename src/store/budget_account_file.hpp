#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/files.hpp"
#include "privacy/budget_account.hpp"
#include "trust/identity.hpp"

namespace sotto {

// Budget accounts as files hold them.

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

// An agent's budget account on disk.

/// Seconds that a run waits while another one uses its account.
inline constexpr double account_patience_seconds = 10;

/// An account that this process alone may read and change, until the object is gone: FILE, with
/// FILE.lock (who uses it) and FILE.serial (how often it was written: a FILE that is older than
/// that was put back). All of mode 0600; links are followed, so that one account has one lock.
class BudgetAccountFile {
  public:
    /// Takes the lock and reads the account.
    /// @param identity of the agent whose account it is; null: it has none. With one the account
    /// must carry its signature, without one no signature at all: nobody could renew it.
    /// @throws ConfigError if there is no such file, others than its owner have access to it, or
    /// another run uses it all the time; DataError for what is no account, is not this agent's, or
    /// an older copy that was put back.
    [[nodiscard]] static BudgetAccountFile hold(const std::filesystem::path& path,
                                                const Identity* identity,
                                                double patience_seconds = account_patience_seconds);
    /// Makes a new one. @throws ConfigError if the file exists, or cannot be made.
    static void create(const std::filesystem::path& path,
                       const AccountLimit& limit,
                       const Identity* identity);
    /// Reads one without changing it, for people. @throws as `hold`, but for whose it is.
    [[nodiscard]] static KeptAccount look(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] BudgetAccount& account() { return kept_.account; }
    [[nodiscard]] const BudgetAccount& account() const { return kept_.account; }
    [[nodiscard]] bool is_signed() const { return kept_.owner.has_value(); }

    /// Writes the account as it is now: on disk before this returns. @throws ConfigError.
    void write();
    /// Writes again what was there when it was read; for a run that does not begin after all.
    void restore();

  private:
    BudgetAccountFile(std::filesystem::path path,
                      FileLock lock,
                      const Identity* identity,
                      KeptAccount kept);

    std::filesystem::path path_;
    FileLock lock_;
    const Identity* identity_;
    KeptAccount kept_;
    BudgetAccount before_;
};

}  // namespace sotto
