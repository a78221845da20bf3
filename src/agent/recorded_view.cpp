#include "sotto/agent/recorded_view.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view magic = "SOTTOVW1";
constexpr std::string_view end_mark = "SOTTOEND";
constexpr std::size_t number_bytes = sizeof(std::uint64_t);
constexpr std::size_t preamble_bytes = 8 + number_bytes;
constexpr std::size_t end_bytes = 8 + number_bytes;
constexpr Eigen::Index own_vectors = 4;  // before, gradient, noise, message

constexpr NameTable<Received, 3> received_names{
    {{{Received::messages, "messages"}, {Received::sum, "sum"}, {Received::mean, "mean"}}}};

ConfigError unwritable(const fs::path& path, int reason) {
    return ConfigError(fmt::format(
        "record-view: {} cannot be written ({})", path.string(), std::strerror(reason)));
}

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

fs::path folder_of(const fs::path& folder, int agent) {
    const fs::path own = folder / std::to_string(agent);
    std::error_code failure;
    fs::create_directories(own, failure);
    if (!failure) fs::permissions(own, fs::perms::owner_all, failure);
    if (failure) throw unwritable(own, failure.value());
    return own;
}

/// A new file that only its owner can read.
File create_private(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) throw unwritable(path, errno);
    return File(::fdopen(descriptor, "wb"));
}

void append(std::FILE* file, const fs::path& path, const void* bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, file) != size) throw unwritable(path, errno);
}

std::string header_bytes(const ViewHeader& header) {
    Json json;
    json["format"] = "sotto-view";
    json["version"] = 1;
    json["agent"] = header.agent;
    json["agents"] = header.agents;
    json["dimension"] = header.dimension;
    json["neighbours"] = header.neighbours;
    json["received"] = received_names.name_of(header.received);
    json["key_epoch"] = header.key_epoch;
    json["plan_hash"] = header.plan_hash;
    json["values_per_round"] = header.values_per_round();
    std::string text = json.dump();
    // Rounds start at a multiple of 64 bytes.
    text.append(63 - (preamble_bytes + text.size()) % 64, ' ');
    text += '\n';
    const std::uint64_t size = text.size();
    std::string bytes(magic);
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    return bytes + text;
}

ViewHeader parse_header(const std::string& text, const std::string& file) {
    const auto fail = [&](const std::string& reason) {
        return DataError(fmt::format("{}: not a usable recorded view ({})", file, reason));
    };
    ViewHeader header;
    Eigen::Index values = 0;
    std::string received;
    try {
        const Json json = json_from_text<Json>(text);
        if (json.at("format") != "sotto-view") throw DataError("it has another format");
        if (json.at("version") != 1) throw DataError("only version 1 is read");
        header.agent = integer_from_json<int>(json.at("agent"));
        header.agents = integer_from_json<int>(json.at("agents"));
        header.dimension = integer_from_json<Eigen::Index>(json.at("dimension"));
        for (const auto& neighbour : json.at("neighbours").get_ref<const Json::array_t&>())
            header.neighbours.push_back(integer_from_json<int>(neighbour));
        header.key_epoch = integer_from_json<std::uint32_t>(json.at("key_epoch"));
        header.plan_hash = json.at("plan_hash").get<std::string>();
        values = integer_from_json<Eigen::Index>(json.at("values_per_round"));
        received = json.at("received").get<std::string>();
    } catch (const std::exception& error) {
        throw fail(fmt::format("its header cannot be read: {}", error.what()));
    }
    try {
        header.received = received_names.parse("received", received);
    } catch (const ConfigError& error) {
        throw fail(error.what());
    }
    constexpr Eigen::Index largest_dimension = Eigen::Index{1} << 40;
    if (header.agent < 0 || header.agent >= header.agents)
        throw fail(fmt::format("agent {} of {}", header.agent, header.agents));
    if (header.dimension < 1 || header.dimension > largest_dimension)
        throw fail(fmt::format("dimension {}", header.dimension));
    for (std::size_t j = 0; j < header.neighbours.size(); ++j) {
        const int neighbour = header.neighbours[j];
        if (neighbour < 0 || neighbour >= header.agents || neighbour == header.agent ||
            (j > 0 && header.neighbours[j - 1] >= neighbour))
            throw fail(fmt::format("neighbour {} of agent {}", neighbour, header.agent));
    }
    // So that the number of bytes of a round fits in 64 bits.
    constexpr std::size_t most_neighbours = std::size_t{1} << 19;
    if (header.neighbours.size() > most_neighbours)
        throw fail(fmt::format("{} neighbours", header.neighbours.size()));
    if (values != header.values_per_round())
        throw fail(
            fmt::format("{} values a round announced, {} follow from its dimension and "
                        "neighbours",
                        values,
                        header.values_per_round()));
    return header;
}

