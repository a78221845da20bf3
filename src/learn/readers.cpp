#include "learn/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <istream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "core/seeded_random.hpp"
#include "core/text_input.hpp"
#include "learn/table_shape.hpp"
#include "sotto/core/error.hpp"

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

namespace {

/// One file: the sizes of its dimensions, then its bytes.
class IdxFile {
  public:
    /// @param dimensions required number.
    IdxFile(const std::string& path, int dimensions) : path_(path), bytes_(path) {
        std::array<std::uint8_t, 4> magic{};
        bytes_.read(magic.data(), magic.size(), "magic number");
        if (magic[0] != 0 || magic[1] != 0)
            throw DataError(
                fmt::format("{}: is not an IDX file (it must start with two zero bytes)", path));
        if (magic[2] != 0x08)
            throw DataError(fmt::format(
                "{}, byte 2: values of type 0x{:02x}; must be bytes, 0x08", path, magic[2]));
        if (magic[3] != dimensions)
            throw DataError(fmt::format("{}, byte 3: {} dimensions; must be {} ({})",
                                        path,
                                        magic[3],
                                        dimensions,
                                        dimensions == 3 ? "images" : "labels"));
        for (int k = 0; k < dimensions; ++k) {
            std::array<std::uint8_t, 4> size{};
            bytes_.read(size.data(), size.size(), "header");
            sizes_[static_cast<std::size_t>(k)] =
                (Eigen::Index{size[0]} << 24) | (size[1] << 16) | (size[2] << 8) | size[3];
            if (sizes_[static_cast<std::size_t>(k)] < 1)
                throw DataError(
                    fmt::format("{}, byte {}: dimension {} is 0", path, 4 + 4 * k, k + 1));
        }
    }
    [[nodiscard]] Eigen::Index size(std::size_t dimension) const { return sizes_[dimension]; }

    /// All values; the file must end after them. Memory grows as bytes arrive, since the header of
    /// a compressed file may promise too much.
    [[nodiscard]] PixelRows read(Eigen::Index columns) {
        // Sizes have 32 bits, columns at most 32: a double holds the product.
        const std::uint64_t left =
            bytes_.most_bytes() - static_cast<std::uint64_t>(bytes_.position());
        if (static_cast<double>(size(0)) * static_cast<double>(columns) > static_cast<double>(left))
            throw DataError(fmt::format(
                "{}: its header announces {} x {} values; a file of its size holds at most {}",
                path_,
                size(0),
                columns,
                left));
        constexpr Eigen::Index most_at_once = 1 << 24;
        const Eigen::Index rows_at_once = std::max<Eigen::Index>(1, most_at_once / columns);
        PixelRows values(0, columns);
        while (values.rows() < size(0)) {
            const Eigen::Index first = values.rows();
            const Eigen::Index count = std::min({rows_at_once + first, size(0) - first});
            values.conservativeResize(first + count, columns);
            bytes_.read(
                values.row(first).data(), static_cast<std::size_t>(count * columns), "values");
        }
        if (bytes_.sgetc() != std::streambuf::traits_type::eof())
            throw DataError(fmt::format("{}, byte {}: goes on after its {} x {} values",
                                        path_,
                                        bytes_.position(),
                                        size(0),
                                        columns));
        return values;
    }

  private:
    std::string path_;
    GzipBuffer bytes_;
    std::array<Eigen::Index, 3> sizes_{};
};

/// The file of labels. @throws DataError if the images' name implies none.
std::string labels_beside(const std::string& images) {
    const std::vector<std::string> names = names_of_labels(images);
    if (names.empty())
        throw DataError(fmt::format(
            "{}: labels are looked for in the file with \"labels-idx1\" for \"images-idx3\" in its "
            "name, which this name does not have",
            images));
    for (const std::string& name : names)
        if (std::filesystem::exists(name)) return name;
    throw DataError(
        fmt::format("{}: its labels are missing; {} is not there", images, names.front()));
}

}  // namespace

std::vector<std::string> names_of_labels(const std::string& images) {
    constexpr std::string_view part = "images-idx3";
    const std::filesystem::path path(images);
    std::string name = path.filename().string();
    const std::size_t at = name.find(part);
    if (at == std::string::npos) return {};
    name.replace(at, part.size(), "labels-idx1");
    const std::filesystem::path labels = path.parent_path() / name;
    std::filesystem::path other = labels;
    if (labels.extension() == ".gz")
        other.replace_extension();
    else
        other += ".gz";
    return {labels.string(), other.string()};
}

