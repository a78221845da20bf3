#include "run/recorded_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "privacy/loss_json.hpp"
#include "run/folders.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

/// Where a sweep keeps what runs revealed, and their directories.
constexpr std::array<std::string_view, 2> folders_of_runs{"runs", "spent"};

double ledger_number(const Json& json, std::string_view key) {
    const Json& value = json.at(std::string(key));
    if (!value.is_number()) throw DataError(fmt::format("'{}' is no number", key));
    return value.get<double>();
}

/// A pure epsilon has no mu. Rounded up: the file has the root of what adds up.
PrivacyLoss recorded_loss(const Json& agent) {
    if (agent.at("infinite").get<bool>()) return PrivacyLoss::gaussian(infinity);
    const double epsilon = ledger_number(agent, "epsilon");
    if (agent.contains("loss")) {
        if (!agent.at("mu").is_null()) throw DataError("the loss of an agent is damaged");
        return loss_from_json(agent.at("loss"));
    }
    const double value = agent.at("mu").is_null() ? epsilon : ledger_number(agent, "mu");
    if (!(value >= 0) || !(epsilon >= 0) || std::isinf(value) || std::isinf(epsilon))
        throw DataError("the loss of an agent is not possible");
    if (agent.at("mu").is_null()) return PrivacyLoss::pure(value);
    return PrivacyLoss::gaussian(value == 0 ? 0 : std::nextafter(value, infinity));
}

std::vector<RecordedAgent> recorded_agents(const Json& ledger) {
    std::vector<RecordedAgent> agents;
    for (const Json& entry : ledger.at("agents")) {
        RecordedAgent& agent = agents.emplace_back();
        agent.number = integer_from_json<int>(entry.at("agent"));
        agent.loss = recorded_loss(entry);
        if (agent.number != static_cast<int>(agents.size()) - 1)
            throw DataError("its agents are not in order");
    }
    if (agents.empty()) throw DataError("it has no agents");
    return agents;
}

std::vector<RecordedPhase> recorded_phases(const Json& ledger) {
    std::vector<RecordedPhase> phases;
    for (const Json& entry : ledger.at("phases"))
        phases.push_back({integer_from_json<long>(entry.at("first_round")),
                          integer_from_json<long>(entry.at("rounds")),
                          integer_from_json<long>(entry.at("key_epoch")),
                          entry.at("plan_hash").get<std::string>()});
    return phases;
}

RecordedLedger recorded_from(const Json& json) {
    if (json.at("format") != "sotto-ledger" || json.at("version") != 1)
        throw DataError("it has another format");
    RecordedLedger ledger;
    ledger.status = json.at("status").get<std::string>();
    ledger.mechanism = json.at("mechanism").get<std::string>();
    ledger.rounds_planned = integer_from_json<long>(json.at("rounds").at("planned"));
    ledger.rounds_accounted = integer_from_json<long>(json.at("rounds").at("accounted"));
    ledger.adjacency = parse_adjacency("adjacency", json.at("adjacency").get<std::string>());
    ledger.delta = ledger_number(json, "delta");
    if (!(ledger.delta >= 0 && ledger.delta < 1)) throw DataError("its delta is not possible");
    ledger.observer = json.at("headline").at("observer").get<std::string>();
    ledger.coalition_size = integer_from_json<int>(json.at("headline").at("coalition_size"));
    ledger.insecure = json.at("noise").at("insecure").get<bool>();
    ledger.phases = recorded_phases(json);
    ledger.agents = recorded_agents(json);
    return ledger;
}

/// Who the agents are.
void add_identities(RecordedLedger& ledger, const Json& manifest) {
    Digest run{};
    ledger.run = manifest.at("run_id").get<std::string>();
    if (!from_hex(ledger.run, run)) throw DataError("'run_id' is damaged");
    for (const Json& entry : manifest.at("public_keys")) {
        const auto number = integer_from_json<std::size_t>(entry.at("agent"));
        if (number >= ledger.agents.size())
            throw DataError("it has a key of an agent that the ledger does not know");
        if (entry.at("identity").is_null()) continue;
        RecordedAgent& agent = ledger.agents[number];
        agent.identity = entry.at("identity").get<std::string>();
        agent.name = entry.value("name", std::string());
        if (!from_hex(*agent.identity, run)) throw DataError("an identity is damaged");
    }
}

/// @param read takes the parsed text.
template <class Read>
void read_text(std::string_view text, const fs::path& file, Read&& read) {
    try {
        read(json_from_text<Json>(text));
    } catch (const nlohmann::json::exception& error) {
        throw DataError(fmt::format("{}: it is damaged ({})", file.string(), error.what()));
    } catch (const Error& error) {
        throw DataError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

bool holds_ledger(const fs::path& directory) {
    std::error_code missing;
    return fs::is_regular_file(directory / "ledger.json", missing);
}

}  // namespace

bool RecordedLedger::has_identities() const {
    return std::ranges::all_of(
        agents, [](const RecordedAgent& agent) { return agent.identity.has_value(); });
}

PrivacyLoss RecordedLedger::worst() const {
    PrivacyLoss worst = agents.front().loss;
    for (const RecordedAgent& agent : agents)
        if (worst.less_at(delta, agent.loss)) worst = agent.loss;
    return worst;
}

RecordedLedger recorded_ledger_from(std::string_view ledger,
                                    std::string_view manifest,
                                    const fs::path& directory) {
    RecordedLedger recorded;
    read_text(ledger, directory / "ledger.json", [&](const Json& json) {
        recorded = recorded_from(json);
    });
    read_text(manifest, directory / "manifest.json", [&](const Json& json) {
        add_identities(recorded, json);
    });
    recorded.directory = directory;
    return recorded;
}

RecordedLedger read_recorded_ledger(const fs::path& directory) {
    return recorded_ledger_from(
        read_file(directory / "ledger.json"), read_file(directory / "manifest.json"), directory);
}

std::vector<fs::path> runs_in(const fs::path& directory) {
    if (holds_ledger(directory)) return {directory};
    std::vector<fs::path> runs;
    bool sweep = false;
    for (const std::string_view name : folders_of_runs) {
        std::error_code missing;
        for (const auto& entry : fs::directory_iterator(directory / name, missing))
            if (holds_ledger(entry.path())) runs.push_back(entry.path());
        sweep = sweep || !missing;
    }
    if (!sweep)
        throw DataError(
            fmt::format("{}: it holds no run (there is no ledger.json) and no sweep (no folder "
                        "runs); name directories that `sotto train` or `sotto sweep` wrote",
                        directory.string()));
    std::ranges::sort(runs);
    return runs;
}

void keep_what_was_revealed(const fs::path& run, const fs::path& folder) {
    if (!holds_ledger(run)) return;
    std::error_code missing;
    // A run that ended between its two files has sent nothing yet.
    if (!fs::is_regular_file(run / "manifest.json", missing)) return;
    const std::string ledger = read_file(run / "ledger.json");
    const std::string manifest = read_file(run / "manifest.json");
    const fs::path kept = folder / recorded_ledger_from(ledger, manifest, run).run.substr(0, 20);
    create_folder(kept);
    write_file_atomically(kept / "ledger.json", ledger, Readers::owner);
    write_file_atomically(kept / "manifest.json", manifest, Readers::owner);
}

}  // namespace sotto
