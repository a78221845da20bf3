#include "recording_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/regular_file.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view end_mark = "SOTTOEND";
constexpr std::size_t number_bytes = sizeof(std::uint64_t);
constexpr std::size_t preamble_bytes = view_format.magic.size() + number_bytes;
static_assert(wire_format.magic.size() == view_format.magic.size());
constexpr std::size_t end_bytes = end_mark.size() + number_bytes;

// With these the number of bytes of a record fits in 64 bits, and a header in memory.
constexpr Eigen::Index largest_dimension = Eigen::Index{1} << 36;
constexpr std::size_t most_neighbours = std::size_t{1} << 19;
constexpr std::uint64_t largest_header = std::uint64_t{1} << 24;

}  // namespace

void copy_or_zero(const Eigen::Ref<const Eigen::VectorXd>& vector,
                  double* target,
                  Eigen::Index dimension) {
    if (vector.size() == 0)
        std::fill_n(target, dimension, 0.0);
    else
        Eigen::Map<Eigen::VectorXd>(target, dimension) = vector;
}

RecordingFileWriter::RecordingFileWriter(const fs::path& path,
                                         const RecordingFormat& format,
                                         const RecordingHeader& header,
                                         const Json& own,
                                         Eigen::Index values_per_record)
    : file_(path), values_(static_cast<std::size_t>(values_per_record)) {
    Json json;
    json["format"] = format.name;
    json["version"] = format.version;
    json["agent"] = header.agent;
    json["agents"] = header.agents;
    json["dimension"] = header.dimension;
    json["neighbours"] = header.neighbours;
    json["outputs"] = header.outputs;
    json["gossip_steps"] = header.gossip_steps;
    json["key_epoch"] = header.key_epoch;
    json["plan_hash"] = header.plan_hash;
    json.update(own);
    json["values_per_record"] = values_per_record;
    std::string text = json.dump();
    // Records start at a multiple of 64 bytes.
    text.append(63 - (preamble_bytes + text.size()) % 64, ' ');
    text += '\n';
    const std::uint64_t size = text.size();
    file_.append(format.magic.data(), format.magic.size());
    file_.append(&size, sizeof size);
    file_.append(text.data(), text.size());
}

void RecordingFileWriter::begin(long round, int gossip_step, double step_size) {
    values_[0] = static_cast<double>(round);
    values_[1] = gossip_step;
    values_[2] = step_size;
}

void RecordingFileWriter::append() {
    file_.append(values_.data(), values_.size() * sizeof(double));
    file_.flush();
    ++records_;
}

void RecordingFileWriter::finish() {
    if (!file_.open()) return;
    file_.append(end_mark.data(), end_mark.size());
    file_.append(&records_, sizeof records_);
    file_.close();
}

RecordingFileReader::RecordingFileReader(const fs::path& file, const RecordingFormat& format)
    : path_(file), size_(RegularFile(file).size()), stream_(file, std::ios::binary) {
    if (size_ < preamble_bytes)
        throw failure(fmt::format("it does not start with {}", format.magic));
    std::array<char, preamble_bytes> preamble{};
    stream_.read(preamble.data(), preamble.size());
    if (!stream_ || std::string_view(preamble.data(), format.magic.size()) != format.magic)
        throw failure(fmt::format("it does not start with {}", format.magic));
    std::uint64_t header_size = 0;
    std::memcpy(&header_size, preamble.data() + format.magic.size(), sizeof header_size);
    if (header_size > size_ - preamble_bytes) throw failure("its header is cut short");
    if (header_size > largest_header)
        throw failure(
            fmt::format("its header has {} bytes, of at most {}", header_size, largest_header));
    std::string text(header_size, '\0');
    stream_.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!stream_) throw failure("its header cannot be read");
    header_end_ = preamble_bytes + header_size;
    try {
        header_.emplace(text);
        header_->require_format(format.name, format.version);
    } catch (const std::exception& error) {
        throw failure(fmt::format("its header cannot be read: {}", error.what()));
    }
}

DataError RecordingFileReader::failure(std::string_view reason) const {
    return DataError(fmt::format("{}: not a usable recorded view ({})", path_.string(), reason));
}

