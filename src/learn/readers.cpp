#include "sotto/learn/readers.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <variant>

#include "gzip_buffer.hpp"
#include "idx.hpp"
#include "leaf.hpp"
#include "learn/table_encoding.hpp"
#include "libsvm.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/text_input.hpp"

namespace sotto {

std::variant<Dataset, Table> read_data_file(const std::string& path) {
    constexpr std::string_view formats = "known are LIBSVM, IDX, CSV and LEAF JSON, plain or .gz";
    std::string start(512, '\0');
    GzipBuffer bytes(path);
    start.resize(static_cast<std::size_t>(bytes.sgetn(start.data(), 512)));
    if (start.starts_with(std::string_view("\0\0", 2))) return read_idx(path);
    const std::size_t zero = start.find('\0');
    if (zero != std::string::npos)
        throw DataError(
            fmt::format("{}, byte {}: a zero byte; this is no data file of a known format ({})",
                        path,
                        zero,
                        formats));
    const std::string_view text = without_byte_order_mark(start);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') return read_leaf(path);
    if (is_table(path)) return read_table(path);
    return read_libsvm(path);
}

Dataset read_records(const std::string& path) {
    std::variant<Dataset, Table> read = read_data_file(path);
    if (auto* data = std::get_if<Dataset>(&read)) return std::move(*data);
    const Table& table = std::get<Table>(read);
    const TableOptions last_column{.label = table.named ? table.columns.back().name : "",
                                   .target = TargetKind::value};
    return encoded(table, shape_of(table, last_column), last_column.missing);
}

}  // namespace sotto
