#include "run/manifest.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "run/run_directory.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/host.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

ProcessNote process_note(const Network& network, const std::vector<KeyRing>& rings) {
    ProcessNote note{local_host_name(), network.description(), {}};
    for (const auto& ring : rings)
        for (const int group : ring.groups()) {
            Hasher hasher("sotto.seed-commitment.v1");
            hasher.add_bytes(ring.seed(group).bytes());
            note.commitments.push_back({ring.agent(), group, to_hex(hasher.finish())});
        }
    return note;
}

std::string manifest_json(const Network& network,
                          const Topography& topography,
                          const NoisePlan& plan,
                          const Session& session,
                          const std::optional<Credentials>& credentials,
                          const Membership& members,
                          const std::string& graph_description,
                          const std::string& task_description,
                          const TrainConfig& config,
                          const std::vector<std::string>& process_notes) {
    Json json;
    json["format"] = "sotto-manifest";
    json["version"] = build_version();
    json["commit"] = build_commit();
    json["compiler"] = build_compiler();
    json["processes"] = network.processes();
    json["agents"] = network.agents();
    json["agents_gone"] = members.gone();
    json["graph"] = graph_description;
    json["graph_hash"] = to_hex(topography.graph.hash());
    json["mixing_hash"] = to_hex(topography.mixing_hash());
    json["plan_hash"] = to_hex(plan.hash());
    json["task"] = task_description;
    json["run_id"] = to_hex(session.run_id);
    json["transcript"] = to_hex(session.transcript);
    json["authentication"] = session.authentication();
    json["roster"] = session.roster ? Json(to_hex(*session.roster)) : Json();
    json["public_keys"] = Json::array();
    for (const Announcement& agent : session.announcements) {
        Json key{{"agent", members.number(agent.agent)}, {"ephemeral", to_hex(agent.ephemeral)}};
        key["identity"] = agent.identity ? Json(to_hex(*agent.identity)) : Json();
        if (agent.identity && credentials)
            if (const auto* entry = credentials->roster.find(*agent.identity))
                key["name"] = entry->name;
        json["public_keys"].push_back(std::move(key));
    }
    json["link_encryption"] = network.encrypted() ? "ChaCha20-Poly1305"
                              : network.processes() == 1
                                  ? "none: one process, nothing crosses a wire"
                                  : "off";
    json["secure_sum"] = config.secure_sum;
    json["recorded_views"] = config.record_views;
    json["recorded_wire"] = config.record_wire;
    json["hosts"] = Json::array();
    json["seed_commitments"] = Json::array();
    for (std::size_t p = 0; p < process_notes.size(); ++p) {
        const ProcessNote note = process_note_from_json(process_notes[p], p);
        json["hosts"].push_back(note.host);
        for (const SeedCommitment& commitment : note.commitments) {
            if (commitment.agent < 0 || commitment.agent >= members.size())
                throw NetworkError(fmt::format(
                    "rank {} sent a note about agent {}, who is not there", p, commitment.agent));
            json["seed_commitments"].push_back({{"agent", members.number(commitment.agent)},
                                                {"group", commitment.group},
                                                {"blake2b", commitment.blake2b}});
        }
        json["network"] = note.network;
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sotto
