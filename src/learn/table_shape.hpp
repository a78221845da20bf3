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

/// How to treat a missing cell of a feature. Nothing is learnt from the data for it.
struct MissingPolicy {
    enum class Kind {
        refuse,     ///< an error naming the cell
        indicator,  ///< numbers: 0 after scaling, and a second feature per column that is 1 if
                    ///< missing; categories: one more category
        value       ///< numbers: `value`, before scaling; categories: none of them
    };
    Kind kind = Kind::refuse;
    double value = 0;
    bool operator==(const MissingPolicy&) const = default;
};
/// "refuse", "indicator" or "value:V". @throws ConfigError for another text.
[[nodiscard]] MissingPolicy parse_missing(std::string_view text);
[[nodiscard]] std::string name_of(const MissingPolicy& policy);

/// Limits of a column: values are cut to them and scaled to -1 to 1. They are public, so they must
/// not be derived from the data.
struct ColumnBounds {
    std::string column;  ///< its name, or its number, from 1, if columns have no names
    double low = 0, high = 0;
    bool operator==(const ColumnBounds&) const = default;
};
/// "age=18:90,chol=100:600", or the name of a file with one of these per line; # begins a comment.
/// @throws ConfigError naming a part of another form, a bound that is not finite, a column named
/// twice, or low >= high; DataError for an unreadable file.
[[nodiscard]] std::vector<ColumnBounds> parse_bounds(const std::string& text);

enum class TargetKind { automatic, classes, value };
inline constexpr NameTable<TargetKind, 3> target_kinds{{{{TargetKind::automatic, "auto"},
                                                         {TargetKind::classes, "classes"},
                                                         {TargetKind::value, "value"}}}};

struct TableOptions {
    /// Name of the column to predict, or its number, from 1, if columns have no names; "NAME>V"
    /// predicts whether it is above V. Empty: the last column, as a value, of tables without names.
    std::string label;
    TargetKind target = TargetKind::automatic;
    std::vector<std::string> ignore{};       ///< names or numbers of columns to leave out
    std::vector<std::string> categorical{};  ///< whose numbers are categories
    MissingPolicy missing{};
    std::vector<ColumnBounds> bounds{};  ///< of all scaled_columns(); empty: other scaling
    std::string unit{};                  ///< column with the privacy unit of a record; no feature
    long unit_records = 0;               ///< most of a unit's records in one gradient; 0: all
    bool operator==(const TableOptions&) const = default;
};

/// A feature column, the same for all agents.
struct ColumnShape {
    enum class Kind : std::uint8_t {
        unknown,  ///< all cells are missing
        numbers,
        categories
    };
    std::string name;  ///< "column 3" where columns have no names
    Kind kind = Kind::unknown;
    std::vector<std::string> categories{};  ///< in natural order, each once
    bool operator==(const ColumnShape&) const = default;
};

/// What the models of all agents share, from all their tables.
struct TableShape {
    std::vector<std::string> columns;   ///< names in the file's order; empty without a header
    std::vector<ColumnShape> features;  ///< in the order of the models
    std::string unit{};                 ///< column of units; empty: none
    std::string label;                  ///< column to predict
    std::optional<double> threshold{};  ///< the class is whether the column is above this
    Target target = Target::value;
    std::vector<std::string> label_names{};  ///< of classes that are texts; label k is the k-th
    LabelSet labels{};                       ///< of classes that are numbers
    bool operator==(const TableShape&) const = default;
};

/// Most categories of a column over all data.
inline constexpr std::size_t most_categories = 1000;
/// Most different whole numbers that are taken for classes by default.
inline constexpr std::size_t most_automatic_classes = 100;

/// The shape of one table.
/// @throws ConfigError naming an option's column that does not exist, and those that do; DataError
/// naming column and record for: a missing label or unit, numbers and texts in one column, dates,
/// more than most_categories categories, a label that is no class or no number.
[[nodiscard]] TableShape shape_of(const Table& table, const TableOptions& options);

/// The shape of both tables together.
/// @param whose owner of the second one, for messages.
/// @throws DataError naming a column of numbers in one and categories in the other, or a label that
/// is a class in one and a value in the other.
[[nodiscard]] TableShape united(TableShape a, const TableShape& b, const std::string& whose);

/// A column in messages and shapes: its name, or "column 3" without names.
[[nodiscard]] std::string column_name(const Table& table, std::size_t place);
/// The column of that name or, without names, of that number, from 1.
[[nodiscard]] std::optional<std::size_t> find_column(const Table& table, const std::string& name);
/// @throws DataError naming table, record, column and problem.
[[noreturn]] void fail_cell(const Table& table,
                            const std::string& column,
                            std::size_t record,
                            const std::string& what);
/// @throws DataError naming the first record with a missing cell, and the use.
void require_no_missing(const Table& table, std::size_t place, const char* use);

/// Names of a model's features: columns of numbers, categories ("sex = male"), and indicators ("age
/// is missing").
struct FeatureNames {
    std::vector<std::string> names;
    std::vector<bool> numbers;  ///< are to be scaled
};
[[nodiscard]] FeatureNames feature_names(const TableShape& shape, const MissingPolicy& missing);

/// Records for models: numbers unscaled, NaN if missing; labels as in the file, or places in
/// label_names; equal cells of the column of units are equal Dataset::writers.
/// @param with_label false: labels are 0, and the table needs neither labels nor units.
/// @throws DataError naming column and record for a missing cell that is refused, or a category
/// that is not in the shape.
[[nodiscard]] Dataset encoded(const Table& table,
                              const TableShape& shape,
                              const MissingPolicy& missing,
                              bool with_label = true);

/// Points to average: all columns as features, and the last also as the value. @throws DataError
/// naming column and record of a cell that is no number.
[[nodiscard]] Dataset all_columns(const Table& table);

/// Columns that need a scale: features that are numbers, in the order of the models, and then the
/// target if it is a value.
[[nodiscard]] std::vector<std::string> scaled_columns(const TableShape& shape);

/// Cuts every scaled column to its bounds and maps them to -1 to 1. Without a header line, bounds
/// may name a column by its number.
/// @throws ConfigError naming a scaled column without bounds, or bounds of no scaled column.
[[nodiscard]] Standardisation scaling_by_bounds(const TableShape& shape,
                                                const TableOptions& options);

/// Cuts every scaled column to its bounds, and standardises it by its moments: with c and h the
/// middle and half the width of the bounds and z = (x - c) / h, the mean is c + h m and the
/// deviation h sqrt(max(s - m^2, noise, 1e-4)), at most h, where m is the mean of z and s that of
/// z^2, both cut to what they can be. Noise may have made them anything: a column whose moments are
/// not finite, or have s <= m^2 without noise, is scaled by its bounds alone. All results are
/// finite.
/// @param mean_moments 2k numbers for k scaled_columns(): m of each, and then s of each; a missing
/// cell counts as z = 0.  @param noise standard deviation of each of them.
/// @throws ConfigError as scaling_by_bounds; DataError for another number of moments.
[[nodiscard]] Standardisation scaling_by_moments(const TableShape& shape,
                                                 const TableOptions& options,
                                                 const Eigen::VectorXd& mean_moments,
                                                 double noise = 0);

/// The scaled_columns() of which moments with this noise do not show how they spread: their
/// deviation is the least possible, or that of bounds alone.
/// @param scaling scaling_by_moments() of the same noise.
[[nodiscard]] std::vector<std::string> columns_hidden_by_noise(const TableShape& shape,
                                                               const TableOptions& options,
                                                               const Standardisation& scaling,
                                                               double noise);

}  // namespace sotto
