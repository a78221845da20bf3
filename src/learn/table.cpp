#include "learn/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/numbers.hpp"
#include "core/text_input.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// A first column that counts this many records looks like row numbers.
constexpr std::size_t fewest_row_numbers = 3;

using Cells = std::vector<std::string>;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The whole text as a number, possibly infinite; NaN for any other text.
double number_of(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (stop != text.data() + text.size()) return not_a_number;
    // strtod tells overflow from underflow.
    if (status == std::errc::result_out_of_range)
        return std::strtod(std::string(text).c_str(), nullptr);
    return status == std::errc() ? value : not_a_number;
}

bool says_missing(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    constexpr std::array<std::string_view, 6> words{"", "?", "na", "n/a", "nan", "null"};
    return std::ranges::find(words, lower) != words.end();
}

/// "3,5": neither number nor text.
bool has_decimal_comma(std::string_view text) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return false;
    const auto digits = [](std::string_view part) {
        return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    };
    std::string_view whole = text.substr(0, comma);
    if (whole.starts_with('-') || whole.starts_with('+')) whole.remove_prefix(1);
    return digits(whole) && digits(text.substr(comma + 1));
}

/// The most frequent separator outside quotes; 0: none.
char separator_of(std::string_view line) {
    std::array<std::pair<char, int>, 3> counts{{{'\t', 0}, {';', 0}, {',', 0}}};
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        for (auto& [separator, count] : counts) count += !quoted && c == separator ? 1 : 0;
    }
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& pair) { return pair.second; });
    return most->second > 0 ? most->first : '\0';
}

/// Splits the line; false if a quote is open, so the cell continues in the next line.
bool split(std::string_view line, char separator, Cells& cells) {
    cells.assign(1, {});
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool quote = line[i] == '"';
        if (quote && quoted && line.substr(i + 1).starts_with('"'))
            cells.back() += line[++i];
        else if (quote)
            quoted = !quoted;
        else if (line[i] == separator && !quoted)
            cells.emplace_back();
        else
            cells.back() += line[i];
    }
    for (std::string& cell : cells) cell = std::string(trimmed(cell));
    return !quoted;
}

/// Whether the cells are 0, 1, 2, ..., as of columns without names.
bool count_columns(const Cells& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k)
        if (cells[k] != std::to_string(k)) return false;
    return cells.size() > 1;
}

class TableReader {
  public:
    explicit TableReader(const std::string& path) : reader_(path) { table_.source = path; }

    Table read() && {
        Cells cells;
        for (bool first = true; next(cells); first = false) {
            if (first && count_columns(cells))
                fail(
                    "it is not clear whether 0, 1, 2, ... are numbers of columns or a record (put "
                    "a line with the columns' names before it, or in its place)");
            if (first) begin(cells);
            if (!first || !table_.named) add_record(cells);
        }
        if (table_.columns.empty() || table_.records() == 0)
            throw DataError(fmt::format("{}: holds no records", reader_.path()));
        require_no_row_numbers();
        return std::move(table_);
    }

  private:
    bool next(Cells& cells) {
        std::string_view line;
        do {
            if (!reader_.next(line)) return false;
        } while (trimmed(line).empty());
        if (separator_ == '\0') separator_ = separator_of(line);
        if (split(line, separator_, cells)) return true;
        // Every quote begins or ends a quoted part; a doubled one does both.
        const long long begun = reader_.line_number();
        std::string record(line);
        while (record.size() <= longest_line_bytes && reader_.next(line)) {
            record.append("\n").append(line);
            if (std::ranges::count(line, '"') % 2 != 0) return split(record, separator_, cells);
        }
        throw DataError(fmt::format(
            "{}, line {}: a quote (\") that begins there does not end", reader_.path(), begun));
    }

