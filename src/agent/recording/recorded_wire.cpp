#include "agent/recording/recorded_wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "agent/recording/recorded_view.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr NameTable<WireContent, 3> content_names{{{{WireContent::messages, "messages"},
                                                    {WireContent::shares, "shares"},
                                                    {WireContent::steps, "steps"}}}};
constexpr long most_step_rounds = 1000000;

}  // namespace

Eigen::Index WireHeader::values_per_record() const {
    if (content == WireContent::steps) return record_prefix + rounds + dimension;
    return record_prefix +
           dimension * std::ssize(content == WireContent::shares ? neighbours : outputs);
}

struct WireRecorder::Wire {
    Wire(const WireHeader& its_header, const fs::path& folder)
        : header(its_header),
          file(private_folder(folder, header.agent) / "messages.bin",
               wire_format,
               header,
               own_fields(header),
               header.values_per_record()) {}
    static nlohmann::ordered_json own_fields(const WireHeader& header) {
        nlohmann::ordered_json json{{"content", content_names.name_of(header.content)}};
        if (header.content == WireContent::steps) json["rounds"] = header.rounds;
        return json;
    }
    /// Coordinate `first` of a column.
    [[nodiscard]] double* values(Eigen::Index column, Eigen::Index first) {
        return file.values(record_prefix + header.dimension * column + first);
    }
    /// Steps: empty records up to this round.
    void pass_rounds(long round) {
        for (; next_round < round; ++next_round) {
            file.begin(next_round, 0, 0);
            std::fill_n(file.values(record_prefix), header.rounds + header.dimension, 0.0);
            file.append();
        }
    }
    WireHeader header;
    RecordingFileWriter file;
    // Of steps: what has not been sent yet.
    long next_round = 0;
    Eigen::VectorXd holds, step;
};

WireRecorder::WireRecorder(const fs::path& folder,
                           std::span<const int> local_agents,
                           const Graph& graph,
                           const NoisePlan& plan,
                           const Setup& setup) {
    for (const int agent : local_agents) {
        WireHeader header{
            recording_header(
                agent, graph, plan, setup.dimension, setup.gossip_steps, setup.key_epoch),
            setup.content,
            setup.rounds};
        if (setup.content == WireContent::steps) header.gossip_steps = 1;
        if (!plan.same_message_to_all() || setup.content == WireContent::shares)
            header.outputs = header.neighbours;
        wires_.push_back(std::make_unique<Wire>(header, folder));
    }
}

WireRecorder::~WireRecorder() = default;

void WireRecorder::add_step(Wire& wire, long round, const OwnRound& own) {
    if (own.gossip_step != 0) return;  // of mixed models, which are known
    const WireHeader& header = wire.header;
    if (wire.holds.size() == 0) {
        wire.holds = Eigen::VectorXd::Zero(header.rounds);
        wire.step = Eigen::VectorXd::Zero(header.dimension);
    }
    for (const long owed : own.owed) wire.holds(owed) = 1;
    wire.holds(round) = 2;
    wire.step += own.before - own.message;
    if (!own.sent) return;
    wire.pass_rounds(round);
    wire.file.begin(round, 0, own.step_size);
    std::ranges::copy(wire.holds, wire.file.values(record_prefix));
    std::ranges::copy(wire.step, wire.values(0, header.rounds));
    wire.file.append();
    wire.next_round = round + 1;
    wire.holds.setZero();
    wire.step.setZero();
}

void WireRecorder::on_message(long round, std::size_t local_index, const OwnRound& own) {
    Wire& wire = *wires_[local_index];
    if (wire.header.content == WireContent::steps) {
        add_step(wire, round, own);
        return;
    }
    wire.file.begin(round, own.gossip_step, own.step_size);
    if (wire.header.content == WireContent::shares) return;
    const Eigen::Index column = wire.header.column_of(own.receiver);
    if (column < 0) return;  // its own copy
    if (own.sent)
        copy_or_zero(own.message, wire.values(column, 0), wire.header.dimension);
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
    Wire& wire = *wires_[local_index];
    if (wire.header.content != WireContent::steps) wire.file.append();
}

void WireRecorder::finish() {
    for (const auto& wire : wires_) {
        if (wire->header.content == WireContent::steps) wire->pass_rounds(wire->header.rounds);
        wire->file.finish();
    }
}

WireReader::WireReader(const fs::path& file)
    : file_(std::make_unique<RecordingFileReader>(file, wire_format)) {
    static_cast<RecordingHeader&>(header_) = file_->common_header(false);
    header_.content = file_->name_in_header(content_names, "content");
    if (header_.content == WireContent::shares && header_.outputs != header_.neighbours)
        throw file_->failure("its shares are not for each neighbour");
    if (header_.content == WireContent::steps)
        header_.rounds = file_->number_in_header("rounds", 1, most_step_rounds);
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
    const Eigen::Index columns = std::ssize(header_.outputs);
    if (header_.content != WireContent::shares) file_->require_finite(content);
    if (header_.content == WireContent::steps) {
        record.holds = Eigen::Map<const Eigen::VectorXd>(content.data(), header_.rounds);
        record.messages = Eigen::Map<const Eigen::MatrixXd>(
            content.data() + header_.rounds, header_.dimension, 1);
        return true;
    }
    if (header_.content == WireContent::messages) {
        record.messages =
            Eigen::Map<const Eigen::MatrixXd>(content.data(), header_.dimension, columns);
        return true;
    }
    record.shares.resize(header_.dimension, columns);
    if (!content.empty()) std::memcpy(record.shares.data(), content.data(), content.size_bytes());
    return true;
}

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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
    PrivateFile file(private_folder(folder, ring.agent()) / "seeds.json");
    file.append(text.data(), text.size());
    file.close();
}

KeyRing read_recorded_seeds(const fs::path& file, const NoisePlan& plan) {
    const std::string text = read_file(file);
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        if (json.at("format").text() != "sotto-seeds") throw DataError("it has another format");
        if (json.at("plan_hash").text() != to_hex(plan.hash()))
            throw DataError("they are of another noise plan");
        const int agent = json.at("agent").integer<int>();
        if (agent < 0 || agent >= plan.agents)
            throw DataError(fmt::format("agent {} of {}", agent, plan.agents));
        const std::vector<int> groups = groups_of_agents(plan)[static_cast<std::size_t>(agent)];
        KeyRing ring(agent);
        int last = -1;
        for (const JsonValue& entry : json.at("seeds").items()) {
            const int group = entry.at("group").integer<int>();
            if (group <= last || group >= static_cast<int>(plan.groups.size()))
                throw DataError(
                    fmt::format("seed of group {} after {}: groups ascend, and the plan has {}",
                                group,
                                last,
                                plan.groups.size()));
            last = group;
            if (entry.at("members").integers() !=
                plan.groups[static_cast<std::size_t>(group)].members)
                throw DataError(
                    fmt::format("members of group {} are not those of the plan", group));
            std::array<std::uint8_t, SecretKey::size> bytes{};
            if (!from_hex(entry.at("seed").text(), bytes))
                throw DataError(fmt::format(
                    "seed of group {} is not {} hexadecimal digits", group, 2 * SecretKey::size));
            ring.add(group, SecretKey::from_bytes(bytes));
        }
        for (const int group : groups)
            if (!ring.holds(group))
                throw DataError(fmt::format(
                    "the seed of group {}, to which agent {} belongs, is missing", group, agent));
        return ring;
    } catch (const DataError& error) {
        throw DataError(
            fmt::format("{}: not usable recorded seeds ({})", file.string(), error.what()));
    }
}

}  // namespace sotto
