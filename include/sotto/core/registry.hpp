#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

/// A table of records with names, in the order in which they were added: mechanisms, tasks, views,
/// subcommands. What a name stands for is said in its record and nowhere else.
///
/// Not synchronised: records are added before the program starts threads (Registered).
/// @tparam Record has a member `std::string name`.
template <class Record>
class Registry {
  public:
    /// @param what the records are called in messages: "mechanism".
    /// @throws Error if two have the same name.
    Registry(std::string what, std::initializer_list<Record> records) : what_(std::move(what)) {
        for (const Record& record : records) add(record);
    }

    /// References stay valid when more are added.
    [[nodiscard]] const std::deque<Record>& records() const { return records_; }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const Record& record : records_) names.push_back(record.name);
        return names;
    }
    /// Null if there is none of that name.
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
    /// @throws Error if there is one of that name.
    void add(Record record) {
        if (look_up(record.name) != nullptr)
            throw Error(ExitCode::other, "there are two of " + what_ + " '" + record.name + "'");
        records_.push_back(std::move(record));
    }

  private:
    std::string what_;
    std::deque<Record> records_;
};

/// Adds a record where it is defined, in a file of its own that is linked into the program:
///
///     const Registered<Mechanism> example(mechanisms(), {.name = "example", ...});
///
/// Files of a static library that nothing refers to are not linked: sotto's own records stand in
/// their tables instead.
template <class Record>
struct Registered {
    Registered(Registry<Record>& registry, Record record) { registry.add(std::move(record)); }
};

}  // namespace sotto
