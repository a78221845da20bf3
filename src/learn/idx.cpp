#include "idx.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "gzip_buffer.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// One file: sizes of its dimensions, then its bytes.
class IdxFile {
  public:
    /// @param dimensions it must have.
    IdxFile(const std::string& path, int dimensions) : path_(path), bytes_(path) {
        std::array<std::uint8_t, 4> magic{};
        bytes_.read(magic.data(), magic.size(), "magic number");
        if (magic[0] != 0 || magic[1] != 0)
            throw DataError(
                fmt::format("{}: is not an IDX file (must start with two zero bytes)", path));
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

    /// All values, and then the file must end. Memory grows as bytes arrive: the header of a
    /// compressed file may promise more than there is.
    [[nodiscard]] PixelRows read(Eigen::Index columns) {
        // Sizes have 32 bits, columns at most 32: the product fits in a double well enough.
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

/// The name of the labels' file. @throws DataError if the images' name does not lead to one.
std::string labels_beside(const std::string& images) {
    constexpr std::string_view part = "images-idx3";
    const std::filesystem::path path(images);
    std::string name = path.filename().string();
    const std::size_t at = name.find(part);
    if (at == std::string::npos)
        throw DataError(fmt::format(
            "{}: labels are looked for in the file with \"labels-idx1\" for \"images-idx3\" in its "
            "name, which this name does not have",
            images));
    name.replace(at, part.size(), "labels-idx1");
    std::filesystem::path labels = path.parent_path() / name;
    if (std::filesystem::exists(labels)) return labels.string();
    // One of the two may be compressed and the other not.
    std::filesystem::path other = labels;
    if (labels.extension() == ".gz")
        other.replace_extension();
    else
        other += ".gz";
    if (std::filesystem::exists(other)) return other.string();
    throw DataError(
        fmt::format("{}: its labels are missing; {} is not there", images, labels.string()));
}

}  // namespace

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
    // A product of three sizes of 32 bits may not fit.
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

}  // namespace sotto
