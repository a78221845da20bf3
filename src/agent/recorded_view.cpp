#include "sotto/agent/recorded_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "record_file.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr NameTable<Received, 3> received_names{
    {{{Received::messages, "messages"}, {Received::sum, "sum"}, {Received::mean, "mean"}}}};
constexpr NameTable<WireContent, 2> content_names{
    {{{WireContent::messages, "messages"}, {WireContent::shares, "shares"}}}};

RecordingHeader header_of(int agent,
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

/// Column of a receiver's message; none (-1) where no column is for it.
Eigen::Index column_of(const RecordingHeader& header, int receiver) {
    const auto place = std::ranges::find(header.outputs, receiver);
    return place == header.outputs.end() ? -1 : place - header.outputs.begin();
}

Eigen::Index count_of(const std::vector<int>& agents) {
    return static_cast<Eigen::Index>(agents.size());
}

/// Zeros where there is nothing.
void put(const Eigen::Ref<const Eigen::VectorXd>& vector, double* target, Eigen::Index dimension) {
    if (vector.size() == 0)
        std::fill_n(target, dimension, 0.0);
    else
        Eigen::Map<Eigen::VectorXd>(target, dimension) = vector;
}

/// Where the parts of a record of a view stand.
struct ViewLayout {
    explicit ViewLayout(const ViewHeader& header)
        : before(record_prefix + count_of(header.neighbours) + 1),
          gradient(before + header.dimension),
          noise(gradient + header.dimension),
          message(noise + header.dimension * count_of(header.outputs)),
          received(message + header.dimension * count_of(header.outputs)) {}
    Eigen::Index mixing_row = record_prefix, before, gradient, noise, message, received;
};

template <class Enum, std::size_t count>
Enum read_name(const RecordFileReader& file,
               const NameTable<Enum, count>& names,
               const char* field) {
    try {
        return names.parse(field, file.header().at(field).template get<std::string>());
    } catch (const std::exception& error) {
        throw file.failure(error.what());
    }
}

}  // namespace

Eigen::Index ViewHeader::columns() const {
    return received == Received::messages ? count_of(neighbours) : 1;
}

Eigen::Index ViewHeader::values_per_record() const {
    return ViewLayout(*this).received + dimension * columns();
}

Eigen::Index WireHeader::values_per_record() const {
    return record_prefix +
           dimension * count_of(content == WireContent::shares ? neighbours : outputs);
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
    ViewLayout layout;
    RecordFileWriter file;
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
            header_of(agent, graph, plan, setup.dimension, setup.gossip_steps, setup.key_epoch),
            setup.received};
        views_[a] = std::make_unique<View>(header, folder);
    }
}

ViewRecorder::~ViewRecorder() = default;

