#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "store/metrics_row.hpp"

namespace sotto {

/// An event file of one start of a run, for TensorBoard: the columns of metrics.csv as scalars, at
/// their rounds, with the time at which they were written.
///
/// A record is the length (uint64), its checksum, an Event (tensorboard_event.proto), its checksum;
/// integers are little-endian, checksums CRC-32C, rotated by 15 bits plus 0xa282ead8.
///                          Source: TensorFlow, tensorflow/core/lib/io/record_writer.h (TFRecord)
/// Records are written whole, one write each: what a process leaves that is killed can be read.
class TensorboardFile {
  public:
    /// A new file, which only its owner can read, in a folder that is made where it is not there.
    /// Its name sorts behind those of the files that are there, even where the clock went back.
    /// @param first_round that the start goes on after; readers drop what earlier files have of it
    /// and of later ones.
    /// @throws ConfigError if sotto was built without the libraries; as throw_write_failure does,
    /// with path and reason, if the file cannot be made.
    [[nodiscard]] static TensorboardFile create(const std::filesystem::path& folder,
                                                long first_round);
    /// Adds what is finite in the row. Tags are chart/column; those of models that are not the last
    /// ones end with _averaged or _consensus. Values are single precision, as TensorBoard shows.
    /// @throws as throw_write_failure does; then the file ends behind the record before.
    void add(const MetricsRow& row);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    explicit TensorboardFile(std::filesystem::path path) : path_(std::move(path)) {}
    void append(std::string_view event);
    std::filesystem::path path_;
    std::ofstream file_;
    std::uint64_t bytes_ = 0;
};

}  // namespace sotto
