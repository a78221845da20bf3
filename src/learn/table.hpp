#pragma once

// Tables of CSV files as people have them.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Of a cell or a name in a message.
inline constexpr std::size_t shown_characters = 40;

/// One column as its file has it: each cell is a number, a text, or missing.
struct TableColumn {
    std::string name;                   ///< in the header line; empty where there is none
    std::vector<double> numbers;        ///< one a record; NaN where the cell is no number
    std::vector<std::int32_t> codes{};  ///< places in `texts`, -1 for others; empty without texts
    std::vector<std::string> texts{};   ///< each once, in the order of their first records

    [[nodiscard]] bool is_text(std::size_t record) const {
        return !codes.empty() && codes[record] >= 0;
    }
    [[nodiscard]] bool is_missing(std::size_t record) const {
        return numbers[record] != numbers[record] && !is_text(record);
    }
    /// What a category of this cell is called: its text, or its number in its shortest form, so
    /// that "1.0" and "1" are one. @pre the cell is not missing.
    [[nodiscard]] std::string category(std::size_t record) const;
};

/// Records in rows. What columns mean depends on all data of a run (table_shape.hpp).
struct Table {
    std::string source;  ///< file or files, for messages
    bool named = false;  ///< columns have names: the files have header lines
    std::vector<TableColumn> columns;

    [[nodiscard]] Eigen::Index records() const;
    [[nodiscard]] std::vector<std::string> names() const;
};

/// Reads a file of any format by its content (readers.hpp): tables as they are.
[[nodiscard]] std::variant<Dataset, Table> read_data_file(const std::string& path);

/// Whether a text file is a table: its first line that is no comment has a comma or a semicolon, or
/// a tab that separates no `index:value`.
[[nodiscard]] bool is_table(const std::string& path);

/// Reads a table (plain or .gz). Cells stand between commas, semicolons or tabs, whichever the
/// first line has most of; a cell in double quotes may hold these, line ends, and "" for a quote. A
/// first line without any number is the header. Empty cells, ?, NA, N/A, NaN and null are missing,
/// in any case. Empty lines are skipped.
/// @throws DataError with file and line for: a missing file, no records, fewer than two columns,
/// another number of cells than in the header or the first record, a quote that does not end, an
/// infinite number, a decimal comma; and for what would be learnt from by mistake: a first line 0,
/// 1, 2, ..., which may be numbers of columns, a column without a name or two of one name, and a
/// first column that counts three records or more from 0.
[[nodiscard]] Table read_table(const std::string& path);

/// The records of all parts, with the columns of the first, by name.
/// @throws DataError as with_columns does.
[[nodiscard]] Table concatenated(std::vector<Table> parts);

/// The same table with its columns in the order of `names`; none: columns have no names.
/// @param whose names they are, for messages.
/// @throws DataError naming the columns that only one of the two has, the one that names none, or
/// two numbers of columns.
[[nodiscard]] Table with_columns(Table table,
                                 const std::vector<std::string>& names,
                                 const std::string& whose);

/// Of all cells and names. Cost O(cells).
[[nodiscard]] Digest digest_of_table(const Table& table);

}  // namespace sotto
