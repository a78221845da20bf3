#include "libsvm.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>

#include "sotto/core/error.hpp"
#include "sotto/core/text_input.hpp"

namespace sotto {
namespace {

/// Walks the fields of one line; knows the file and line for messages.
class FieldParser {
  public:
    FieldParser(const LineReader& reader, std::string_view line)
        : reader_(reader), at_(line.data()), end_(line.data() + line.size()) {}

    /// Moves to the next field; false at the end of the line.
    bool next_field() {
        while (at_ != end_ && is_space(*at_)) ++at_;
        field_ = at_;
        return at_ != end_;
    }

    double real(const char* what) {
        // The format writes positive labels as "+1"; from_chars knows no plus sign.
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

    /// The index and the colon behind it.
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
    // One column more, the bias, must still have a 32-bit number.
    static constexpr int largest_index = std::numeric_limits<int>::max() - 1;

    static bool is_allowed(int index) { return index >= 1 && index <= largest_index; }
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    const LineReader& reader_;
    const char* at_;
    const char* end_;
    const char* field_ = nullptr;
};

/// So that a model takes no more than some 32 times the memory of the data.
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
        throw DataError(fmt::format(
            "{}, line {}: index {} is too large for a file of {} values, since models have one "
            "parameter a feature (allowed: up to {}, 2^20 + 16 a value; number features without "
            "gaps)",
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

}  // namespace sotto
