#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/files.hpp"
#include "privacy/budget_account.hpp"
#include "trust/identity.hpp"

namespace sotto {

struct KeptAccount {
    BudgetAccount account;
    std::optional<IdentityKey> owner;  ///< whose signature was verified; none: unsigned
    long serial = 0;                   ///< number of writes
};

/// Longest text accepted [bytes].
inline constexpr std::size_t most_account_bytes = 8'000'000;

/// JSON (docs/ledger.md): limit, entries, their BLAKE2b (BudgetAccount::digest) and, with an
/// identity, its Ed25519 signature of that.
/// @param signer null: unsigned.
[[nodiscard]] std::string account_text(const BudgetAccount& account,
                                       long serial,
                                       const Identity* signer);
/// @param source for messages.
/// @throws DataError unless it is an account: damaged, changed without the owner's identity,
/// unknown keys, numbers out of range, or longer than most_account_bytes.
[[nodiscard]] KeptAccount account_from_text(std::string_view text, const std::string& source);

/// How long a run waits for another one that uses its account.
inline constexpr double account_patience_seconds = 10;

/// An account locked by this process for the life of the object: FILE, with FILE.lock (who uses it)
/// and FILE.serial (number of writes: an older FILE was put back). All of mode 0600; links are
/// followed, so an account has one lock.
class BudgetAccountFile {
  public:
    /// @param identity of the account's agent; null: it has none. With an identity the account must
    /// carry its signature, without one none: nobody could renew it.
    /// @throws ConfigError if the file is missing, others than its owner have access to it, or
    /// another run keeps it locked; DataError if it is no account, not this agent's, or an older
    /// copy that was put back.
    [[nodiscard]] static BudgetAccountFile hold(const std::filesystem::path& path,
                                                const Identity* identity,
                                                double patience_seconds = account_patience_seconds);
    /// @throws ConfigError if the file exists or cannot be made.
    static void create(const std::filesystem::path& path,
                       const AccountLimit& limit,
                       const Identity* identity);
    /// Reads an account without locking it or checking its owner. @throws as `hold`.
    [[nodiscard]] static KeptAccount look(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] BudgetAccount& account() { return kept_.account; }
    [[nodiscard]] const BudgetAccount& account() const { return kept_.account; }
    [[nodiscard]] bool is_signed() const { return kept_.owner.has_value(); }

    /// On disk before this returns. @throws ConfigError.
    void write();
    /// Restores the account as it was read, if the run does not begin after all.
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
