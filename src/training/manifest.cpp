#include "training/manifest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/bytes.hpp"
#include "core/host.hpp"
#include "core/json.hpp"
#include "net/agreement.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "store/run_directory.hpp"
#include "tasks/predictions.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

ProcessNote process_note(const Network& network, const std::vector<KeyRing>& rings) {
    ProcessNote note{local_host_name(), network.description(), secret_keys_locked(), {}};
    for (const auto& ring : rings)
        for (const int group : ring.groups()) {
            Hasher hasher("sotto.seed-commitment.v1");
            hasher.add_bytes(ring.seed(group).bytes());
            note.commitments.push_back({ring.agent(), group, to_hex(hasher.finish())});
        }
    return note;
}

namespace {

Json public_keys(const Run& run) {
    Json keys = Json::array();
    for (const Announcement& agent : run.session.announcements) {
        Json key{{"agent", run.members.number(agent.agent)},
                 {"ephemeral", to_hex(agent.ephemeral)}};
        key["identity"] = agent.identity ? Json(to_hex(*agent.identity)) : Json();
        if (agent.identity && run.credentials)
            if (const auto* entry = run.credentials->roster.find(*agent.identity))
                key["name"] = entry->name;
        keys.push_back(std::move(key));
    }
    return keys;
}

/// Commits to the files that all agents read, revealing nothing of their content. What concerns an
/// agent's own files stays with that agent.
Json data_of(const Run& run) {
    Json files = Json::array();
    for (const FileDigest& file : run.data.shared)
        files.push_back({{"option", file.option}, {"file", file.path}, {"records", file.records}});
    const bool own = !run.data.own.empty();
    return {
        {"files", std::move(files)},
        {"files_of_agents", own},
        {"agent_files", run.file_names},
        {"commitment",
         own || run.data.shared.empty() ? Json() : Json(to_hex(run.data_commitments[0].value))}};
}

/// Label of each class, ascending.
Json classes_of(const DataShape& shape) {
    const LabelSet& labels = shape.labels;
    const bool texts = shape.table && !shape.table->label_names.empty();
    Json classes = Json::array();
    for (std::size_t i = 0; i < labels.size(); ++i)
        classes.push_back({{"label", texts ? Json(shape.table->label_names[i]) : Json(labels[i])},
                           {"class", class_at(i, labels.size())}});
    return classes;
}

std::string link_encryption(const Network& network) {
    if (const auto cipher = network.encryption()) return name_of(*cipher);
    return network.processes() == 1 ? "none: one process, nothing crosses a wire" : "off";
}

/// @param rank sender of the note.
void add_note(Json& json, const ProcessNote& note, const Membership& members, std::size_t rank) {
    json["hosts"].push_back(note.host);
    if (!note.keys_locked) json["ranks_with_unlocked_keys"].push_back(rank);
    for (const SeedCommitment& commitment : note.commitments) {
        if (commitment.agent < 0 || commitment.agent >= members.size())
            throw NetworkError(
                fmt::format("rank {} sent a note about agent {}, which does not take part",
                            rank,
                            commitment.agent));
        json["seed_commitments"].push_back({{"agent", members.number(commitment.agent)},
                                            {"group", commitment.group},
                                            {"blake2b", commitment.blake2b}});
    }
    json["network"] = note.network;
}

}  // namespace

std::string statement_on_unlocked_keys(const std::vector<std::string>& process_notes) {
    int first = -1, count = 0;
    for (std::size_t p = 0; p < process_notes.size(); ++p)
        if (!process_note_from_json(process_notes[p], p).keys_locked && count++ == 0)
            first = static_cast<int>(p);
    if (count == 0) return {};
    return fmt::format(
        "Secret keys of rank {}{} could not be locked in memory and may be written to swap (raise "
        "the "
        "limit: ulimit -l; sotto doctor says how).",
        first,
        count == 1 ? "" : fmt::format(" and {} others", count - 1));
}

