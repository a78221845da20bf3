#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// Most characters of a cell or name in a message.
inline constexpr std::size_t shown_characters = 40;

/// One column of a file: each cell is a number, a text, or missing.
struct TableColumn {
    std::string name;                   ///< empty without a header line
    std::vector<double> numbers;        ///< one per record; NaN if the cell is no number
    std::vector<std::int32_t> codes{};  ///< places in `texts`, -1 for others; empty without texts
    std::vector<std::string> texts{};   ///< each once, in the order of their first records

    [[nodiscard]] bool is_text(std::size_t record) const {
        return !codes.empty() && codes[record] >= 0;
    }
    [[nodiscard]] bool is_missing(std::size_t record) const {
        return numbers[record] != numbers[record] && !is_text(record);
    }
    /// The cell as a category: its text, or its number in shortest form, so "1.0" and "1" are one.
    /// @pre the cell is not missing.
    [[nodiscard]] std::string category(std::size_t record) const;
};

/// Records in rows. table_shape.hpp decides what columns mean.
struct Table {
    std::string source;  ///< file or files, for messages
    bool named = false;  ///< columns have names: the files have header lines
    std::vector<TableColumn> columns;

    [[nodiscard]] Eigen::Index records() const;
    [[nodiscard]] std::vector<std::string> names() const;
};

/// Reads a file whose format is recognised by its content (readers.hpp).
[[nodiscard]] std::variant<Dataset, Table> read_data_file(const std::string& path);

/// Whether the first line of a text file that is no comment has a comma, a semicolon, or a tab that
/// separates no `index:value`.
[[nodiscard]] bool is_table(const std::string& path);

/// Reads a table (plain or .gz). The separator is comma, semicolon or tab, whichever is most
/// frequent in the first line. A cell in double quotes may contain separators, line ends, and ""
/// for a quote. A first line without any number is the header. Empty cells, ?, NA, N/A, NaN and
/// null, in any case, are missing. Empty lines are skipped.
/// @throws DataError with file and line for: a missing file, no records, fewer than two columns,
/// another number of cells than in the header or the first record, a quote that does not end, an
/// infinite number, a decimal comma; and for likely mistakes: a first line 0, 1, 2, ... (perhaps
/// column numbers), a column without a name or two of one name, and a first column that counts
/// three records or more from 0.
[[nodiscard]] Table read_table(const std::string& path);

/// The records of all parts, with the columns of the first, matched by name.
/// @throws DataError as with_columns.
[[nodiscard]] Table concatenated(std::vector<Table> parts);

/// The same table with columns in the order of `names`; empty if columns have no names.
/// @param whose owner of the names, for messages.
/// @throws DataError naming the columns that only one has or the table without names, or two
/// numbers of columns.
[[nodiscard]] Table with_columns(Table table,
                                 const std::vector<std::string>& names,
                                 const std::string& whose);

/// Of all cells and names. Cost O(cells).
[[nodiscard]] Digest digest_of_table(const Table& table);

}  // namespace sotto
