#include "store/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/files.hpp"
#include "core/numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

#ifdef SOTTO_HAVE_TENSORBOARD
#include <boost/crc.hpp>

#include "tensorboard_event.pb.h"
#endif

namespace sotto {

namespace {

constexpr NameTable<ModelStage, 3> stage_names{{{{ModelStage::last, "last"},
                                                 {ModelStage::averaged, "averaged"},
                                                 {ModelStage::consensus, "consensus"}}}};

template <double Evaluation::*figure>
double evaluated(const MetricsRow& row) {
    return row.evaluation.*figure;
}

template <double RoundSeconds::*phase>
double seconds_of(const MetricsRow& row) {
    return row.phases ? (*row.phases).*phase : not_a_number;
}

constexpr std::array<MetricColumn, 15> columns{{
    {"epsilon", "privacy", [](const MetricsRow& row) { return row.epsilon; }},
    {"test_loss", "loss", evaluated<&Evaluation::test_loss>},
    {"test_loss_worst", "loss", evaluated<&Evaluation::test_loss_worst>},
    {"test_loss_mean_model", "loss", evaluated<&Evaluation::test_loss_mean_model>},
    {"test_accuracy", "accuracy", evaluated<&Evaluation::test_accuracy>},
    {"test_accuracy_mean_model", "accuracy", evaluated<&Evaluation::test_accuracy_mean_model>},
    {"train_loss_mean_model", "loss", evaluated<&Evaluation::train_loss_mean_model>},
    {"optimality_gap", "loss", evaluated<&Evaluation::optimality_gap>},
    {"optimality_gap_agents", "loss", evaluated<&Evaluation::optimality_gap_agents>},
    {"consensus_distance", "models", evaluated<&Evaluation::consensus_distance>},
    {"elapsed_seconds", "seconds", [](const MetricsRow& row) { return row.elapsed_seconds; }},
    {"gradient_seconds", "seconds", seconds_of<&RoundSeconds::gradient>},
    {"noise_seconds", "seconds", seconds_of<&RoundSeconds::noise>},
    {"exchange_seconds", "seconds", seconds_of<&RoundSeconds::exchange>},
    {"mix_seconds", "seconds", seconds_of<&RoundSeconds::mix>},
}};

std::string number_field(double value) {
    return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

std::string records_field(const std::optional<long>& most) {
    return most ? std::to_string(*most) : std::string("all");
}

}  // namespace

std::string name_of(ModelStage stage) { return stage_names.name_of(stage); }

std::span<const MetricColumn> metric_columns() { return columns; }

std::string metrics_head() {
    std::string line = "round";
    for (const MetricColumn& column : columns) line += std::string(",") + column.name;
    return line + ",models,test_records,train_records";
}

std::string metrics_line(const MetricsRow& row) {
    std::string line = std::to_string(row.round);
    for (const MetricColumn& column : columns) line += "," + number_field(column.value(row));
    return line + "," + name_of(row.stage) + "," + records_field(row.evaluation.records.test) +
           "," + records_field(row.evaluation.records.train);
}

namespace fs = std::filesystem;

#ifdef SOTTO_HAVE_TENSORBOARD

namespace {

constexpr std::string_view file_prefix = "events.out.tfevents.";

[[noreturn]] void throw_event_failure(const fs::path& path, int reason) {
    throw_write_failure(
        fmt::format(
            "--tensorboard: {} cannot be written ({})", path.string(), std::strerror(reason)),
        reason);
}

double seconds_since_1970() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// The highest number in existing names; 0 without any.
long newest_number(const fs::path& folder) {
    long newest = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename();
        if (name.starts_with(file_prefix))
            newest = std::max(newest, std::atol(name.c_str() + file_prefix.size()));
    }
    return newest;
}

template <class Integer>
void put_integer(std::string& bytes, Integer value) {
    for (std::size_t shift = 0; shift < 8 * sizeof(Integer); shift += 8)
        bytes += static_cast<char>(static_cast<unsigned char>(value >> shift));
}

std::uint32_t masked_checksum(std::string_view bytes) {
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc_32c;
    crc_32c.process_bytes(bytes.data(), bytes.size());
    const std::uint32_t sum = crc_32c.checksum();
    return ((sum >> 15) | (sum << 17)) + 0xa282ead8U;
}

tensorboard::Event event_at(long round) {
    tensorboard::Event event;
    event.set_wall_time(seconds_since_1970());
    event.set_step(round);
    return event;
}

std::string tag_of(const MetricColumn& column, ModelStage stage) {
    const std::string tag = fmt::format("{}/{}", column.chart, column.name);
    return stage == ModelStage::last ? tag : tag + "_" + name_of(stage);
}

}  // namespace

TensorboardFile TensorboardFile::create(const fs::path& folder, long first_round) {
    if (const std::error_code failure = make_private_folder(folder))
        throw_event_failure(folder, failure.value());
    const long number =
        std::max(static_cast<long>(seconds_since_1970()), newest_number(folder) + 1);
    TensorboardFile result(folder / fmt::format("{}{:010}.sotto", file_prefix, number));
    if (!create_file(result.path_, "", Readers::owner)) throw_event_failure(result.path_, EEXIST);
    result.file_.open(result.path_, std::ios::binary | std::ios::app);
    tensorboard::Event version = event_at(0);
    version.set_file_version("brain.Event:2");
    result.append(version.SerializeAsString());
    tensorboard::Event start = event_at(first_round);
    start.mutable_session_log()->set_status(tensorboard::SessionLog::START);
    result.append(start.SerializeAsString());
    return result;
}

void TensorboardFile::add(const MetricsRow& row) {
    tensorboard::Event event = event_at(row.round);
    for (const MetricColumn& column : metric_columns()) {
        const double value = column.value(row);
        if (!std::isfinite(value)) continue;
        tensorboard::Summary::Value& scalar = *event.mutable_summary()->add_value();
        scalar.set_tag(tag_of(column, row.stage));
        scalar.set_simple_value(static_cast<float>(value));
    }
    append(event.SerializeAsString());
}

void TensorboardFile::append(std::string_view event) {
    std::string record;
    put_integer(record, std::uint64_t{event.size()});
    put_integer(record, masked_checksum(record));
    record += event;
    put_integer(record, masked_checksum(event));
    errno = ENOSPC;  // where less is written than asked for
    file_ << record << std::flush;
    if (!file_) {
        const int reason = errno;
        std::error_code ignored;
        file_.close();
        fs::resize_file(path_, bytes_, ignored);
        throw_event_failure(path_, reason);
    }
    bytes_ += record.size();
}

#else

TensorboardFile TensorboardFile::create(const fs::path&, long) {
    throw ConfigError(
        "--tensorboard: 'on' is not possible, since this sotto was built without Protocol Buffers "
        "(allowed: off; or install libprotobuf-dev and protobuf-compiler and build again)");
}

void TensorboardFile::add(const MetricsRow&) {}

#endif

}  // namespace sotto
