#include "sotto/learn/readers.hpp"

#include <fmt/format.h>

#include <string_view>

#include "csv.hpp"
#include "gzip_buffer.hpp"
#include "idx.hpp"
#include "leaf.hpp"
#include "libsvm.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/text_input.hpp"

namespace sotto {
namespace {

/// Whether the first line that is neither empty nor a comment has a comma.
bool has_commas(const std::string& path) {
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line)) {
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(" \t\r") != std::string_view::npos)
            return line.find(',') != std::string_view::npos;
    }
    return false;
}

}  // namespace

Dataset read_records(const std::string& path) {
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
    return has_commas(path) ? read_csv(path) : read_libsvm(path);
}

}  // namespace sotto
