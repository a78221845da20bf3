#include "run/data_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "sotto/core/bytes.hpp"
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

/// Columns are process 0's to say.
std::string packed(const DataShape& shape, bool with_columns) {
    ByteWriter writer;
    writer.put(std::uint8_t{shape.target == Target::value});
    writer.put(std::int64_t{shape.features});
    writer.put(std::int64_t{shape.image_rows});
    writer.put(static_cast<std::uint64_t>(shape.labels.size()));
    for (const double label : shape.labels) writer.put(label);
    writer.put(static_cast<std::uint64_t>(with_columns ? shape.columns.size() : 0));
    if (with_columns)
        for (const std::string& name : shape.columns) writer.put_text(name);
    return writer.take();
}

/// What rank `rank` says of its data. @throws NetworkError for what is none of this, or too much.
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
    const std::size_t columns = reader.get_count(sizeof(std::uint64_t));
    for (std::size_t k = 0; k < columns; ++k) shape.columns.emplace_back(reader.get_text());
    reader.require_done();
    return shape;
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

DataShape agreed_shape(Network& network, const DataShape& own) {
    // Whoever announces more than is allowed is named with the number, if it is not absurd.
    const auto labels = 4 * static_cast<std::uint64_t>(
                                most_allowed(std::ssize(own.labels), always_allowed_classes));
    const std::uint64_t most_bytes =
        most_line_bytes + sizeof(double) * labels + 2 * packed(own, true).size();
    const auto all = network.all_gather(packed(own, network.process() == 0), most_bytes);
    DataShape together;
    network.agree([&] {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            const DataShape theirs = unpacked(all[rank], rank, own);
            if (rank == 0) {
                together = theirs;
                continue;
            }
            if (theirs.target != together.target)
                throw DataError(fmt::format(
                    "data: files of rank {} have {}, those of rank 0 {}; the agents' files are of "
                    "different formats",
                    rank,
                    theirs.target == Target::value ? "a value to predict" : "classes",
                    theirs.target == Target::value ? "classes" : "a value to predict"));
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
