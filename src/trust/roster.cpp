#include "sotto/trust/roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/text_input.hpp"

namespace sotto {

namespace fs = std::filesystem;

void require_roster_name(const std::string& name) {
    constexpr std::size_t largest_name = 64;
    const bool good = !name.empty() && name.size() <= largest_name &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                          return c > ' ' && c < 127 && c != '#';
                      });
    if (!good)
        throw ConfigError(fmt::format(
            "name: '{}' is not allowed (one word of at most {} ASCII characters, without #)",
            name,
            largest_name));
}

Roster Roster::parse(std::string_view text, const std::string& source) {
    Roster roster;
    text = without_byte_order_mark(text);
    for (int number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto fail = [&](const std::string& reason) {
            return DataError(fmt::format("{}:{}: {}", source, number, reason));
        };
        line = line.substr(0, line.find('#'));
        constexpr std::string_view blank = " \t\r";
        const auto next_word = [&] {
            line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
            const std::string_view word = line.substr(0, line.find_first_of(blank));
            line.remove_prefix(word.size());
            return word;
        };
        const std::string_view digits = next_word();
        if (digits.empty()) continue;
        Entry entry;
        if (!from_hex(digits, entry.key))
            throw fail("a line of a roster is \"<64 hex digits of a public key> <name>\"");
        entry.name = next_word();
        if (!next_word().empty()) throw fail("more than a public key and a name of one word");
        try {
            require_roster_name(entry.name);
        } catch (const ConfigError& error) {
            throw fail(error.what());
        }
        for (const Entry& other : roster.entries_) {
            if (other.key == entry.key)
                throw fail(fmt::format("'{}' and '{}' have the same key", other.name, entry.name));
            if (other.name == entry.name)
                throw fail(fmt::format("the name '{}' appears twice", entry.name));
        }
        roster.entries_.push_back(std::move(entry));
    }
    return roster;
}

Roster Roster::read(const fs::path& path) {
    ensure_sodium();
    // An empty stream cannot be copied, yet an empty roster is one.
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == 0) return {};
    return parse(read_file(path), path.string());
}

const Roster::Entry* Roster::find(const IdentityKey& key) const {
    const auto found = std::find_if(
        entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == entries_.end() ? nullptr : &*found;
}

Digest Roster::digest() const {
    std::vector<IdentityKey> keys;
    keys.reserve(entries_.size());
    for (const Entry& entry : entries_) keys.push_back(entry.key);
    std::sort(keys.begin(), keys.end());
    Hasher hasher("sotto.roster.v1");
    hasher.add(static_cast<std::int64_t>(keys.size()));
    for (const IdentityKey& key : keys) hasher.add_bytes(key);
    return hasher.finish();
}

}  // namespace sotto
