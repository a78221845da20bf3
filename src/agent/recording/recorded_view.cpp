#include "agent/recording/recorded_view.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

Eigen::Index RecordingHeader::column_of(int receiver) const {
    const auto place = std::ranges::find(outputs, receiver);
    return place == outputs.end() ? -1 : place - outputs.begin();
}

RecordingHeader recording_header(int agent,
                                 const Graph& graph,
                                 const NoisePlan& plan,
                                 Eigen::Index dimension,
                                 int gossip_steps,
                                 std::uint32_t key_epoch) {
    RecordingHeader header;
    header.agent = agent;
    header.agents = graph.agents();
    header.dimension = dimension;
    const auto neighbours = graph.neighbours(agent);
    header.neighbours.assign(neighbours.begin(), neighbours.end());
    const auto receivers = graph.closed_neighbourhood(agent);
    header.outputs.assign(receivers.begin(), receivers.end());
    if (plan.same_message_to_all()) header.outputs = {NoiseRow::all_receivers};
    header.gossip_steps = gossip_steps;
    header.key_epoch = key_epoch;
    header.plan_hash = to_hex(plan.hash());
    return header;
}

namespace fs = std::filesystem;

namespace {

constexpr NameTable<Received, 3> received_names{
    {{{Received::messages, "messages"}, {Received::sum, "sum"}, {Received::mean, "mean"}}}};

}  // namespace

struct ViewHeader::Layout {
    explicit Layout(const ViewHeader& header)
        : before(record_prefix + std::ssize(header.neighbours) + 1),
          gradient(before + header.dimension),
          noise(gradient + header.dimension),
          message(noise + header.dimension * std::ssize(header.outputs)),
          received(message + header.dimension * std::ssize(header.outputs)) {}
    Eigen::Index mixing_row = record_prefix, before, gradient, noise, message, received;
};

Eigen::Index ViewHeader::columns() const {
    return received == Received::messages ? std::ssize(neighbours) : 1;
}

Eigen::Index ViewHeader::values_per_record() const {
    return Layout(*this).received + dimension * columns();
}

struct ViewRecorder::View {
    View(const ViewHeader& its_header, const fs::path& folder)
        : header(its_header),
          layout(header),
          file(private_folder(folder, header.agent) / "view.bin",
               view_format,
               header,
               {{"received", received_names.name_of(header.received)}},
               header.values_per_record()) {}
    ViewHeader header;
    ViewHeader::Layout layout;
    RecordingFileWriter file;
};

ViewRecorder::ViewRecorder(const fs::path& folder,
                           std::span<const int> local_agents,
                           std::span<const int> recorded,
                           const Graph& graph,
                           const NoisePlan& plan,
                           const Setup& setup) {
    views_.resize(local_agents.size());
    for (std::size_t a = 0; a < local_agents.size(); ++a) {
        const int agent = local_agents[a];
        if (std::ranges::find(recorded, agent) == recorded.end()) continue;
        ViewHeader header{
            recording_header(
                agent, graph, plan, setup.dimension, setup.gossip_steps, setup.key_epoch),
            setup.received};
        views_[a] = std::make_unique<View>(header, folder);
    }
}

ViewRecorder::~ViewRecorder() = default;

void ViewRecorder::on_message(long round, std::size_t local_index, const OwnRound& own) {
    View* const view = views_[local_index].get();
    if (view == nullptr) return;
    const Eigen::Index dimension = view->header.dimension;
    const Eigen::Index output = view->header.column_of(own.receiver);
    if (output < 0)
        throw Error(ExitCode::other,
                    fmt::format("recorded view of agent {}: no place for a message to {}",
                                view->header.agent,
                                own.receiver));
    const Eigen::Index column = dimension * output;
    view->file.begin(round, own.gossip_step, own.step_size);
    std::ranges::copy(own.mixing_row, view->file.values(view->layout.mixing_row));
    copy_or_zero(own.before, view->file.values(view->layout.before), dimension);
    copy_or_zero(own.gradient, view->file.values(view->layout.gradient), dimension);
    copy_or_zero(own.noise, view->file.values(view->layout.noise + column), dimension);
    copy_or_zero(own.message, view->file.values(view->layout.message + column), dimension);
}

void ViewRecorder::on_received(long /*round*/,
                               std::size_t local_index,
                               Eigen::Index first,
                               Eigen::Index count,
                               std::span<const double* const> columns) {
    View* const view = views_[local_index].get();
    if (view == nullptr) return;
    const auto& neighbours = view->header.neighbours;
    const auto own = static_cast<std::size_t>(
        std::ranges::lower_bound(neighbours, view->header.agent) - neighbours.begin());
    for (std::size_t j = 0; j < neighbours.size(); ++j) {
        const double* const source = columns[j < own ? j : j + 1];
        double* const target = view->file.values(
            view->layout.received + view->header.dimension * static_cast<Eigen::Index>(j) + first);
        if (source == nullptr)
            std::fill_n(target, count, 0.0);
        else
            std::copy_n(source, count, target);
    }
}