RecordingHeader RecordingFileReader::common_header(bool itself) const {
    RecordingHeader header;
    try {
        const JsonValue json = header_->root();
        header.agent = json.at("agent").integer<int>();
        header.agents = json.at("agents").integer<int>();
        header.dimension = json.at("dimension").integer<Eigen::Index>();
        header.neighbours = json.at("neighbours").integers();
        header.outputs = json.at("outputs").integers();
        header.gossip_steps = json.at("gossip_steps").integer<int>();
        header.key_epoch = json.at("key_epoch").integer<std::uint32_t>();
        header.plan_hash = json.at("plan_hash").text();
    } catch (const std::exception& error) {
        throw failure(fmt::format("its header cannot be read: {}", error.what()));
    }
    if (header.agent < 0 || header.agent >= header.agents)
        throw failure(fmt::format("agent {} of {}", header.agent, header.agents));
    if (header.dimension < 1 || header.dimension > largest_dimension)
        throw failure(fmt::format("dimension {}", header.dimension));
    if (header.gossip_steps < 1) throw failure(fmt::format("{} gossip steps", header.gossip_steps));
    if (header.neighbours.size() > most_neighbours)
        throw failure(fmt::format("{} neighbours", header.neighbours.size()));
    for (std::size_t j = 0; j < header.neighbours.size(); ++j) {
        const int neighbour = header.neighbours[j];
        if (neighbour < 0 || neighbour >= header.agents || neighbour == header.agent ||
            (j > 0 && header.neighbours[j - 1] >= neighbour))
            throw failure(fmt::format("neighbour {} of agent {}", neighbour, header.agent));
    }
    std::vector<int> single = header.neighbours;
    if (itself) single.insert(std::ranges::lower_bound(single, header.agent), header.agent);
    if (header.outputs != std::vector<int>{NoiseRow::all_receivers} && header.outputs != single)
        throw failure("its messages are neither for all receivers nor for each");
    return header;
}

void RecordingFileReader::expect_records(Eigen::Index values, int gossip_steps) {
    Eigen::Index announced = 0;
    try {
        announced = header_->root().at("values_per_record").integer<Eigen::Index>();
    } catch (const std::exception& error) {
        throw failure(fmt::format("its header cannot be read: {}", error.what()));
    }
    if (announced != values)
        throw failure(fmt::format(
            "{} values a record announced, {} follow from its header", announced, values));
    values_per_record_ = values;
    gossip_steps_ = gossip_steps;

    const std::uint64_t record_bytes = static_cast<std::uint64_t>(values) * sizeof(double);
    const std::uint64_t body = size_ - header_end_;
    if (body < end_bytes || (body - end_bytes) % record_bytes != 0) {
        if (body % record_bytes != 0)
            throw failure(fmt::format("it is cut short in record {}", body / record_bytes));
        throw failure(fmt::format("it has no end after {} whole records: the run failed or goes on",
                                  body / record_bytes));
    }
    records_ = (body - end_bytes) / record_bytes;
    std::array<char, end_bytes> end{};
    stream_.seekg(static_cast<std::streamoff>(size_ - end_bytes));
    stream_.read(end.data(), end.size());
    std::uint64_t counted = 0;
    std::memcpy(&counted, end.data() + end_mark.size(), sizeof counted);
    if (!stream_ || std::string_view(end.data(), end_mark.size()) != end_mark)
        throw failure(fmt::format("{} does not stand at its end", end_mark));
    if (counted != records_)
        throw failure(fmt::format("its end counts {} records, it holds {}", counted, records_));
    if (records_ % static_cast<std::uint64_t>(gossip_steps) != 0)
        throw failure(fmt::format(
            "{} records are not whole rounds of {} gossip steps", records_, gossip_steps));
    stream_.seekg(static_cast<std::streamoff>(header_end_));
}

std::span<const double> RecordingFileReader::next() {
    if (read_ == records_) return {};
    values_.resize(static_cast<std::size_t>(values_per_record_));
    stream_.read(reinterpret_cast<char*>(values_.data()),
                 static_cast<std::streamsize>(values_.size() * sizeof(double)));
    if (!stream_) throw failure(fmt::format("record {} cannot be read", read_));
    const double round = values_[0];
    const double gossip_step = values_[1];
    const bool begins = read_ == 0;
    const bool same_round = !begins && gossip_step_ + 1 < gossip_steps_;
    const bool follows = begins ? round >= 0 && round == std::floor(round) && round <= 0x1p53
                                : round == (same_round ? round_ : round_ + 1);
    if (!follows || gossip_step != (same_round ? gossip_step_ + 1 : 0))
        throw failure(fmt::format(
            "record {} is of round {}, gossip step {}{}",
            read_,
            round,
            gossip_step,
            begins ? std::string()
                   : fmt::format(", after round {}, gossip step {}", round_, gossip_step_)));
    round_ = round;
    gossip_step_ = gossip_step;
    require_finite({values_.data(), static_cast<std::size_t>(record_prefix)});
    ++read_;
    return values_;
}

void RecordingFileReader::require_finite(std::span<const double> values) const {
    if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
        throw failure(
            fmt::format("record of round {}, gossip step {} holds a value that is not finite",
                        round_,
                        gossip_step_));
}

}  // namespace sotto