Dataset read_idx(const std::string& path) {
    IdxFile images(path, 3);
    const std::string labels_path = labels_beside(path);
    IdxFile labels(labels_path, 1);
    if (images.size(0) != labels.size(0))
        throw DataError(fmt::format("{}: {} labels for the {} images of {}",
                                    labels_path,
                                    labels.size(0),
                                    images.size(0),
                                    path));
    // A product of three sizes of 32 bits may overflow.
    if (images.size(1) > 65536 || images.size(2) > 65536)
        throw DataError(fmt::format("{}, byte 8: images of {} x {} pixels; at most 65536 a side",
                                    path,
                                    images.size(1),
                                    images.size(2)));
    Dataset data;
    data.source = path;
    data.image_rows = images.size(1);
    data.dense = images.read(images.size(1) * images.size(2));
    data.labels = labels.read(1).cast<double>();
    return data;
}

namespace {

using Json = nlohmann::json;

std::string shortened(const std::string& name) {
    constexpr std::size_t longest = 40;
    return name.size() > longest ? name.substr(0, longest) + "..." : name;
}

/// Builds LEAF's records from a stream of JSON tokens.
class LeafReader final : public nlohmann::json_sax<Json> {
  public:
    explicit LeafReader(const std::string& path) : path_(path) {}

    bool null() override { return other("null"); }
    bool boolean(bool) override { return other("true or false"); }
    bool number_integer(number_integer_t value) override {
        return number(static_cast<double>(value));
    }
    bool number_unsigned(number_unsigned_t value) override {
        return number(static_cast<double>(value));
    }
    bool number_float(number_float_t value, const string_t&) override { return number(value); }
    bool binary(binary_t&) override { return other("binary data"); }
    bool string(string_t& text) override {
        if (section_ != "users" || objects_ != 1 || arrays_ != 1) return other("a text");
        if (!users_.emplace(text, static_cast<int>(users_.size())).second)
            fail(fmt::format("user \"{}\" is named twice", shortened(text)));
        return true;
    }

    bool start_object(std::size_t) override {
        if (arrays_ > 0) other("an object");
        ++objects_;
        return true;
    }
    bool key(string_t& name) override {
        if (objects_ == 1) {
            section_ = name;
        } else if (section_ == "user_data" && objects_ == 2) {
            user_ = name;
            if (!samples_of_user_.emplace(name, 0).second)
                fail(fmt::format("user \"{}\" has data twice", shortened(name)));
            users_of_data_.push_back(name);
            features_read_ = labels_read_ = 0;
        } else if (section_ == "user_data" && objects_ == 3) {
            field_ = name;
        }
        return true;
    }
    bool end_object() override {
        --objects_;
        if (section_ == "user_data" && objects_ == 2) finish_user();
        return true;
    }
    bool start_array(std::size_t) override {
        ++arrays_;
        return true;
    }
    bool end_array() override {
        --arrays_;
        if (in_features() && arrays_ == 1) finish_record();
        return true;
    }

    bool parse_error(std::size_t position,
                     const std::string&,
                     const nlohmann::detail::exception&) override {
        throw DataError(fmt::format("{}, byte {}: is not JSON", path_, position));
    }

    [[nodiscard]] Dataset finish() {
        if (labels_.empty())
            throw DataError(
                fmt::format("{}: holds no records (\"user_data\" with \"x\" and \"y\")", path_));
        if (users_.empty()) throw DataError(fmt::format("{}: has no \"users\"", path_));
        for (const auto& [name, number] : users_) {
            const auto found = samples_of_user_.find(name);
            if (found == samples_of_user_.end())
                throw DataError(fmt::format("{}: user \"{}\" has no data", path_, shortened(name)));
            const auto place = static_cast<std::size_t>(number);
            if (!announced_.empty() && (place >= announced_.size() ||
                                        announced_[place] != static_cast<double>(found->second)))
                throw DataError(
                    fmt::format("{}: user \"{}\" has {} records, \"num_samples\" says otherwise",
                                path_,
                                shortened(name),
                                found->second));
        }
        Dataset data;
        data.source = path_;
        const auto records = static_cast<Eigen::Index>(labels_.size());
        data.labels = Eigen::Map<const Eigen::VectorXd>(labels_.data(), records);
        data.dense = RealRows(Eigen::Map<const RealRows>(
            features_.data(), records, static_cast<Eigen::Index>(width_)));
        for (const std::string& name : users_of_data_) {
            const auto user = users_.find(name);
            if (user == users_.end())
                throw DataError(fmt::format(
                    "{}: \"{}\" has data but is not one of the \"users\"", path_, shortened(name)));
            data.writers.insert(data.writers.end(), samples_of_user_[name], user->second);
        }
        return data;
    }

