#include "training/manifest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json_value.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/host.hpp"
#include "store/directory_secrets.hpp"
#include "tasks/model_card.hpp"

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

/// Files that all read, with a commitment that shows nothing of them: of files of its own an agent
/// keeps all to itself.
Json data_of(const Run& run) {
    Json files = Json::array();
    for (const FileDigest& file : run.data.shared)
        files.push_back({{"option", file.option}, {"file", file.path}, {"records", file.records}});
    const bool own = !run.data.own.empty();
    return {
        {"files", std::move(files)},
        {"files_of_agents", own},
        {"commitment",
         own || run.data.shared.empty() ? Json() : Json(to_hex(run.data_commitments[0].value))}};
}

/// Which class a label of the data is, ascending.
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
    if (network.encrypted()) return "ChaCha20-Poly1305";
    return network.processes() == 1 ? "none: one process, nothing crosses a wire" : "off";
}

/// @param rank that sent the note.
void add_note(Json& json, const ProcessNote& note, const Membership& members, std::size_t rank) {
    json["hosts"].push_back(note.host);
    if (!note.keys_locked) json["ranks_with_unlocked_keys"].push_back(rank);
    for (const SeedCommitment& commitment : note.commitments) {
        if (commitment.agent < 0 || commitment.agent >= members.size())
            throw NetworkError(fmt::format(
                "rank {} sent a note about agent {}, who is not there", rank, commitment.agent));
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
        if (said[p].empty() || std::cmp_less(first, p)) continue;  // it was stated
        std::string statement = said[p];
        std::ranges::replace_if(
            statement, [](unsigned char c) { return c < ' '; }, ' ');  // it may be a deviator's
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

}  // namespace sotto
