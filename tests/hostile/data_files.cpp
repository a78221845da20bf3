// Data files that are not what they seem.

#include <fmt/format.h>

#include "hostile/hostile_input.hpp"
#include "learn/readers.hpp"

namespace sotto::test {

namespace {

std::string big_endian(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
}

std::string idx_header(std::uint32_t images, std::uint32_t rows, std::uint32_t columns) {
    return std::string("\0\0\x08\x03", 4) + big_endian(images) + big_endian(rows) +
           big_endian(columns);
}

void read(const std::string& path) { (void)read_records(path); }

/// With labels for two images beside it.
void read_images(const std::string& path) {
    std::string labels = path;
    labels.replace(labels.find("images-idx3"), 11, "labels-idx1");
    if (labels.ends_with(".gz")) labels.resize(labels.size() - 3);
    text(std::string("\0\0\x08\x01", 4) + big_endian(2) + "\1\2")(labels);
    read(path);
}

std::vector<HostileFile> libsvm_files() {
    return {
        {"empty", text(""), {"holds no records"}},
        {"blanks and comments only", text("\n  \n# nothing\n\r\n"), {"holds no records"}},
        {"an index of 1e8", text("+1 1:1\n-1 100000000:1\n"), {"line 2", "100000000", "1048608"}},
        {"an index just beyond 31 bits", text("+1 2147483647:1\n"), {"line 1", "index"}},
        {"an index of 1e30", text("+1 1000000000000000000000000000000:1\n"), {"line 1", "index"}},
        {"index 0", text("+1 0:1\n"), {"line 1", "index"}},
        {"a negative index", text("+1 -3:1\n"), {"line 1", "index"}},
        {"indices that descend", text("+1 3:1 2:1\n"), {"line 1", "greater than"}},
        {"an index twice", text("+1 3:1 3:1\n"), {"line 1", "greater than"}},
        {"a label that is a word", text("yes 1:1\n"), {"line 1", "label"}},
        {"a label that is not a number", text("nan 1:1\n"), {"line 1", "label"}},
        {"a label without end", text("1e999 1:1\n"), {"line 1", "label"}},
        {"an infinite value", text("+1 1:inf\n"), {"line 1", "value"}},
        {"a value that overflows", text("+1 1:1e400\n"), {"line 1", "value"}},
        {"a value that is missing", text("+1 1:\n"), {"line 1", "value"}},
        {"a feature without colon", text("+1 1 2\n"), {"line 1", "index:value"}},
        {"hexadecimal digits", text("+1 0x1:1\n"), {"line 1", "index:value"}},
        {"two signs", text("+-1 1:1\n"), {"line 1", "label"}},
        {"bytes of a program",
         text(std::string("\x7f"
                          "ELF\2\1\1\0\0\0",
                          10)),
         {"zero byte"}},
        {"a zero byte later", text(std::string("+1 1:1\n\0", 8)), {"zero byte"}},
        {"one line of 40 MB", bomb(std::string(1 << 20, '1'), 40), {"longer than"}},
        {"a bomb of newlines", bomb(std::string(1 << 20, '\n'), 512), {"unpack to more than"}},
        {"a bomb of records", bomb(std::string(1 << 18, '1'), 1024), {"longer than"}},
        {"a bomb of blanks", bomb(std::string(1 << 20, ' '), 512), {"line 1"}},
        {"gzip that is cut", text("\x1f\x8b\x08"), {"damaged or truncated"}},
        {"gzip of another method", text(std::string("\x1f\x8b\x01\0\0\0\0\0\0\0abc", 13)), {}},
        {"gzip with bits changed",
         [](const std::string& path) {
             gzip("+1 1:1\n-1 2:1\n")(path);
             std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
             file.seekp(14);
             file << "\xff\xff\xff\xff";
         },
         {}},
    };
}

std::vector<HostileFile> csv_files() {
    return {
        {"a header only", text("a,b,c\n"), {"holds no records"}},
        {"one column", text("1,\n"), {"record 1", "missing"}},
        {"a column more", text("1,2\n1,2,3\n"), {"line 2", "3 columns"}},
        {"a column less", text("1,2,3\n1,2\n"), {"line 2", "2 columns"}},
        {"a word", text("1,2\nx,2\n"), {"record 2", "not a number"}},
        {"not a number", text("1,2\nnan,2\n"), {"record 2", "missing"}},
        {"infinite", text("1,2\ninf,2\n"), {"line 2", "finite"}},
        {"an overflow", text("1,2\n1e999,2\n"), {"line 2", "finite"}},
        {"a second header", text("a,b\nc,d\n1,2\n"), {"record 1", "not a number"}},
        {"a quote that does not end", text("1,2\n\"1,2\n"), {"line 2", "quote"}},
        {"a quote of a million lines that does not end",
         bomb("1,2\n\"" + std::string(1 << 20, '\n'), 1),
         {"line 2", "quote"}},
        {"nothing between commas", text("1,2\n,\n"), {"record 2", "missing"}},
        {"a field of 100 kB", text("1,2\n" + std::string(100000, 'x') + ",2\n"), {"record 2"}},
        {"a bomb of empty lines", bomb("1,2\n" + std::string(1 << 20, '\n'), 512), {"unpack"}},
        {"one line of 40 MB", bomb("1," + std::string(1 << 20, '1'), 40), {"longer than"}},
    };
}

std::vector<HostileFile> idx_files() {
    const std::string name = "x-images-idx3-ubyte", packed = name + ".gz";
    const std::string two = idx_header(2, 2, 2) + "12345678";
    const auto of = [&](const std::string& title,
                        std::string bytes,
                        std::vector<std::string> words) {
        return HostileFile{title, text(std::move(bytes)), std::move(words), ExitCode::data, name};
    };
    return {
        of("two zero bytes", std::string("\0\0", 2), {"ends after byte 2"}),
        of("a header that is cut", idx_header(2, 2, 2).substr(0, 9), {"header"}),
        of("other values", std::string("\0\0\x0d\x03", 4) + big_endian(1), {"type 0x0d"}),
        of("labels for images", std::string("\0\0\x08\x01", 4) + big_endian(2), {"dimensions"}),
        of("255 dimensions", std::string("\0\0\x08\xff", 4), {"255 dimensions"}),
        of("no images", idx_header(0, 2, 2), {"dimension 1 is 0"}),
        of("no pixels", idx_header(2, 0, 2), {"dimension 2 is 0"}),
        of("4294967295 images", idx_header(4294967295, 1, 1), {"labels"}),
        of("sizes whose product overflows",
           idx_header(2, 4294967295, 4294967295),
           {"at most 65536 a side"}),
        of("8 GB announced", idx_header(2, 65536, 65536), {"announces 2 x 4294967296"}),
        of("one byte too few", two.substr(0, two.size() - 1), {"announces 2 x 4"}),
        of("one byte too many", two + "9", {"goes on"}),
        of("more images than labels", idx_header(3, 2, 2) + "123456789012", {"2 labels"}),
        {"a compressed header that announces 8 GB",
         gzip(idx_header(2, 65536, 65536)),
         {"announces 2 x 4294967296"},
         ExitCode::data,
         packed},
        {"a compressed file that is cut",
         gzip(two.substr(0, 18)),
         {"ends after byte 18"},
         ExitCode::data,
         packed},
    };
}

std::string leaf(const std::string& data, const std::string& users = R"(["a"])") {
    return R"({"users":)" + users + R"(,"num_samples":[1],"user_data":)" + data + "}";
}

std::vector<HostileFile> leaf_files() {
    const std::string name(100000, 'n');
    return {
        {"cut", text("{\"users\": [\"a\""), {"is not JSON"}},
        {"an empty object", text("{}"), {"holds no records"}},
        {"an array behind a brace", text("{[1]}"), {"is not JSON"}},
        {"no users", text(R"({"user_data":{"a":{"x":[[1]],"y":[0]}}})"), {"users"}},
        {"users that are numbers", text(leaf("{}", "[1]")), {"must be texts"}},
        {"a user twice", text(leaf("{}", R"(["a","a"])")), {"named twice"}},
        {"a user's data twice",
         text(leaf(R"({"a":{"x":[[1]],"y":[0]},"a":{"x":[[1]],"y":[0]}})")),
         {"data twice"}},
        {"a user without data", text(leaf(R"({"b":{"x":[[1]],"y":[0]}})")), {"no data"}},
        {"data of nobody",
         text(leaf(R"({"a":{"x":[[1]],"y":[0]},"b":{"x":[[1]],"y":[0]}})")),
         {"not one of"}},
        {"fewer labels", text(leaf(R"({"a":{"x":[[1],[2]],"y":[0]}})")), {"2 records"}},
        {"another number of samples",
         text(leaf(R"({"a":{"x":[[1],[2]],"y":[0,1]}})")),
         {"says otherwise"}},
        {"features that are words", text(leaf(R"({"a":{"x":[["z"]],"y":[0]}})")), {"numbers"}},
        {"features that are not in a record", text(leaf(R"({"a":{"x":[1],"y":[0]}})")), {"arrays"}},
        {"an empty record", text(leaf(R"({"a":{"x":[[]],"y":[0]}})")), {"no features"}},
        {"records of two lengths",
         text(leaf(R"({"a":{"x":[[1],[1,2]],"y":[0,0]}})")),
         {"a record of 2 features"}},
        {"a label of 1.5", text(leaf(R"({"a":{"x":[[1]],"y":[1.5]}})")), {"whole number"}},
        {"a label of -1", text(leaf(R"({"a":{"x":[[1]],"y":[-1]}})")), {"whole number"}},
        {"a label of 1e9", text(leaf(R"({"a":{"x":[[1]],"y":[1e9]}})")), {"whole number"}},
        {"a number that overflows", text(leaf(R"({"a":{"x":[[1e999]],"y":[0]}})")), {}},
        {"null for a feature", text(leaf(R"({"a":{"x":[[null]],"y":[0]}})")), {"null"}},
        {"an object for features", text(leaf(R"({"a":{"x":[{}],"y":[0]}})")), {"an object"}},
        {"bytes that are no UTF-8", text("{\"users\":[\"\xff\"]}"), {"is not JSON"}},
        {"a name of 100 kB", text(leaf("{}", "[\"" + name + "\"]")), {"no records"}},
        {"a long name without data",
         text(leaf(R"({"a":{"x":[[1]],"y":[0]}})", "[\"a\",\"" + name + "\"]")),
         {"nnn..."}},
        {"arrays a million deep", text("{\"x\":" + std::string(1000000, '[')), {"is not JSON"}},
        {"objects a million deep", bomb("{\"a\":", 1000000), {"is not JSON"}},
        {"a bomb of blanks", bomb("{" + std::string(1 << 20, ' '), 512), {}},
    };
}

}  // namespace

HostileInputs hostile_data_files() {
    HostileInputs all;
    const auto add = [&](HostileInputs more) { all.insert(all.end(), more.begin(), more.end()); };
    add(files_of("data file", read, no_files_of_a_stream()));
    add(files_of("LIBSVM", read, libsvm_files()));
    add(files_of("CSV", read, csv_files()));
    add(files_of("IDX", read_images, idx_files()));
    add(files_of("LEAF", read, leaf_files()));
    return all;
}

}  // namespace sotto::test
