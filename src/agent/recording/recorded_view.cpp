#include "sotto/agent/recording/recorded_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "recording_file.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

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

}  // namespace sotto