  private:
    [[nodiscard]] bool in_data() const { return section_ == "user_data" && objects_ == 3; }
    [[nodiscard]] bool in_features() const { return in_data() && field_ == "x"; }
    [[nodiscard]] bool in_labels() const { return in_data() && field_ == "y"; }

    bool number(double value) {
        if (in_features()) {
            if (arrays_ < 2) fail("\"x\" must be an array of arrays of numbers");
            if (!std::isfinite(value)) fail("a feature is not finite");
            features_.push_back(value);
        } else if (in_labels()) {
            if (arrays_ != 1 || !(value >= 0 && value <= 1e6 && value == std::floor(value)))
                fail(fmt::format("label {}: must be a whole number from 0 to 1000000", value));
            labels_.push_back(value);
            ++labels_read_;
        } else if (section_ == "num_samples" && objects_ == 1) {
            announced_.push_back(value);
        } else if (section_ == "users" && objects_ == 1) {
            fail("\"users\" must be texts");
        }
        return true;
    }
    /// A token that is an error inside records, and ignored elsewhere.
    bool other(const char* what) {
        if (in_features() || in_labels())
            fail(fmt::format("\"{}\" holds {}; must be numbers", shortened(field_), what));
        return true;
    }

    void finish_record() {
        const std::size_t width = features_.size() - record_start_;
        record_start_ = features_.size();
        if (width == 0) fail("a record has no features");
        if (width_ == 0) width_ = width;
        if (width != width_)
            fail(fmt::format("a record of {} features; the first has {}", width, width_));
        ++features_read_;
    }
    void finish_user() {
        if (features_read_ != labels_read_)
            fail(fmt::format(
                "{} records in \"x\", {} labels in \"y\"", features_read_, labels_read_));
        samples_of_user_[user_] = features_read_;
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw DataError(user_.empty() ? fmt::format("{}: {}", path_, what)
                                      : fmt::format("{}, user \"{}\", record {}: {}",
                                                    path_,
                                                    shortened(user_),
                                                    features_read_ + 1,
                                                    what));
    }

    std::string path_;
    int objects_ = 0, arrays_ = 0;        // how many are open
    std::string section_, user_, field_;  // keys of the open objects
    std::map<std::string, int> users_;    // number of each
    std::vector<std::string> users_of_data_;
    std::map<std::string, std::size_t> samples_of_user_;
    std::vector<double> announced_, features_, labels_;
    std::size_t width_ = 0, record_start_ = 0, features_read_ = 0, labels_read_ = 0;
};

}  // namespace

Dataset read_leaf(const std::string& path) {
    GzipBuffer bytes(path);
    std::istream stream(&bytes);
    LeafReader reader(path);
    (void)Json::sax_parse(stream, &reader);
    return reader.finish();
}

namespace {

class FieldParser {
  public:
    FieldParser(const LineReader& reader, std::string_view line)
        : reader_(reader), at_(line.data()), end_(line.data() + line.size()) {}

    bool next_field() {
        while (at_ != end_ && is_space(*at_)) ++at_;
        field_ = at_;
        return at_ != end_;
    }

    double real(const char* what) {
        // The format writes positive labels as "+1"; from_chars does not accept a plus sign.
        const char* first = at_;
        if (first != end_ && *first == '+') {
            ++first;
            if (first != end_ && (*first == '-' || *first == '+')) fail(what, "a finite number");
        }
        double value = 0;
        // Most values of binary data are the single digit 1.
        if (first != end_ && is_digit(*first) && (first + 1 == end_ || is_space(first[1]))) {
            value = *first - '0';
            at_ = first + 1;
            return value;
        }
        const auto [stop, status] = std::from_chars(first, end_, value);
        if (status != std::errc() || !std::isfinite(value) || !(stop == end_ || is_space(*stop)))
            fail(what, "a finite number");
        at_ = stop;
        return value;
    }