    void begin(const Cells& cells) {
        if (cells.size() < 2) fail("one column; at least two are needed");
        table_.columns.resize(cells.size());
        places_.resize(cells.size());
        table_.named = std::ranges::all_of(
            cells, [](const std::string& cell) { return std::isnan(number_of(cell)); });
        if (!table_.named) return;
        for (std::size_t k = 0; k < cells.size(); ++k) {
            // pandas' name for a column without one.
            if (cells[k].empty() || cells[k].starts_with("Unnamed:"))
                fail(
                    fmt::format("column {}, \"{}\", has no name: it looks like row numbers, which "
                                "are not a feature (leave the column out, as pandas does with "
                                "to_csv(index=False), or give it a name)",
                                k + 1,
                                cells[k]));
            table_.columns[k].name = cells[k];
        }
        Cells sorted = cells;
        std::ranges::sort(sorted);
        if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
            fail(fmt::format("column \"{}\" appears twice (give every column a name of its own)",
                             twice->substr(0, shown_characters)));
    }

    void add_record(const Cells& cells) {
        if (cells.size() != table_.columns.size())
            fail(fmt::format("{} columns; the {} has {}",
                             cells.size(),
                             table_.named ? "header" : "first record",
                             table_.columns.size()));
        for (std::size_t k = 0; k < cells.size(); ++k) add_cell(k, cells[k]);
    }

    void add_cell(std::size_t k, const std::string& cell) {
        TableColumn& column = table_.columns[k];
        const bool missing = says_missing(cell);
        const double number = missing ? not_a_number : number_of(cell);
        if (std::isinf(number)) fail_at(k, cell, "is not a finite number");
        if (separator_ != ',' && has_decimal_comma(cell))
            fail_at(k, cell, "has a decimal comma (write 3.5 for 3,5)");
        column.numbers.push_back(number);
        const bool text = !missing && std::isnan(number);
        if (text && column.codes.empty()) column.codes.assign(column.numbers.size() - 1, -1);
        if (text) {
            const auto [place, is_new] =
                places_[k].try_emplace(cell, static_cast<std::int32_t>(column.texts.size()));
            if (is_new) column.texts.push_back(cell);
            column.codes.push_back(place->second);
        } else if (!column.codes.empty()) {
            column.codes.push_back(-1);
        }
    }

    void require_no_row_numbers() const {
        const TableColumn& first = table_.columns.front();
        if (first.numbers.size() < fewest_row_numbers) return;
        for (std::size_t row = 0; row < first.numbers.size(); ++row)
            if (first.numbers[row] != static_cast<double>(row)) return;
        throw DataError(fmt::format(
            "{}: column 1{} counts the records, 0, 1, 2, ... to {}: row numbers are not a feature "
            "(leave the column out, as pandas does with to_csv(index=False))",
            reader_.path(),
            table_.named ? fmt::format(", \"{}\",", first.name.substr(0, shown_characters)) : "",
            first.numbers.size() - 1));
    }

    [[noreturn]] void fail_at(std::size_t k, const std::string& cell, std::string_view what) const {
        fail(fmt::format("column {}, \"{}\", {}", k + 1, cell.substr(0, shown_characters), what));
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw DataError(
            fmt::format("{}, line {}: {}", reader_.path(), reader_.line_number(), what));
    }

    LineReader reader_;
    char separator_ = '\0';
    Table table_;
    std::vector<std::unordered_map<std::string, std::int32_t>> places_;  // of texts, by column
};