RecordedRound unpack(const std::vector<double>& values, const ViewHeader& header) {
    RecordedRound round;
    const double* at = values.data();
    const auto take = [&](Eigen::Index count) {
        const double* const begin = at;
        at += count;
        return Eigen::Map<const Eigen::VectorXd>(begin, count);
    };
    round.round = static_cast<long>(*at++);
    round.step_size = *at++;
    round.mixing_row = take(static_cast<Eigen::Index>(header.neighbours.size()) + 1);
    for (auto* vector : {&round.before, &round.gradient, &round.noise, &round.message})
        *vector = take(header.dimension);
    round.received = Eigen::Map<const Eigen::MatrixXd>(at, header.dimension, header.columns());
    return round;
}

}  // namespace

Eigen::Index ViewHeader::columns() const {
    return received == Received::messages ? static_cast<Eigen::Index>(neighbours.size()) : 1;
}

Eigen::Index ViewHeader::values_per_round() const {
    return 2 + static_cast<Eigen::Index>(neighbours.size()) + 1 +
           dimension * (own_vectors + columns());
}

struct ViewRecorder::View {
    ViewHeader header;
    fs::path path;
    File file;
    std::vector<double> values;  // of the round under way
    std::uint64_t rounds = 0;

    [[nodiscard]] double* row() { return values.data() + 2; }
    [[nodiscard]] double* vectors() { return row() + header.neighbours.size() + 1; }
    [[nodiscard]] double* received(Eigen::Index column) {
        return vectors() + (own_vectors + column) * header.dimension;
    }
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
        auto view = std::make_unique<View>();
        ViewHeader& header = view->header;
        header.agent = agent;
        header.agents = graph.agents();
        header.dimension = setup.dimension;
        const auto neighbours = graph.neighbours(agent);
        header.neighbours.assign(neighbours.begin(), neighbours.end());
        header.received = setup.received;
        header.key_epoch = setup.key_epoch;
        header.plan_hash = to_hex(plan.hash());
        view->values.resize(static_cast<std::size_t>(header.values_per_round()));
        view->path = folder_of(folder, agent) / "view.bin";
        view->file = create_private(view->path);
        const std::string bytes = header_bytes(header);
        append(view->file.get(), view->path, bytes.data(), bytes.size());
        views_[a] = std::move(view);
    }
}

ViewRecorder::~ViewRecorder() = default;

void ViewRecorder::on_message(long round, std::size_t local_index, const OwnRound& own) {
    View* const view = views_[local_index].get();
    if (view == nullptr) return;
    view->values[0] = static_cast<double>(round);
    view->values[1] = own.step_size;
    std::ranges::copy(own.mixing_row, view->row());
    double* target = view->vectors();
    for (const auto* vector : {&own.before, &own.gradient, &own.noise, &own.message}) {
        Eigen::Map<Eigen::VectorXd>(target, view->header.dimension) = *vector;
        target += view->header.dimension;
    }
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
    for (std::size_t j = 0; j < neighbours.size(); ++j)
        std::copy_n(columns[j < own ? j : j + 1],
                    count,
                    view->received(static_cast<Eigen::Index>(j)) + first);
}

void ViewRecorder::on_sum(long /*round*/,
                          std::size_t local_index,
                          Eigen::Index first,
                          std::span<const double> sum) {
    View* const view = views_[local_index].get();
    if (view != nullptr) std::ranges::copy(sum, view->received(0) + first);
}

void ViewRecorder::on_mixed(long /*round*/, std::size_t local_index) {
    View* const view = views_[local_index].get();
    if (view == nullptr) return;
    append(view->file.get(), view->path, view->values.data(), view->values.size() * sizeof(double));
    if (std::fflush(view->file.get()) != 0) throw unwritable(view->path, errno);
    ++view->rounds;
}

