#pragma once

// How a user wants tables to be read; not installed.

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/names.hpp"

namespace sotto {

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

}  // namespace sotto
