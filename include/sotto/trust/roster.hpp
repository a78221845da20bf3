#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/trust/identity.hpp"

namespace sotto {

/// Who may take part. Text: "<64 hex digits of the public key> <name>" a line, # comments, empty
/// lines. A name is one word of at most 64 ASCII characters.
class Roster {
  public:
    struct Entry {
        IdentityKey key{};
        std::string name;
    };

    /// @throws DataError with source and line: not a roster, or a key or a name twice.
    [[nodiscard]] static Roster parse(std::string_view text, const std::string& source);
    /// @throws DataError if the file cannot be read, or as `parse`.
    [[nodiscard]] static Roster read(const std::filesystem::path& path);

    /// In the order of the text.
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    /// Null if the key is not in the roster.
    [[nodiscard]] const Entry* find(const IdentityKey& key) const;
    /// Of the set of keys: order, names and comments do not matter.
    [[nodiscard]] Digest digest() const;

  private:
    std::vector<Entry> entries_;
};

/// @throws ConfigError unless an entry of a roster may have this name.
void require_roster_name(const std::string& name);

}  // namespace sotto
