#include "csv.hpp"

#include <fmt/format.h>

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

}  // namespace

Dataset read_csv(const std::string& path) {
    LineReader reader(path);
    std::vector<double> values;
    std::size_t columns = 0;
    bool first_content = true;
    std::string_view line;
    const auto fail = [&](const std::string& what) {
        throw DataError(fmt::format("{}, line {}: {}", path, reader.line_number(), what));
    };
    while (reader.next(line)) {
        if (trimmed(line).empty()) continue;
        const bool header = std::exchange(first_content, false) && is_header(line);
        if (header) continue;
        std::size_t count = 0;
        for_each_field(line, [&](std::string_view field) {
            ++count;
            values.push_back(number_of(field));
            if (std::isnan(values.back()))
                fail(fmt::format(
                    "column {}, \"{}\", is not a finite number", count, field.substr(0, 40)));
        });
        if (columns == 0) columns = count;
        if (count < 2) fail("one column; at least two are needed, of which the last is the target");
        if (count != columns)
            fail(fmt::format("{} columns; the first record has {}", count, columns));
    }
    if (values.empty()) throw DataError(fmt::format("{}: holds no records", path));
    const auto width = static_cast<Eigen::Index>(columns);
    const Eigen::Map<const RealRows> table(
        values.data(), static_cast<Eigen::Index>(values.size()) / width, width);
    Dataset data;
    data.source = path;
    data.target = Target::value;
    data.dense = RealRows(table.leftCols(width - 1));
    data.labels = table.col(width - 1);
    return data;
}

}  // namespace sotto
