#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/hash.hpp"
#include "trust/secret.hpp"

namespace sotto {

using IdentityKey = std::array<std::uint8_t, 32>;  ///< Ed25519 public key
using Signature = std::array<std::uint8_t, 64>;    ///< Ed25519

/// An agent's long-term Ed25519 key pair. The secret (the 32-byte seed) is in guarded memory;
/// signing expands it on the stack and wipes the stack.
///
/// File: three lines, "sotto-identity 1", "public <64 hex digits>", "secret <64 hex digits>"; mode
/// 0600.
class Identity {
  public:
    [[nodiscard]] static Identity generate();
    /// @throws DataError if the file cannot be read or is no identity; ConfigError, with the
    /// command that fixes it, if the group or others have any access to it.
    [[nodiscard]] static Identity read(const std::filesystem::path& path);
    /// Creates the file, mode 0600, and flushes it to disk.
    /// @throws ConfigError if it exists (an identity is never overwritten) or cannot be written;
    /// then no file is left behind.
    void write_new(const std::filesystem::path& path) const;

    [[nodiscard]] const IdentityKey& public_key() const { return public_; }
    [[nodiscard]] Signature sign(std::span<const std::uint8_t> message) const;
    /// Key for files that only this identity may read or write: KDF(secret, "sottosav", 0).
    [[nodiscard]] SecretKey storage_key() const { return seed_.derive("sottosav", 0); }

  private:
    explicit Identity(SecretKey seed);
    SecretKey seed_;
    IdentityKey public_{};
};

/// False for a wrong signature and for an invalid public key.
[[nodiscard]] bool signature_is_good(const IdentityKey& key,
                                     std::span<const std::uint8_t> message,
                                     const Signature& signature);

/// Who may take part. Text: one "<64 hex digits of the public key> <name>" per line, # comments,
/// empty lines. A name is one word of at most 64 ASCII characters.
class Roster {
  public:
    struct Entry {
        IdentityKey key{};
        std::string name;
    };

    /// @throws DataError with source and line: not a roster, or a key or a name twice.
    [[nodiscard]] static Roster parse(std::string_view text, const std::string& source);
    /// @throws DataError if the file cannot be read, and as `parse`.
    [[nodiscard]] static Roster read(const std::filesystem::path& path);

    /// In the order of the text.
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    /// Null if the key is not in the roster.
    [[nodiscard]] const Entry* find(const IdentityKey& key) const;
    /// Digest of the set of keys, whatever their order and names.
    [[nodiscard]] Digest digest() const;

  private:
    std::vector<Entry> entries_;
};

/// @throws ConfigError unless the name is allowed in a roster.
void require_roster_name(const std::string& name);

/// Makes an identity in a new file and appends its public key to the roster, created if missing.
/// Processes may share a roster: it is locked (flock) and replaced atomically. If the roster cannot
/// be written, the identity is removed.
/// @param name one word of at most 64 ASCII characters, without #.  @return the public key.
/// @throws ConfigError if the identity exists, the name is not allowed or taken, or a file cannot
/// be written; DataError if the roster is damaged.
[[nodiscard]] IdentityKey enroll(const std::filesystem::path& identity_file,
                                 const std::filesystem::path& roster_file,
                                 const std::string& name);

/// A file descriptor that is closed on destruction.
class OpenFile {
  public:
    explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
    OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    OpenFile& operator=(OpenFile&&) = delete;
    ~OpenFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const { return descriptor_; }
    [[nodiscard]] bool open() const { return descriptor_ >= 0; }

  private:
    int descriptor_;
};

/// @param reason an errno value.  @throws as throw_write_failure (files.hpp).
[[noreturn]] void throw_unwritable(const std::filesystem::path& path, int reason);

}  // namespace sotto
