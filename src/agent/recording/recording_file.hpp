#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_value.hpp"
#include "private_file.hpp"
#include "sotto/agent/recording/recording_header.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

/// One of the two kinds of recordings, which share their frame (docs/recorded-view.md).
struct RecordingFormat {
    std::string_view magic;  ///< 8 characters
    std::string_view name;
    int version;
};
inline constexpr RecordingFormat view_format{"SOTTOVW1", "sotto-view", 2};
inline constexpr RecordingFormat wire_format{"SOTTOWR1", "sotto-wire", 1};

/// Round, gossip step and step size stand before everything else in a record.
inline constexpr Eigen::Index record_prefix = 3;

/// Copies `dimension` values; zeros where `vector` is empty.
void copy_or_zero(const Eigen::Ref<const Eigen::VectorXd>& vector,
                  double* target,
                  Eigen::Index dimension);

/// A recording that is being written; holds the record under way.
class RecordingFileWriter {
  public:
    /// @param own fields of the header beside those of RecordingHeader.
    RecordingFileWriter(const std::filesystem::path& path,
                        const RecordingFormat& format,
                        const RecordingHeader& header,
                        const nlohmann::ordered_json& own,
                        Eigen::Index values_per_record);

    void begin(long round, int gossip_step, double step_size);
    /// Of the record under way, from `first` on.
    [[nodiscard]] double* values(Eigen::Index first) { return values_.data() + first; }
    /// Appends the record under way.
    void append();
    /// Ends the file, once.
    void finish();

  private:
    PrivateFile file_;
    std::vector<double> values_;
    std::uint64_t records_ = 0;
};

/// A recording that is being read. Nothing in it is believed: sizes are checked against what is
/// there before memory is taken for them.
class RecordingFileReader {
  public:
    /// Reads the header. @throws DataError as RecordedViewReader.
    RecordingFileReader(const std::filesystem::path& file, const RecordingFormat& format);

    [[nodiscard]] DataError failure(std::string_view reason) const;
    /// A field of the header that is one of these names. @throws DataError if it is not.
    template <class Enum, std::size_t count>
    [[nodiscard]] Enum name_in_header(const NameTable<Enum, count>& names,
                                      const char* field) const {
        try {
            return names.parse(field, header_->root().at(field).text());
        } catch (const std::exception& error) {
            throw failure(error.what());
        }
    }
    /// The fields all recordings have, checked.
    /// @param itself whether the agent is among the receivers of messages for single ones.
    [[nodiscard]] RecordingHeader common_header(bool itself) const;
    /// Checks what the header says of records, and the end of the file; then records can be read.
    void expect_records(Eigen::Index values, int gossip_steps);
    [[nodiscard]] std::uint64_t records() const { return records_; }

    /// The next record, with its round and gossip step checked; empty after the last. Valid until
    /// the next call.
    [[nodiscard]] std::span<const double> next();
    /// @throws DataError unless all are finite.
    void require_finite(std::span<const double> values) const;

  private:
    std::filesystem::path path_;
    std::uint64_t size_ = 0;
    std::ifstream stream_;
    std::optional<JsonDocument> header_;
    std::uint64_t header_end_ = 0;
    Eigen::Index values_per_record_ = 0;
    std::uint64_t records_ = 0, read_ = 0;
    int gossip_steps_ = 1;
    std::vector<double> values_;
    double round_ = 0, gossip_step_ = 0;  // of the record before
};

}  // namespace sotto
