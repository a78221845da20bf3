#pragma once

// What the columns of a table mean to a model; not installed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learn/table.hpp"
#include "learn/table_options.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/label_set.hpp"

namespace sotto {

/// A column that is a feature, as all agents have it.
struct ColumnShape {
    enum class Kind : std::uint8_t {
        unknown,  ///< no cell is there
        numbers,
        categories
    };
    std::string name;  ///< "column 3" where columns have no names
    Kind kind = Kind::unknown;
    std::vector<std::string> categories{};  ///< in natural order, each once
    bool operator==(const ColumnShape&) const = default;
};

/// What models of all agents have in common, and no file alone can say.
struct TableShape {
    std::vector<std::string> columns;        ///< names in the file's order; none where it has none
    std::vector<ColumnShape> features;       ///< in the order in which models have them
    std::string unit{};                      ///< name of the column of units; empty: none
    std::string label;                       ///< name of the column to predict
    std::optional<double> threshold{};       ///< its class is whether the column is above this
    Target target = Target::value;           ///< what it is
    std::vector<std::string> label_names{};  ///< of classes that are texts; label k is the k-th
    LabelSet labels{};                       ///< of classes that are numbers
    bool operator==(const TableShape&) const = default;
};

/// Categories that a column may have over all data.
inline constexpr std::size_t most_categories = 1000;
/// Different whole numbers that are taken for classes where nobody says what they are.
inline constexpr std::size_t most_automatic_classes = 100;

/// The shape of one table.
/// @throws ConfigError naming an option's column that the table has not, and what it has;
/// DataError naming column and record for: a label or unit that is missing, numbers and texts
/// in one column, dates, more than most_categories categories, a label that is no class or no
/// number.
[[nodiscard]] TableShape shape_of(const Table& table, const TableOptions& options);

/// What both tables have together.
/// @param whose the second one is, for messages.
/// @throws DataError naming a column that has numbers in one and categories in the other, or a
/// label that is a class in one and a value in the other.
[[nodiscard]] TableShape united(TableShape a, const TableShape& b, const std::string& whose);

/// What a column is called in messages and shapes: its name, or "column 3" where there are none.
[[nodiscard]] std::string column_name(const Table& table, std::size_t place);
/// The column of that name or, where there are none, of that number, from 1.
[[nodiscard]] std::optional<std::size_t> find_column(const Table& table, const std::string& name);
/// @throws DataError naming table, record, column and what is wrong there.
[[noreturn]] void fail_cell(const Table& table,
                            const std::string& column,
                            std::size_t record,
                            const std::string& what);
/// @throws DataError naming the first record without a cell there, and what it is needed for.
void require_no_missing(const Table& table, std::size_t place, const char* use);

}  // namespace sotto