void ViewRecorder::finish() {
    for (const auto& view : views_) {
        if (!view || !view->file) continue;
        append(view->file.get(), view->path, end_mark.data(), end_mark.size());
        append(view->file.get(), view->path, &view->rounds, sizeof view->rounds);
        if (std::fclose(view->file.release()) != 0) throw unwritable(view->path, errno);
    }
}

void record_seeds(const fs::path& folder, const NoisePlan& plan, const KeyRing& ring) {
    Json json;
    json["format"] = "sotto-seeds";
    json["agent"] = ring.agent();
    json["plan_hash"] = to_hex(plan.hash());
    json["seeds"] = Json::array();
    for (const int group : ring.groups())
        json["seeds"].push_back({{"group", group},
                                 {"members", plan.groups[static_cast<std::size_t>(group)].members},
                                 {"seed", to_hex(ring.seed(group).bytes())}});
    const std::string text = json.dump(2) + "\n";
    const fs::path path = folder_of(folder, ring.agent()) / "seeds.json";
    const File file = create_private(path);
    append(file.get(), path, text.data(), text.size());
    if (std::fflush(file.get()) != 0) throw unwritable(path, errno);
}

RecordedView read_recorded_view(const fs::path& file) {
    const auto fail = [&](const std::string& reason) {
        return DataError(fmt::format("{}: not a usable recorded view ({})", file.string(), reason));
    };
    std::error_code failure;
    const std::uint64_t size = fs::file_size(file, failure);
    std::ifstream stream(file, std::ios::binary);
    if (failure || !stream)
        throw DataError(fmt::format(
            "{}: cannot be read ({})", file.string(), failure ? failure.message() : "not a file"));
    std::array<char, preamble_bytes> preamble{};
    stream.read(preamble.data(), preamble.size());
    if (!stream || std::string_view(preamble.data(), magic.size()) != magic)
        throw fail(fmt::format("it does not start with {}", magic));
    std::uint64_t header_size = 0;
    std::memcpy(&header_size, preamble.data() + magic.size(), sizeof header_size);
    if (header_size > size - preamble_bytes) throw fail("its header is cut short");
    std::string text(header_size, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));

    RecordedView view;
    view.header = parse_header(text, file.string());
    std::vector<double> values;
    const std::uint64_t record_bytes =
        static_cast<std::uint64_t>(view.header.values_per_round()) * sizeof(double);
    const std::uint64_t body = size - preamble_bytes - header_size;
    if (body < end_bytes || (body - end_bytes) % record_bytes != 0) {
        if (body % record_bytes != 0)
            throw fail(
                fmt::format("it is cut short in round {} of the recording", body / record_bytes));
        throw fail(fmt::format("it has no end after {} whole rounds: the run failed or goes on",
                               body / record_bytes));
    }
    const std::uint64_t rounds = (body - end_bytes) / record_bytes;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        values.resize(static_cast<std::size_t>(view.header.values_per_round()));
        stream.read(reinterpret_cast<char*>(values.data()),
                    static_cast<std::streamsize>(record_bytes));
        if (!stream) throw fail(fmt::format("round {} of the recording cannot be read", i));
        if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
            throw fail(
                fmt::format("round {} of the recording holds a value that is not finite", i));
        if (values[0] < 0 || values[0] != std::floor(values[0]) || values[0] > 0x1p53 ||
            (i > 0 && !(values[0] > static_cast<double>(view.rounds.back().round))))
            throw fail(fmt::format("round {} of the recording has number {}", i, values[0]));
        view.rounds.push_back(unpack(values, view.header));
    }
    std::array<char, end_bytes> end{};
    stream.read(end.data(), end.size());
    std::uint64_t counted = 0;
    std::memcpy(&counted, end.data() + end_mark.size(), sizeof counted);
    if (!stream || std::string_view(end.data(), end_mark.size()) != end_mark)
        throw fail(fmt::format("{} does not stand at its end", end_mark));
    if (counted != rounds)
        throw fail(fmt::format("its end counts {} rounds, it holds {}", counted, rounds));
    return view;
}

}  // namespace sotto