void ViewRecorder::on_sum(long /*round*/,
                          std::size_t local_index,
                          Eigen::Index first,
                          std::span<const double> sum) {
    View* const view = views_[local_index].get();
    if (view != nullptr) std::ranges::copy(sum, view->file.values(view->layout.received + first));
}

void ViewRecorder::on_mixed(long /*round*/, std::size_t local_index) {
    if (views_[local_index]) views_[local_index]->file.append();
}

void ViewRecorder::finish() {
    for (const auto& view : views_)
        if (view) view->file.finish();
}

RecordedViewReader::RecordedViewReader(const fs::path& file)
    : file_(std::make_unique<RecordingFileReader>(file, view_format)) {
    static_cast<RecordingHeader&>(header_) = file_->common_header(true);
    header_.received = file_->name_in_header(received_names, "received");
    file_->expect_records(header_.values_per_record(), header_.gossip_steps);
}

RecordedViewReader::RecordedViewReader(RecordedViewReader&&) noexcept = default;
RecordedViewReader::~RecordedViewReader() = default;

std::uint64_t RecordedViewReader::records() const { return file_->records(); }

bool RecordedViewReader::next(RecordedRound& record) {
    const std::span<const double> values = file_->next();
    if (values.empty()) return false;
    file_->require_finite(values);
    const ViewHeader::Layout layout(header_);
    const auto matrix = [&](Eigen::Index first, Eigen::Index rows, Eigen::Index columns) {
        return Eigen::Map<const Eigen::MatrixXd>(values.data() + first, rows, columns);
    };
    const Eigen::Index d = header_.dimension;
    const Eigen::Index outputs = std::ssize(header_.outputs);
    record.round = static_cast<long>(values[0]);
    record.gossip_step = static_cast<int>(values[1]);
    record.step_size = values[2];
    record.mixing_row = matrix(layout.mixing_row, std::ssize(header_.neighbours) + 1, 1);
    record.before = matrix(layout.before, d, 1);
    record.gradient = matrix(layout.gradient, d, 1);
    record.noise = matrix(layout.noise, d, outputs);
    record.message = matrix(layout.message, d, outputs);
    record.received = matrix(layout.received, d, header_.columns());
    return true;
}

RecordedView read_recorded_view(const fs::path& file) {
    RecordedViewReader reader(file);
    RecordedView view{reader.header(), {}};
    for (RecordedRound record; reader.next(record);) view.records.push_back(std::move(record));
    return view;
}

namespace fs = std::filesystem;

namespace {

[[noreturn]] void throw_unrecorded(const fs::path& path, int reason) {
    throw_write_failure(
        fmt::format("record-view: {} cannot be written ({})", path.string(), std::strerror(reason)),
        reason);
}

}  // namespace

fs::path private_folder(const fs::path& folder, int agent) {
    const fs::path own = folder / std::to_string(agent);
    std::error_code failure = make_private_folder(own);
    if (!failure) fs::permissions(own, fs::perms::owner_all, failure);
    if (failure) throw_unrecorded(own, failure.value());
    return own;
}

PrivateFile::PrivateFile(fs::path path) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) throw_unrecorded(path_, errno);
    file_.reset(::fdopen(descriptor, "wb"));
}

void PrivateFile::append(const void* bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, file_.get()) != size) throw_unrecorded(path_, errno);
}

void PrivateFile::flush() {
    if (std::fflush(file_.get()) != 0) throw_unrecorded(path_, errno);
}

void PrivateFile::close() {
    if (std::fclose(file_.release()) != 0) throw_unrecorded(path_, errno);
}

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view end_mark = "SOTTOEND";
constexpr std::size_t number_bytes = sizeof(std::uint64_t);
constexpr std::size_t preamble_bytes = view_format.magic.size() + number_bytes;
static_assert(wire_format.magic.size() == view_format.magic.size());
constexpr std::size_t end_bytes = end_mark.size() + number_bytes;

// Keep the size of a record within 64 bits, and a header within memory.
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

long RecordingFileReader::number_in_header(const char* field, long least, long most) const try {
    return header_->root().at(field).integer<long>(least, most);
} catch (const std::exception& error) {
    throw failure(fmt::format("its header cannot be read: {}", error.what()));
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
            "{} values per record are announced, {} follow from its header", announced, values));
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