    /// The index and the colon after it.
    int index() {
        int value = 0;
        const auto [stop, status] = std::from_chars(at_, end_, value);
        if (status == std::errc::result_out_of_range ||
            (status == std::errc() && stop != end_ && *stop == ':' && !is_allowed(value)))
            fail("index",
                 fmt::format("from 1 to {}{}",
                             largest_index,
                             value == 0 ? ": indices count from 1 in all files (add 1 to every "
                                          "index of all of them)"
                                        : ""));
        if (status != std::errc() || stop == end_ || *stop != ':') fail("feature", "index:value");
        at_ = stop + 1;
        return value;
    }

    [[noreturn]] void fail(const char* what, std::string_view allowed) const {
        const char* stop = field_;
        while (stop != end_ && !is_space(*stop) && stop - field_ < 40) ++stop;
        throw DataError(
            fmt::format("{}, line {}: {} in \"{}\" must be {}",
                        reader_.path(),
                        reader_.line_number(),
                        what,
                        std::string_view(field_, static_cast<std::size_t>(stop - field_)),
                        allowed));
    }

  private:
    // The bias adds a column, which must also have a 32-bit number.
    static constexpr int largest_index = std::numeric_limits<int>::max() - 1;

    static bool is_allowed(int index) { return index >= 1 && index <= largest_index; }
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    const LineReader& reader_;
    const char* at_;
    const char* end_;
    const char* field_ = nullptr;
};

/// Limits a model to some 32 times the memory of the data.
std::size_t most_features(std::size_t values) { return (std::size_t{1} << 20) + 16 * values; }

}  // namespace

