#include "store/recorded_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/json_value.hpp"
#include "privacy/loss_json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/numbers.hpp"
#include "store/folders.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// Where a sweep keeps what runs revealed, and their directories.
constexpr std::array<std::string_view, 2> folders_of_runs{"runs", "spent"};

/// A pure epsilon has no mu. Rounded up: the file has the root of what adds up.
PrivacyLoss recorded_loss(const JsonValue& agent) {
    if (agent.at("infinite").boolean()) return PrivacyLoss::gaussian(infinity);
    const JsonValue epsilon = agent.at("epsilon");
    (void)agent.at("mu");  // null of a pure epsilon, never missing
    const auto mu = agent.find("mu");
    if (const auto loss = agent.find("loss")) {
        if (mu) mu->fail("null beside a loss");
        return loss_from_json(*loss);
    }
    for (const JsonValue& figure : {epsilon, mu.value_or(epsilon)})
        if (!(figure.number() >= 0)) figure.fail("a number, 0 or more");
    if (!mu) return PrivacyLoss::pure(epsilon.number());
    const double value = mu->number();
    return PrivacyLoss::gaussian(value == 0 ? 0 : std::nextafter(value, infinity));
}

std::vector<RecordedAgent> recorded_agents(const JsonValue& agents_of_ledger) {
    std::vector<RecordedAgent> agents;
    for (const JsonValue& entry : agents_of_ledger.items()) {
        const int place = static_cast<int>(agents.size());
        RecordedAgent& agent = agents.emplace_back();
        agent.number = entry.at("agent").integer<int>(place, place);
        agent.loss = recorded_loss(entry);
    }
    if (agents.empty()) agents_of_ledger.fail("at least one agent");
    return agents;
}

/// By number; nothing of those that were not there.
std::vector<PrivacyLoss> losses_of_phase(const JsonValue& phase, std::size_t agents) {
    std::vector<PrivacyLoss> losses(agents);
    for (const JsonValue& entry : phase.at("losses").items()) {
        const auto number = entry.at("agent").integer<std::size_t>(0, agents - 1);
        (void)entry.at("loss");  // null of an infinite one, never missing
        const auto loss = entry.find("loss");
        losses[number] = loss ? loss_from_json(*loss) : PrivacyLoss::gaussian(infinity);
    }
    return losses;
}

}  // namespace

std::vector<RecordedPhase> recorded_phases(const JsonValue& ledger, std::size_t agents) {
    std::vector<RecordedPhase> phases;
    for (const JsonValue& entry : ledger.at("phases").items()) {
        RecordedPhase& phase = phases.emplace_back();
        phase.rounds = entry.at("rounds").integer<long>();
        for (const JsonValue& session : entry.at("sessions").items())
            phase.sessions.push_back(session.text());
        if (phase.sessions.empty()) entry.at("sessions").fail("at least one");
        phase.losses = losses_of_phase(entry, agents);
    }
    return phases;
}

namespace {

RecordedLedger recorded_from(const JsonDocument& document) {
    document.require_format("sotto-ledger", 2);
    const JsonValue json = document.root();
    RecordedLedger ledger;
    ledger.status = json.at("status").text();
    ledger.mechanism = json.at("mechanism").text();
    ledger.rounds_planned = json.at("rounds").at("planned").integer<long>();
    ledger.rounds_accounted = json.at("rounds").at("accounted").integer<long>();
    ledger.adjacency = parse_adjacency("adjacency", json.at("adjacency").text());
    ledger.delta = json.at("delta").number();
    if (!(ledger.delta >= 0 && ledger.delta < 1)) json.at("delta").fail("from 0 to below 1");
    ledger.observer = json.at("headline").at("observer").text();
    ledger.coalition_size = json.at("headline").at("coalition_size").integer<int>();
    ledger.insecure = json.at("noise").at("insecure").boolean();
    ledger.agents = recorded_agents(json.at("agents"));
    ledger.phases = recorded_phases(json, ledger.agents.size());
    return ledger;
}

/// 64 hexadecimal digits.
std::string recorded_digest(const JsonValue& json) {
    Digest digest{};
    std::string text = json.text();
    if (!from_hex(text, digest)) json.fail("64 hexadecimal digits");
    return text;
}

/// Who the agents are.
void add_identities(RecordedLedger& ledger, const JsonDocument& manifest) {
    const JsonValue json = manifest.root();
    ledger.run = recorded_digest(json.at("run_id"));
    for (const JsonValue& entry : json.at("public_keys").items()) {
        const auto number = entry.at("agent").integer<std::size_t>(0, ledger.agents.size() - 1);
        (void)entry.at("identity");  // null of an agent without one, never missing
        const auto identity = entry.find("identity");
        if (!identity) continue;
        RecordedAgent& agent = ledger.agents[number];
        agent.identity = recorded_digest(*identity);
        if (const auto name = entry.find("name")) agent.name = name->text();
    }
}

/// @param read takes the parsed text.
template <class Read>
void read_text(std::string_view text, const fs::path& file, Read&& read) {
    try {
        read(JsonDocument(text));
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

PrivacyLoss RecordedLedger::worst_apart() const {
    PrivacyLoss worst = agents.front().apart();
    for (const RecordedAgent& agent : agents)
        if (worst.less_at(delta, agent.apart())) worst = agent.apart();
    return worst;
}

RecordedLedger recorded_ledger_from(std::string_view ledger,
                                    std::string_view manifest,
                                    const fs::path& directory) {
    RecordedLedger recorded;
    read_text(ledger, directory / "ledger.json", [&](const JsonDocument& json) {
        recorded = recorded_from(json);
    });
    read_text(manifest, directory / "manifest.json", [&](const JsonDocument& json) {
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
