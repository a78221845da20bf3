#pragma once

#include <array>
#include <deque>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// The candidate nearest to `word` by edit distance (insertions, deletions, substitutions, swaps of
/// neighbouring letters); nothing if none is near.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view word,
                                                      std::span<const std::string> candidates);

/// Error for a name that is not one of `allowed`; suggests the nearest.
[[nodiscard]] ConfigError unknown_name_error(std::string_view what,
                                             std::string_view given,
                                             std::span<const std::string> allowed);

/// Parses one finite number; the whole text must match.
/// @throws ConfigError naming `what`, the text, and what is allowed.
[[nodiscard]] double parse_real(std::string_view what, std::string_view text);
[[nodiscard]] long long parse_integer(std::string_view what, std::string_view text);

/// @throws ConfigError unless minimum <= value <= maximum; a NaN fails.
void require_in_range(std::string_view what, double value, double minimum, double maximum);
/// @throws ConfigError unless value is finite and > 0; a NaN fails.
void require_positive(std::string_view what, double value);

/// Two-way table between an enumeration and names on the command line.
template <class Enum, std::size_t N>
struct NameTable {
    std::array<std::pair<Enum, std::string_view>, N> entries;

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> result;
        for (const auto& [value, name] : entries) result.emplace_back(name);
        return result;
    }
    [[nodiscard]] std::string name_of(Enum value) const {
        for (const auto& [candidate, name] : entries)
            if (candidate == value) return std::string(name);
        throw Error(ExitCode::other, "a value has no name in its table");
    }
    /// @throws ConfigError for a name that is not in the table.
    [[nodiscard]] Enum parse(std::string_view what, std::string_view text) const {
        for (const auto& [value, name] : entries)
            if (name == text) return value;
        throw unknown_name_error(what, text, names());
    }
};

/// The parts between separators, including empty ones, as views into `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// "a", "a and b", "a, b and c", for messages.
[[nodiscard]] std::string join(std::span<const std::string> words, std::string_view last = " or ");

/// A table of named records in insertion order: mechanisms, tasks, views, subcommands. A record
/// contains everything about its name.
///
/// Not synchronised: add records before the program starts threads (Registered).
/// @tparam Record has a member `std::string name`.
template <class Record>
class Registry {
  public:
    /// @param what kind of record, for messages: "mechanism".
    /// @throws Error if two have the same name.
    Registry(std::string what, std::initializer_list<Record> records) : what_(std::move(what)) {
        for (const Record& record : records) add(record);
    }

    /// References stay valid when records are added.
    [[nodiscard]] const std::deque<Record>& records() const { return records_; }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const Record& record : records_) names.push_back(record.name);
        return names;
    }
    /// Null if the name is unknown.
    [[nodiscard]] const Record* look_up(std::string_view name) const {
        for (const Record& record : records_)
            if (record.name == name) return &record;
        return nullptr;
    }
    /// @param option that gave the name, for the message.
    /// @throws ConfigError suggesting the nearest name.
    [[nodiscard]] const Record& find(std::string_view option, std::string_view name) const {
        if (const Record* record = look_up(name)) return *record;
        throw unknown_name_error(option, name, names());
    }
    /// @throws Error if the name exists.
    void add(Record record) {
        if (look_up(record.name) != nullptr)
            throw Error(ExitCode::other, "there are two of " + what_ + " '" + record.name + "'");
        records_.push_back(std::move(record));
    }

  private:
    std::string what_;
    std::deque<Record> records_;
};

/// Adds a record where it is defined, in a file that is linked into the program:
///
///     const Registered<Mechanism> example(mechanisms(), {.name = "example", ...});
///
/// Unreferenced files of a static library are not linked, so sotto's own records are listed in
/// their tables instead.
template <class Record>
struct Registered {
    Registered(Registry<Record>& registry, Record record) { registry.add(std::move(record)); }
};

}  // namespace sotto