Dataset read_libsvm(const std::string& path, Eigen::Index minimum_features) {
    LineReader reader(path);
    std::vector<double> labels, values;
    std::vector<int> columns, starts{0};
    int largest = 0;
    long long line_of_largest = 0;
    std::string_view line;
    while (reader.next(line)) {
        line = line.substr(0, line.find('#'));
        FieldParser parser(reader, line);
        if (!parser.next_field()) continue;
        labels.push_back(parser.real("label"));
        int previous = 0;
        while (parser.next_field()) {
            const int index = parser.index();
            if (index <= previous)
                parser.fail("index", fmt::format("greater than the one before it, {}", previous));
            previous = index;
            columns.push_back(index - 1);
            values.push_back(parser.real("value"));
        }
        if (previous > largest) {
            largest = previous;
            line_of_largest = reader.line_number();
        }
        if (columns.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw DataError(fmt::format("{}, line {}: more than {} values in one file; split it",
                                        path,
                                        reader.line_number(),
                                        std::numeric_limits<int>::max()));
        starts.push_back(static_cast<int>(columns.size()));
    }
    if (labels.empty()) throw DataError(fmt::format("{}: holds no records", path));
    const auto most = static_cast<long long>(most_features(values.size()));
    if (largest > most)
        throw DataError(
            fmt::format("{}, line {}: index {} is too large for a file of {} values, since models "
                        "have one parameter per feature (allowed: up to {}, 2^20 + 16 per value; "
                        "number features without gaps)",
                        path,
                        line_of_largest,
                        largest,
                        values.size(),
                        most));

    Dataset data;
    data.features = Eigen::Map<const SparseRows>(static_cast<Eigen::Index>(labels.size()),
                                                 std::max<Eigen::Index>(largest, minimum_features),
                                                 static_cast<Eigen::Index>(columns.size()),
                                                 starts.data(),
                                                 columns.data(),
                                                 values.data());
    data.labels =
        Eigen::Map<const Eigen::VectorXd>(labels.data(), static_cast<Eigen::Index>(labels.size()));
    data.source = path;
    return data;
}

GzipBuffer::GzipBuffer(const std::string& path) : path_(path), input_(path), buffer_(1 << 17) {}

GzipBuffer::int_type GzipBuffer::underflow() {
    taken_before_ = position();
    setg(nullptr, nullptr, nullptr);
    const std::size_t count =
        input_.read(buffer_.data(), buffer_.size(), fmt::format("byte {}", taken_before_));
    if (count == 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
    return traits_type::to_int_type(*gptr());
}

void GzipBuffer::read(void* target, std::size_t count, const char* what) {
    const auto got = sgetn(static_cast<char*>(target), static_cast<std::streamsize>(count));
    if (got != static_cast<std::streamsize>(count))
        throw DataError(fmt::format("{}: ends after byte {}, in its {}", path_, position(), what));
}

namespace {

/// Categories of each group, as in a9a: age, work class, weight, education, its years, marital
/// status, occupation, relationship, race, sex, capital gain, capital loss, hours, country.
constexpr std::array<int, 14> group_sizes{5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41};

struct RuleTerm {
    std::size_t group;
    int category;
    double weight;
};

/// Log-odds of label +1: the intercept plus the weights of the record's categories. Most columns
/// have no weight.
constexpr std::array<RuleTerm, 18> rule{{{0, 0, -1.8},
                                         {0, 1, 0.5},
                                         {0, 2, 0.7},
                                         {3, 0, -0.9},
                                         {3, 2, 1.1},
                                         {3, 4, 1.4},
                                         {5, 0, 1.6},
                                         {5, 1, -1.4},
                                         {6, 0, 0.7},
                                         {6, 2, -1.1},
                                         {6, 3, 0.9},
                                         {7, 1, -0.7},
                                         {9, 1, -0.7},
                                         {10, 1, 1.8},
                                         {11, 1, 0.9},
                                         {12, 0, -0.6},
                                         {12, 1, 0.7},
                                         {13, 1, -0.5}}};
constexpr double intercept = -2.2;
constexpr Eigen::Index most_records = 100'000'000;  // values are counted in 32 bits

void require_possible(Eigen::Index records) {
    if (!(records >= 1 && records <= most_records))
        throw ConfigError(fmt::format(
            "synthetic data of {} records: must be from 1 to {}", records, most_records));
}

}  // namespace

Dataset synthetic_binary(Eigen::Index records, std::uint64_t seed) {
    require_possible(records);
    constexpr int groups = static_cast<int>(group_sizes.size());
    // Zipf's law: category k has probability proportional to 1 / (k + 1).
    std::vector<std::vector<double>> cumulative;
    std::vector<std::vector<double>> weights;
    int columns = 0;
    for (const int size : group_sizes) {
        std::vector<double> sums;
        double total = 0;
        for (int k = 0; k < size; ++k) sums.push_back(total += 1.0 / (k + 1));
        for (double& sum : sums) sum /= total;
        cumulative.push_back(std::move(sums));
        weights.emplace_back(static_cast<std::size_t>(size), 0.0);
        columns += size;
    }
    for (const RuleTerm& term : rule)
        weights[term.group][static_cast<std::size_t>(term.category)] = term.weight;

    Dataset data;
    data.source = "synthetic";
    data.labels.resize(records);
    data.features.resize(records, columns);
    data.features.resizeNonZeros(records * groups);
    std::fill_n(data.features.valuePtr(), records * groups, 1.0);
    SeededRandom random(seed, "synthetic-binary");
    int* column = data.features.innerIndexPtr();
    for (Eigen::Index row = 0; row < records; ++row) {
        double log_odds = intercept;
        int first_column = 0;
        for (std::size_t group = 0; group < group_sizes.size(); ++group) {
            const std::vector<double>& sums = cumulative[group];
            const double draw = random.uniform();
            std::size_t category = 0;
            while (category + 1 < sums.size() && draw >= sums[category]) ++category;
            log_odds += weights[group][category];
            *column++ = first_column + static_cast<int>(category);
            first_column += group_sizes[group];
        }
        data.features.outerIndexPtr()[row + 1] = static_cast<int>((row + 1) * groups);
        data.labels[row] = random.uniform() * (1 + std::exp(-log_odds)) < 1 ? 1 : -1;
    }
    return data;
}

Dataset synthetic_values(Eigen::Index records, std::uint64_t seed) {
    require_possible(records);
    constexpr Eigen::Index numbers = 8;
    const double longest = 1 / std::sqrt(static_cast<double>(numbers));
    RealRows values(records, numbers);
    SeededRandom random(seed, "synthetic-values");
    for (Eigen::Index row = 0; row < records; ++row)
        for (Eigen::Index k = 0; k < numbers; ++k) values(row, k) = longest * random.uniform();
    Dataset data;
    data.source = "synthetic";
    data.dense = std::move(values);
    data.labels = Eigen::VectorXd::Ones(records);
    return data;
}

}  // namespace sotto