std::string manifest_json(const Run& run, const std::vector<std::string>& process_notes) {
    Json json;
    json["format"] = "sotto-manifest";
    json["version"] = build_version();
    json["commit"] = build_commit();
    json["compiler"] = build_compiler();
    json["processes"] = run.network.processes();
    json["agents"] = run.network.agents();
    json["agents_gone"] = run.members.gone();
    json["graph"] = run.graph_description;
    json["graph_hash"] = to_hex(run.topography.graph.hash());
    json["mixing_hash"] = to_hex(run.topography.mixing_hash());
    json["plan_hash"] = to_hex(run.plan.hash());
    json["task"] = run.task_description;
    json["data"] = data_of(run);
    json["classes"] = classes_of(run.shape);
    json["table"] = run.shape.table ? json_of(*run.shape.table) : Json();
    json["run_id"] = to_hex(run.session.run_id);
    json["transcript"] = to_hex(run.session.transcript);
    json["authentication"] = run.session.authentication();
    json["roster"] = run.session.roster ? Json(to_hex(*run.session.roster)) : Json();
    json["public_keys"] = public_keys(run);
    json["link_encryption"] = link_encryption(run.network);
    json["message_precision"] = message_precisions.name_of(run.network.message_precision());
    json["secure_sum"] = run.config.secure_sum;
    json["recorded_views"] = run.config.record_views;
    json["recorded_wire"] = run.config.record_wire;
    json["secret_files"] = Json::array();
    for (const DirectorySecret& secret : directory_secrets(run.config, run.plan))
        json["secret_files"].push_back({{"files", secret.files}, {"reason", secret.reason}});
    json["hosts"] = Json::array();
    json["ranks_with_unlocked_keys"] = Json::array();
    json["seed_commitments"] = Json::array();
    for (std::size_t p = 0; p < process_notes.size(); ++p)
        add_note(json, process_note_from_json(process_notes[p], p), run.members, p);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> gradient_statements(const std::vector<std::string>& said,
                                             const Membership& members,
                                             const std::vector<std::string>& earlier) {
    std::vector<std::string> statements;
    for (std::size_t p = 0; p < said.size(); ++p) {
        const auto first = std::ranges::find(said, said[p]) - said.begin();
        if (said[p].empty() || std::cmp_less(first, p)) continue;  // a repetition
        std::string statement = said[p];
        std::ranges::replace_if(
            statement, [](unsigned char c) { return c < ' '; }, ' ');  // the sender may deviate
        std::vector<int> agents;
        for (std::size_t q = p; q < said.size(); ++q)
            if (said[q] == said[p]) agents.push_back(members.number(static_cast<int>(q)));
        statements.push_back(agents.size() == said.size()
                                 ? std::move(statement)
                                 : fmt::format("Agent{} {}: {}",
                                               agents.size() == 1 ? "" : "s",
                                               fmt::join(agents, ", "),
                                               statement));
    }
    for (const std::string& manifest : earlier) {
        const JsonDocument document(manifest);
        const auto stated = document.root().find("gradients");
        if (!stated) continue;
        for (const JsonValue& statement : stated->items())
            if (std::ranges::find(statements, statement.text()) == statements.end())
                statements.push_back(statement.text());
    }
    return statements;
}

std::string with_gradients(const std::string& manifest,
                           const std::vector<std::string>& statements) {
    Json json = Json::parse(manifest);
    json["gradients"] = statements;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

double peak_memory_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void add_share(RoundSeconds& mean, const RoundSeconds& one, std::size_t of) {
    const double share = 1.0 / static_cast<double>(of);
    mean.gradient += share * one.gradient;
    mean.noise += share * one.noise;
    mean.exchange += share * one.exchange;
    mean.mix += share * one.mix;
}

}  // namespace

std::optional<RoundSeconds> seconds_to_tell(const RoundSeconds& seconds,
                                            const TrainConfig& config,
                                            int processes) {
    if (config.plan.participation.is_secret() && !config.pad_rounds && processes > 1)
        return std::nullopt;
    return seconds;
}

std::optional<double> memory_to_tell(double peak_mib, const TrainConfig& config, int processes) {
    if (config.plan.participation.is_secret() && processes > 1) return std::nullopt;
    return peak_mib;
}

RankFigures own_figures(const Network& network,
                        const Membership& members,
                        const RoundSeconds& seconds,
                        const TrainConfig& config) {
    RankFigures own;
    own.host = local_host_name();
    for (const int place : network.local_agents()) own.agents.push_back(members.number(place));
    own.seconds = seconds_to_tell(seconds, config, network.processes());
    own.bytes_sent = network.bytes_sent();
    own.late = network.late_counts();
    own.peak_memory_mib = memory_to_tell(peak_memory_mib(), config, network.processes());
    return own;
}

std::string to_bytes(const RankFigures& figures) {
    ByteWriter writer;
    writer.put_text(figures.host);
    writer.put(static_cast<std::uint8_t>(figures.seconds.has_value()));
    const RoundSeconds seconds = figures.seconds.value_or(RoundSeconds{});
    for (const double value : {seconds.gradient, seconds.noise, seconds.exchange, seconds.mix})
        writer.put(value);
    writer.put(figures.bytes_sent);
    writer.put(static_cast<std::uint8_t>(figures.peak_memory_mib.has_value()));
    writer.put(figures.peak_memory_mib.value_or(0));
    writer.put(figures.late);
    for (const int agent : figures.agents) writer.put(agent);
    return writer.take();
}

RankFigures rank_figures_from_bytes(std::string_view bytes, std::size_t rank) {
    const std::string source = fmt::format("the figures of rank {}", rank);
    ByteReader reader(bytes, source);
    RankFigures figures;
    figures.host = reader.get_text();
    const bool told = reader.get<std::uint8_t>() != 0;
    RoundSeconds seconds;
    for (double* value : {&seconds.gradient, &seconds.noise, &seconds.exchange, &seconds.mix})
        *value = reader.get<double>();
    if (told) figures.seconds = seconds;
    figures.bytes_sent = reader.get<std::int64_t>();
    const bool memory_told = reader.get<std::uint8_t>() != 0;
    const auto memory = reader.get<double>();
    if (memory_told) figures.peak_memory_mib = memory;
    figures.late = reader.get<LateCounts>();
    while (!reader.done()) figures.agents.push_back(reader.get<int>());
    const LateCounts& late = figures.late;
    const std::int64_t least = std::min({figures.bytes_sent,
                                         late.expected,
                                         late.missing,
                                         late.late,
                                         late.unsent,
                                         late.used_late,
                                         late.skipped,
                                         late.noiseless});
    if (!std::isfinite(seconds.total()) || !std::isfinite(memory) || least < 0)
        throw NetworkError(fmt::format("{} are damaged", source));
    return figures;
}

JobFigures gather_figures(Network& network, const RankFigures& own) {
    const auto all = network.all_gather(
        to_bytes(own), most_line_bytes + sizeof(int) * network.most_agents_of_a_process());
    JobFigures job;
    job.phases.emplace();
    job.peak_memory_mib.emplace(0);
    network.agree([&] {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            const RankFigures& figures =
                job.ranks.emplace_back(rank_figures_from_bytes(all[rank], rank));
            if (!figures.seconds) job.phases.reset();
            if (job.phases) add_share(*job.phases, *figures.seconds, all.size());
            job.bytes_sent += figures.bytes_sent;
            if (!figures.peak_memory_mib) job.peak_memory_mib.reset();
            if (job.peak_memory_mib)
                job.peak_memory_mib = std::max(*job.peak_memory_mib, *figures.peak_memory_mib);
        }
    });
    return job;
}

}  // namespace sotto