/// Names of the first list that the second lacks, for messages.
std::string only_in(const std::vector<std::string>& names, const std::vector<std::string>& others) {
    constexpr std::size_t most_shown = 8;
    std::vector<std::string> alone;
    for (const std::string& name : names)
        if (std::ranges::find(others, name) == others.end())
            alone.push_back(fmt::format("\"{}\"", name.substr(0, shown_characters)));
    const std::size_t more = alone.size() - std::min(alone.size(), most_shown);
    alone.resize(alone.size() - more);
    return fmt::format("{}{}",
                       fmt::join(alone, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : std::string());
}

void require_same_names(const Table& table,
                        const std::vector<std::string>& names,
                        const std::string& whose) {
    if (!table.named || names.empty())
        throw DataError(fmt::format(
            "{}: {} a header line and {} {}: their columns cannot be compared (give all files a "
            "header, or none)",
            table.source,
            table.named ? "has" : "has not",
            whose,
            table.named ? "has not" : "has"));
    const std::string own = only_in(table.names(), names), others = only_in(names, table.names());
    if (own.empty() && others.empty()) return;
    throw DataError(
        fmt::format("{}: its columns are not those of {}: {}{}{}{}{} (give all "
                    "files the same columns, in any order)",
                    table.source,
                    whose,
                    own.empty() ? "" : "it alone has ",
                    own,
                    own.empty() || others.empty() ? "" : "; ",
                    others.empty() ? "" : "it lacks ",
                    others));
}

void append(TableColumn& column, const TableColumn& other) {
    const std::size_t before = column.numbers.size();
    column.numbers.insert(column.numbers.end(), other.numbers.begin(), other.numbers.end());
    if (column.codes.empty() && other.codes.empty()) return;
    column.codes.resize(before, -1);
    std::unordered_map<std::string, std::int32_t> known;
    for (const std::string& text : column.texts)
        known.emplace(text, static_cast<std::int32_t>(known.size()));
    std::vector<std::int32_t> places;
    for (const std::string& text : other.texts) {
        const auto [place, is_new] =
            known.try_emplace(text, static_cast<std::int32_t>(known.size()));
        places.push_back(place->second);
        if (is_new) column.texts.push_back(text);
    }
    for (std::size_t row = 0; row < other.numbers.size(); ++row)
        column.codes.push_back(
            other.is_text(row) ? places[static_cast<std::size_t>(other.codes[row])] : -1);
}

}  // namespace

std::string TableColumn::category(std::size_t record) const {
    return is_text(record) ? texts[static_cast<std::size_t>(codes[record])]
                           : fmt::format("{}", numbers[record] + 0.0);
}

Eigen::Index Table::records() const {
    return columns.empty() ? 0 : std::ssize(columns.front().numbers);
}

std::vector<std::string> Table::names() const {
    std::vector<std::string> names;
    if (named)
        for (const TableColumn& column : columns) names.push_back(column.name);
    return names;
}

bool is_table(const std::string& path) {
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line)) {
        const std::string_view content = trimmed(line.substr(0, line.find('#')));
        if (content.empty()) continue;
        const char separator = separator_of(content);
        return separator != '\0' && (separator != '\t' || content.find(':') == content.npos);
    }
    return false;
}

Table read_table(const std::string& path) { return TableReader(path).read(); }

Table concatenated(std::vector<Table> parts) {
    if (parts.empty()) throw DataError("concatenated: needs at least one table");
    Table whole = std::move(parts.front());
    const std::string first = whole.source;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        Table part = with_columns(std::move(parts[i]), whole.names(), first);
        if (part.columns.size() != whole.columns.size())
            throw DataError(fmt::format("{} has {} columns, {} has {}",
                                        part.source,
                                        part.columns.size(),
                                        first,
                                        whole.columns.size()));
        for (std::size_t k = 0; k < whole.columns.size(); ++k)
            append(whole.columns[k], part.columns[k]);
        whole.source += " + " + part.source;
    }
    return whole;
}

Table with_columns(Table table, const std::vector<std::string>& names, const std::string& whose) {
    if (table.names() == names) return table;
    require_same_names(table, names, whose);
    std::vector<TableColumn> ordered;
    for (const std::string& name : names)
        ordered.push_back(std::move(*std::ranges::find(table.columns, name, &TableColumn::name)));
    table.columns = std::move(ordered);
    return table;
}

Digest digest_of_table(const Table& table) {
    Hasher hasher("sotto.table.v1");
    hasher.add(std::int64_t{table.records()}).add(std::int64_t{std::ssize(table.columns)});
    const auto add = [&](const auto& values) {
        hasher.add_bytes({reinterpret_cast<const std::uint8_t*>(values.data()),
                          values.size() * sizeof(values.front())});
    };
    for (const TableColumn& column : table.columns) {
        hasher.add(column.name).add(std::int64_t{std::ssize(column.codes)});
        add(column.numbers);
        add(column.codes);
        hasher.add(std::int64_t{std::ssize(column.texts)});
        for (const std::string& text : column.texts) hasher.add(text);
    }
    return hasher.finish();
}

}  // namespace sotto
