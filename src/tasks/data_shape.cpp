#include "tasks/data_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "core/bytes.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr Eigen::Index most_times_own = 16;
constexpr Eigen::Index always_allowed_features = Eigen::Index{1} << 20;
constexpr Eigen::Index always_allowed_classes = 1024;

Eigen::Index most_allowed(Eigen::Index own, Eigen::Index always) {
    return std::max(always, most_times_own * own);
}

void require_allowed(std::size_t rank,
                     const char* what,
                     Eigen::Index theirs,
                     Eigen::Index own,
                     Eigen::Index always) {
    const Eigen::Index most = most_allowed(own, always);
    if (theirs < 0 || theirs > most)
        throw NetworkError(
            fmt::format("rank {} announces data of {} {}, this rank has {}: more than {} are not "
                        "accepted, since models of all agents would grow with them",
                        rank,
                        theirs,
                        what,
                        own,
                        most));
}

void put_texts(ByteWriter& writer, const std::vector<std::string>& texts) {
    writer.put(static_cast<std::uint64_t>(texts.size()));
    for (const std::string& text : texts) writer.put_text(text);
}

void put_labels(ByteWriter& writer, const LabelSet& labels) {
    writer.put(static_cast<std::uint64_t>(labels.size()));
    for (const double label : labels) writer.put(label);
}

std::string packed(const DataShape& shape) {
    ByteWriter writer;
    writer.put(std::uint8_t{shape.target == Target::value});
    writer.put(std::int64_t{shape.features});
    writer.put(std::int64_t{shape.image_rows});
    put_labels(writer, shape.labels);
    writer.put(std::uint8_t{shape.table.has_value()});
    if (!shape.table) return writer.take();
    put_texts(writer, shape.table->label_names);
    for (const ColumnShape& feature : shape.table->features) {
        writer.put(static_cast<std::uint8_t>(feature.kind));
        put_texts(writer, feature.categories);
    }
    return writer.take();
}

/// Whether a peer's text can be shown on a terminal, and is not too long.
bool is_plain(std::string_view text) {
    constexpr std::size_t most_bytes = 4096;
    return text.size() <= most_bytes && std::ranges::none_of(text, [](char c) {
               return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
           });
}

std::vector<std::string> texts_of(ByteReader& reader, std::size_t most) {
    const std::size_t count = reader.get_count(sizeof(std::uint64_t));
    if (count > most) reader.fail();
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < count; ++k) {
        texts.emplace_back(reader.get_text());
        if (!is_plain(texts.back())) reader.fail();
    }
    return texts;
}

/// The columns of a rank's tables, in the agreed order.
TableShape table_of(ByteReader& reader, const DataShape& theirs, const TableShape& own) {
    TableShape table = own;
    table.target = theirs.target;
    table.labels = theirs.labels;
    table.label_names = texts_of(reader, most_categories);
    for (ColumnShape& feature : table.features) {
        const auto kind = reader.get<std::uint8_t>();
        if (kind > static_cast<std::uint8_t>(ColumnShape::Kind::categories)) reader.fail();
        feature.kind = static_cast<ColumnShape::Kind>(kind);
        feature.categories = texts_of(reader, most_categories);
        if (feature.kind != ColumnShape::Kind::categories && !feature.categories.empty())
            reader.fail();
    }
    return table;
}

/// A rank's data. @throws NetworkError if malformed or too much.
DataShape unpacked(std::string_view bytes, std::size_t rank, const DataShape& own) {
    ByteReader reader(bytes, fmt::format("the shape of rank {}'s data", rank));
    DataShape shape;
    shape.target = reader.get<std::uint8_t>() != 0 ? Target::value : Target::label;
    shape.features = static_cast<Eigen::Index>(reader.get<std::int64_t>());
    require_allowed(rank, "features", shape.features, own.features, always_allowed_features);
    shape.image_rows = static_cast<Eigen::Index>(reader.get<std::int64_t>());
    if (shape.image_rows < 0 || shape.image_rows > shape.features) reader.fail();
    shape.labels.resize(reader.get_count(sizeof(double)));
    for (double& label : shape.labels) label = reader.get<double>();
    require_allowed(
        rank, "classes", std::ssize(shape.labels), std::ssize(own.labels), always_allowed_classes);
    for (const double label : shape.labels)
        if (!(std::abs(label) <= 0x1p53 && label == std::floor(label))) reader.fail();
    if (std::ranges::adjacent_find(shape.labels, std::greater_equal()) != shape.labels.end())
        reader.fail();
    const bool is_table = reader.get<std::uint8_t>() != 0;
    if (is_table != own.table.has_value())
        throw DataError(
            fmt::format("data: files of rank {} are {}, those of this rank {}; all agents' files "
                        "must have one format",
                        rank,
                        is_table ? "tables" : "no tables",
                        is_table ? "are none" : "are"));
    if (is_table) shape.table = table_of(reader, shape, *own.table);
    reader.require_done();
    return shape;
}

/// Most bytes of a rank's shape, given this rank's own.
std::uint64_t most_shape_bytes(const DataShape& own) {
    constexpr std::uint64_t category_bytes = 64;
    // Leaves room for somewhat more than is allowed, so that the error can name the number.
    const auto labels = 4 * static_cast<std::uint64_t>(
                                most_allowed(std::ssize(own.labels), always_allowed_classes));
    const std::uint64_t columns = own.table ? 1 + own.table->features.size() : 0;
    return most_line_bytes + sizeof(double) * labels + 2 * packed(own).size() +
           columns * most_categories * category_bytes;
}

}  // namespace

Eigen::Index same_image_rows(Eigen::Index a,
                             const std::string& whose_a,
                             Eigen::Index b,
                             const std::string& whose_b) {
    if (a > 0 && b > 0 && a != b)
        throw DataError(
            fmt::format("data: images of {} have {} rows of pixels, those of {} have "
                        "{}; all must have the same shape",
                        whose_b,
                        b,
                        whose_a,
                        a));
    return std::max(a, b);
}

DataOrder agreed_order(Control& network, const DataOrder& own) {
    ByteWriter writer;
    std::uint64_t bytes = most_line_bytes;
    for (const auto& names : {own.columns, own.files}) {
        if (network.process() == 0) put_texts(writer, names);
        for (const std::string& name : names) bytes += 2 * (name.size() + sizeof(std::uint64_t));
    }
    const auto all = network.all_gather(writer.take(), bytes);
    DataOrder order;
    network.agree([&] {
        ByteReader reader(all.front(), "the names of rank 0's columns and files");
        order.columns = texts_of(reader, bytes);
        order.files = texts_of(reader, bytes);
        reader.require_done();
    });
    return order;
}

DataShape agreed_shape(Control& network, const DataShape& own) {
    const auto all = network.all_gather(packed(own), most_shape_bytes(own));
    DataShape together;
    network.agree([&] {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            const DataShape theirs = unpacked(all[rank], rank, own);
            if (rank == 0) {
                together = theirs;
                continue;
            }
            if (!theirs.table && theirs.target != together.target)
                throw DataError(fmt::format(
                    "data: files of rank {} are of another format than those of rank 0", rank));
            if (theirs.table)
                together.table =
                    united(*together.table, *theirs.table, fmt::format("rank {}", rank));
            together.features = std::max(together.features, theirs.features);
            together.image_rows = same_image_rows(together.image_rows,
                                                  "ranks before it",
                                                  theirs.image_rows,
                                                  fmt::format("rank {}", rank));
            together.labels = united(together.labels, theirs.labels);
        }
    });
    return together;
}

}  // namespace sotto