void ViewRecorder::on_message(long round, std::size_t local_index, const OwnRound& own) {
    View* const view = views_[local_index].get();
    if (view == nullptr) return;
    const Eigen::Index dimension = view->header.dimension;
    const Eigen::Index output = column_of(view->header, own.receiver);
    if (output < 0)
        throw Error(ExitCode::other,
                    fmt::format("recorded view of agent {}: no place for a message to {}",
                                view->header.agent,
                                own.receiver));
    const Eigen::Index column = dimension * output;
    view->file.begin(round, own.gossip_step, own.step_size);
    std::ranges::copy(own.mixing_row, view->file.values(view->layout.mixing_row));
    put(own.before, view->file.values(view->layout.before), dimension);
    put(own.gradient, view->file.values(view->layout.gradient), dimension);
    put(own.noise, view->file.values(view->layout.noise + column), dimension);
    put(own.message, view->file.values(view->layout.message + column), dimension);
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

struct WireRecorder::Wire {
    Wire(const WireHeader& its_header, const fs::path& folder)
        : header(its_header),
          file(private_folder(folder, header.agent) / "messages.bin",
               wire_format,
               header,
               {{"content", content_names.name_of(header.content)}},
               header.values_per_record()) {}
    /// Coordinate `first` of a column.
    [[nodiscard]] double* values(Eigen::Index column, Eigen::Index first) {
        return file.values(record_prefix + header.dimension * column + first);
    }
    WireHeader header;
    RecordFileWriter file;
};

WireRecorder::WireRecorder(const fs::path& folder,
                           std::span<const int> local_agents,
                           const Graph& graph,
                           const NoisePlan& plan,
                           const Setup& setup) {
    for (const int agent : local_agents) {
        WireHeader header{
            header_of(agent, graph, plan, setup.dimension, setup.gossip_steps, setup.key_epoch),
            setup.content};
        if (!plan.same_message_to_all() || setup.content == WireContent::shares)
            header.outputs = header.neighbours;
        wires_.push_back(std::make_unique<Wire>(header, folder));
    }
}

WireRecorder::~WireRecorder() = default;

void WireRecorder::on_message(long round, std::size_t local_index, const OwnRound& own) {
    Wire& wire = *wires_[local_index];
    wire.file.begin(round, own.gossip_step, own.step_size);
    if (wire.header.content == WireContent::shares) return;
    const Eigen::Index column = column_of(wire.header, own.receiver);
    if (column < 0) return;  // the copy it keeps
    if (own.sent)
        put(own.message, wire.values(column, 0), wire.header.dimension);
    else
        std::fill_n(wire.values(column, 0), wire.header.dimension, 0.0);
}

void WireRecorder::on_share(long /*round*/,
                            int /*gossip_step*/,
                            std::size_t local_index,
                            std::size_t neighbour,
                            Eigen::Index first,
                            std::span<const std::uint64_t> words) {
    std::memcpy(wires_[local_index]->values(static_cast<Eigen::Index>(neighbour), first),
                words.data(),
                words.size_bytes());
}

void WireRecorder::on_mixed(long /*round*/, std::size_t local_index) {
    wires_[local_index]->file.append();
}

void WireRecorder::finish() {
    for (const auto& wire : wires_) wire->file.finish();
}

RecordedViewReader::RecordedViewReader(const fs::path& file)
    : file_(std::make_unique<RecordFileReader>(file, view_format)) {
    static_cast<RecordingHeader&>(header_) = file_->common_header(true);
    header_.received = read_name(*file_, received_names, "received");
    file_->expect_records(header_.values_per_record(), header_.gossip_steps);
}

RecordedViewReader::RecordedViewReader(RecordedViewReader&&) noexcept = default;
RecordedViewReader::~RecordedViewReader() = default;

std::uint64_t RecordedViewReader::records() const { return file_->records(); }

bool RecordedViewReader::next(RecordedRound& record) {
    const std::span<const double> values = file_->next();
    if (values.empty()) return false;
    file_->require_finite(values);
    const ViewLayout layout(header_);
    const auto matrix = [&](Eigen::Index first, Eigen::Index rows, Eigen::Index columns) {
        return Eigen::Map<const Eigen::MatrixXd>(values.data() + first, rows, columns);
    };
    const Eigen::Index d = header_.dimension;
    const Eigen::Index outputs = count_of(header_.outputs);
    record.round = static_cast<long>(values[0]);
    record.gossip_step = static_cast<int>(values[1]);
    record.step_size = values[2];
    record.mixing_row = matrix(layout.mixing_row, count_of(header_.neighbours) + 1, 1);
    record.before = matrix(layout.before, d, 1);
    record.gradient = matrix(layout.gradient, d, 1);
    record.noise = matrix(layout.noise, d, outputs);
    record.message = matrix(layout.message, d, outputs);
    record.received = matrix(layout.received, d, header_.columns());
    return true;
}

WireReader::WireReader(const fs::path& file)
    : file_(std::make_unique<RecordFileReader>(file, wire_format)) {
    static_cast<RecordingHeader&>(header_) = file_->common_header(false);
    header_.content = read_name(*file_, content_names, "content");
    if (header_.content == WireContent::shares && header_.outputs != header_.neighbours)
        throw file_->failure("its shares are not for each neighbour");
    file_->expect_records(header_.values_per_record(), header_.gossip_steps);
}

WireReader::WireReader(WireReader&&) noexcept = default;
WireReader::~WireReader() = default;

std::uint64_t WireReader::records() const { return file_->records(); }

bool WireReader::next(WireRecord& record) {
    const std::span<const double> values = file_->next();
    if (values.empty()) return false;
    record.round = static_cast<long>(values[0]);
    record.gossip_step = static_cast<int>(values[1]);
    record.step_size = values[2];
    const std::span<const double> content = values.subspan(record_prefix);
    const Eigen::Index columns = count_of(header_.outputs);
    if (header_.content == WireContent::messages) {
        file_->require_finite(content);
        record.messages =
            Eigen::Map<const Eigen::MatrixXd>(content.data(), header_.dimension, columns);
        return true;
    }
    record.shares.resize(header_.dimension, columns);
    if (!content.empty()) std::memcpy(record.shares.data(), content.data(), content.size_bytes());
    return true;
}

RecordedView read_recorded_view(const fs::path& file) {
    RecordedViewReader reader(file);
    RecordedView view{reader.header(), {}};
    for (RecordedRound record; reader.next(record);) view.records.push_back(std::move(record));
    return view;
}

}  // namespace sotto
