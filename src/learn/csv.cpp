#include "csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/text_input.hpp"

namespace sotto {
namespace {

/// Records that a column must count before it is taken for row numbers.
constexpr Eigen::Index fewest_row_numbers = 3;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The whole text as a finite number, or NaN.
double number_of(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = status == std::errc() && stop == text.data() + text.size();
    return whole && std::isfinite(value) ? value : not_a_number;
}

/// Calls f(field) for the fields of a line.
template <class Function>
void for_each_field(std::string_view line, Function&& f) {
    for (;;) {
        const std::size_t comma = line.find(',');
        f(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return;
        line.remove_prefix(comma + 1);
    }
}

bool is_header(std::string_view line) {
    bool any_number = false;
    for_each_field(line,
                   [&](std::string_view field) { any_number |= !std::isnan(number_of(field)); });
    return !any_number;
}

/// Whether the fields are the numbers 0, 1, 2, ... of columns without names.
bool counts_columns(std::string_view line) {
    std::size_t place = 0;
    bool counts = true;
    for_each_field(line,
                   [&](std::string_view field) { counts &= field == std::to_string(place++); });
    return counts && place > 1;
}

/// The names of a header line; one in double quotes may hold commas, and "" for a quote.
std::vector<std::string> names_of(std::string_view line) {
    std::vector<std::string> names(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool quote = line[i] == '"';
        if (quote && quoted && line.substr(i + 1).starts_with('"'))
            names.back() += line[++i];
        else if (quote)
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            names.emplace_back();
        else
            names.back() += line[i];
    }
    for (std::string& name : names) name = std::string(trimmed(name));
    return names;
}

/// Reads one file; knows where it is, for messages.
class Table {
  public:
    explicit Table(const std::string& path) : reader_(path) {}

    void read() {
        std::string_view line;
        bool first_content = true;
        while (reader_.next(line)) {
            if (trimmed(line).empty()) continue;
            const bool first = std::exchange(first_content, false);
            if (first && counts_columns(line))
                fail(
                    "0, 1, 2, ... are numbers of columns, or a record, which the line does not say "
                    "(put a line with the columns' names in front, or in its place)");
            if (first && is_header(line))
                take_names(line);
            else
                add_record(line);
        }
        if (values_.empty()) throw DataError(fmt::format("{}: holds no records", reader_.path()));
        require_no_row_numbers();
    }

    [[nodiscard]] Dataset dataset() && {
        const auto table = values();
        Dataset data;
        data.source = reader_.path();
        data.target = Target::value;
        data.dense = RealRows(table.leftCols(table.cols() - 1));
        data.labels = table.rightCols(1);
        data.columns = std::move(names_);
        return data;
    }

  private:
    void take_names(std::string_view line) {
        names_ = names_of(line);
        columns_ = names_.size();
        for (std::size_t k = 0; k < names_.size(); ++k)
            // What pandas calls a column without a name when it reads one.
            if (names_[k].empty() || names_[k].starts_with("Unnamed:"))
                fail(
                    fmt::format("column {}, \"{}\", has no name: it looks like row numbers, which "
                                "are no feature (leave the column out, as pandas does with "
                                "to_csv(index=False), or give it a name)",
                                k + 1,
                                names_[k]));
    }

    void add_record(std::string_view line) {
        std::size_t count = 0;
        for_each_field(line, [&](std::string_view field) {
            ++count;
            values_.push_back(number_of(field));
            if (std::isnan(values_.back()))
                fail(fmt::format(
                    "column {}, \"{}\", is not a finite number", count, field.substr(0, 40)));
        });
        if (count < 2) fail("one column; at least two are needed, of which the last is the target");
        if (columns_ == 0) columns_ = count;
        if (count != columns_)
            fail(fmt::format("{} columns; the {} has {}",
                             count,
                             names_.empty() ? "first record" : "header",
                             columns_));
    }

    void require_no_row_numbers() const {
        const auto table = values();
        if (table.rows() < fewest_row_numbers) return;
        for (Eigen::Index row = 0; row < table.rows(); ++row)
            if (table(row, 0) != static_cast<double>(row)) return;
        throw DataError(fmt::format(
            "{}: column 1{} counts the records, 0, 1, 2, ... to {}: row numbers are no feature "
            "(leave the column out, as pandas does with to_csv(index=False))",
            reader_.path(),
            names_.empty() ? std::string() : fmt::format(", \"{}\",", names_[0].substr(0, 40)),
            table.rows() - 1));
    }

    [[nodiscard]] Eigen::Map<const RealRows> values() const {
        const auto width = static_cast<Eigen::Index>(columns_);
        return {values_.data(), static_cast<Eigen::Index>(values_.size()) / width, width};
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw DataError(
            fmt::format("{}, line {}: {}", reader_.path(), reader_.line_number(), what));
    }

    LineReader reader_;
    std::vector<std::string> names_;
    std::vector<double> values_;
    std::size_t columns_ = 0;
};

}  // namespace

Dataset read_csv(const std::string& path) {
    Table table(path);
    table.read();
    return std::move(table).dataset();
}

}  // namespace sotto
