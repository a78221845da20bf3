#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "learn/label_set.hpp"
#include "learn/standardisation.hpp"
#include "learn/table.hpp"
#include "sotto/core/names.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

// How a user wants tables to be read.

/// What becomes of a missing cell of a feature. Nothing is learnt from the data for it.
struct MissingPolicy {
    enum class Kind {
        refuse,     ///< an error that names it
        indicator,  ///< zero after scaling, and every column of numbers has a second feature that
                    ///< is 1 where it is missing; of a column of categories one more category
        value       ///< `value`, before scaling; of a column of categories none of them
    };
    Kind kind = Kind::refuse;
    double value = 0;
    bool operator==(const MissingPolicy&) const = default;
};
/// "refuse", "indicator" or "value:V". @throws ConfigError for another text.
[[nodiscard]] MissingPolicy parse_missing(std::string_view text);
[[nodiscard]] std::string name_of(const MissingPolicy& policy);

/// Known limits of a column: its values are cut to them, and become -1 to 1. Public: they must not
/// come from the data.
struct ColumnBounds {
    std::string column;
    double low = 0, high = 0;
    bool operator==(const ColumnBounds&) const = default;
};
/// "age=18:90,chol=100:600", or the name of a file with one of these a line; # begins a comment.
/// @throws ConfigError naming what is not of this form, a bound that is not finite, a column that
/// is there twice, or low >= high; DataError for a file that cannot be read.
[[nodiscard]] std::vector<ColumnBounds> parse_bounds(const std::string& text);

/// The kind of the column to predict.
enum class TargetKind { automatic, classes, value };
inline constexpr NameTable<TargetKind, 3> target_kinds{{{{TargetKind::automatic, "auto"},
                                                         {TargetKind::classes, "classes"},
                                                         {TargetKind::value, "value"}}}};

/// How a user wants tables to be read.
struct TableOptions {
    /// Name of the column to predict, or its number, from 1, where columns have no names; "NAME>V"
    /// is whether it is above V. Empty: the last column, a value, of tables without names.
    std::string label;
    TargetKind target = TargetKind::automatic;
    std::vector<std::string> ignore{};       ///< names or numbers of columns that are left out
    std::vector<std::string> categorical{};  ///< whose numbers are categories
    MissingPolicy missing{};
    std::vector<ColumnBounds> bounds{};  ///< of every column of numbers; none: other scaling
    std::string unit{};  ///< name or number of the column that says of whom a record is; no feature
    bool operator==(const TableOptions&) const = default;
};

// What the columns of a table mean to a model.

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

// From tables to records as models have them.

/// Names of a model's features: of columns of numbers, of categories ("sex = male"), and of
/// indicators ("age is missing").
struct FeatureNames {
    std::vector<std::string> names;
    std::vector<bool> numbers;  ///< are to be scaled
};
[[nodiscard]] FeatureNames feature_names(const TableShape& shape, const MissingPolicy& missing);

/// Records as models have them: numbers not yet scaled, NaN where they are missing; labels as the
/// file has them, or places in label_names.
/// Where there is a column of units, equal cells of it are equal Dataset::writers.
/// @param with_label false: labels are 0, and the table need not have them, nor units.
/// @throws DataError naming column and record for a missing cell that is refused, or a category
/// that is not in the shape.
[[nodiscard]] Dataset encoded(const Table& table,
                              const TableShape& shape,
                              const MissingPolicy& missing,
                              bool with_label = true);

/// All columns as features, and the last as the value, too: points. @throws DataError naming column
/// and record of a cell that is no number.
[[nodiscard]] Dataset all_columns(const Table& table);

/// Scaling by known limits. @throws ConfigError naming a column of numbers that has none, or limits
/// of no column of numbers.
[[nodiscard]] Standardisation scaling_by_bounds(const TableShape& shape,
                                                const TableOptions& options);

}  // namespace sotto
