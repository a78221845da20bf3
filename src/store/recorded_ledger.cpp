#include "store/recorded_ledger.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "core/files.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "store/run_directory.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// Where a sweep keeps run directories, and the ledgers of removed ones.
constexpr std::array<std::string_view, 2> folders_of_runs{"runs", "spent"};

/// A pure epsilon has no mu. Rounded up: the file has the root of the sum.
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

/// By number; empty for absent agents.
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

double stated_epsilon(const JsonValue& json) {
    if (json.at("infinite").boolean()) return infinity;
    const JsonValue epsilon = json.at("epsilon");
    if (!(epsilon.number() >= 0)) epsilon.fail("0 or more");
    return epsilon.number();
}

/// The headline is about the outsider if the plan counts no coalition; otherwise `observers` has
/// the outsider, and in both cases the one agent that learns most, which the entry names.
void add_observers(RecordedLedger& ledger, const JsonValue& json) {
    if (ledger.coalition_size == 0) ledger.outsider_epsilon = stated_epsilon(json.at("headline"));
    for (const JsonValue& entry : json.at("observers").items())
        (entry.find("agent") ? ledger.curious_epsilon : ledger.outsider_epsilon) =
            stated_epsilon(entry);
}

RecordedLedger recorded_from(const JsonDocument& document) {
    document.require_format("sotto-ledger", 2);
    const JsonValue json = document.root();
    RecordedLedger ledger;
    ledger.status = json.at("status").text();
    ledger.mechanism = json.at("mechanism").text();
    ledger.rounds_planned = json.at("rounds").at("planned").integer<long>();
    ledger.rounds_accounted = json.at("rounds").at("accounted").integer<long>();
    ledger.adjacency = parse_adjacency("adjacency", json.at("adjacency").text());
    if (const auto unit = json.find("unit_column")) ledger.unit_column = unit->text();
    if (const auto most = json.find("unit_agents")) ledger.unit_agents = most->integer<int>();
    ledger.delta = json.at("delta").number();
    if (!(ledger.delta >= 0 && ledger.delta < 1)) json.at("delta").fail("from 0 to below 1");
    ledger.observer = json.at("headline").at("observer").text();
    ledger.coalition_size = json.at("headline").at("coalition_size").integer<int>();
    add_observers(ledger, json);
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

PrivacyLoss RecordedLedger::anybody_apart() const {
    std::vector<PrivacyLoss> losses;
    for (const RecordedAgent& agent : agents) losses.push_back(agent.apart());
    return dominating(losses);
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
    if (fs::exists(directory / "choice.json"))
        throw DataError(
            fmt::format("{}: it is what a private choice released, whose epsilon and delta are in "
                        "choice.json and add to those of other runs; the directory above it has "
                        "the ledgers of all its trainings",
                        directory.string()));
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
    // A run that ended between writing the two files has sent nothing.
    if (!fs::is_regular_file(run / "manifest.json", missing)) return;
    const std::string ledger = read_file(run / "ledger.json");
    const std::string manifest = read_file(run / "manifest.json");
    const fs::path kept = folder / recorded_ledger_from(ledger, manifest, run).run.substr(0, 20);
    create_folder(kept);
    write_file_atomically(kept / "ledger.json", ledger, Readers::owner);
    write_file_atomically(kept / "manifest.json", manifest, Readers::owner);
}

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* digests_key = "ledger_blake2b";
constexpr std::size_t digest_digits = 2 * sizeof(Digest);

/// The number in "manifest-<number>.json"; 0 of "manifest.json".
std::optional<int> number_of_manifest(const std::string& name) {
    constexpr std::string_view stem = "manifest", ending = ".json";
    if (!name.starts_with(stem) || !name.ends_with(ending)) return std::nullopt;
    std::string_view number(name);
    number.remove_prefix(stem.size());
    number.remove_suffix(ending.size());
    if (number.empty()) return 0;
    int result = 0;
    const auto [end, status] =
        std::from_chars(number.data() + 1, number.data() + number.size(), result);
    const bool whole = status == std::errc() && end == number.data() + number.size();
    return number.front() == '-' && whole && result > 0 ? std::optional(result) : std::nullopt;
}

fs::path last_manifest(const fs::path& directory) {
    int last = -1;
    fs::path file = directory / "manifest.json";
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(directory, failure))
        if (const auto number = number_of_manifest(entry.path().filename().string());
            number && *number > last) {
            last = *number;
            file = entry.path();
        }
    return file;
}

std::vector<std::string> digests_in_manifest(const fs::path& file) {
    const std::string text = read_file(file);
    std::vector<std::string> digests;
    try {
        const JsonDocument document(text);
        for (const JsonValue& digest : document.root().at(digests_key).items())
            digests.push_back(digest.text());
    } catch (const DataError& error) {
        throw DataError(fmt::format(
            "{}: it does not name the ledger next to it ({})", file.string(), error.what()));
    }
    return digests;
}

/// Numbers of agents whose digests are of an earlier ledger.
std::set<std::string> agents_that_left(const std::string& ledger) {
    std::set<std::string> left;
    const JsonDocument document(ledger);
    const auto agents = document.root().find("agents");
    if (!agents) return left;
    for (const JsonValue& agent : agents->items())
        if (agent.find("left_after")) left.insert(std::to_string(agent.at("agent").integer<int>()));
    return left;
}

void require_named(const fs::path& by,
                   const std::vector<std::string>& digests,
                   const fs::path& ledger,
                   const std::string& digest) {
    if (std::ranges::find(digests, digest) == digests.end())
        throw DataError(
            fmt::format("{}: it is not the ledger that was written: its digest is {}, {} has {}",
                        ledger.string(),
                        digest,
                        by.string(),
                        fmt::join(digests, ", ")));
}

}  // namespace

std::string ledger_digest(std::string_view ledger) {
    const JsonDocument document(ledger);
    document.require_format("sotto-ledger", 2);
    const std::string status = document.root().at("status").text();
    (void)document.root().at("rounds").members();
    Json claims = document.json();
    if (status == "running" || status == "failed") {
        claims.erase("status");
        claims.erase("views");
        claims["rounds"].erase("completed");
    }
    Hasher hasher("sotto.ledger.v1");
    return to_hex(hasher.add(claims.dump()).finish());
}

std::string with_ledger_digests(const std::string& manifest,
                                const std::vector<std::string>& digests) {
    Json json = json_from_text<Json>(manifest);
    json[digests_key] = digests;
    return to_text(json);
}

fs::path ledger_digest_file(const fs::path& directory, int agent) {
    return directory / "agents" / std::to_string(agent) / "ledger.blake2b";
}

void write_ledger_digests(const fs::path& file, const std::vector<std::string>& digests) {
    write_file_atomically(file, fmt::format("{}\n", fmt::join(digests, "\n")), Readers::owner);
}

std::vector<std::string> read_ledger_digests(const fs::path& file) {
    constexpr std::uint64_t most_bytes = 4096;
    std::vector<std::string> digests;
    if (!fs::exists(file)) return digests;
    std::istringstream lines(read_file(file, most_bytes));
    for (std::string line; std::getline(lines, line);) {
        if (Digest digest{}; !from_hex(line, digest))
            throw DataError(
                fmt::format("{}: it is damaged; a line must be a digest of {} hexadecimal "
                            "digits",
                            file.string(),
                            digest_digits));
        digests.push_back(line);
    }
    return digests;
}

std::string read_sealed_ledger(const fs::path& directory) {
    const fs::path file = directory / "ledger.json";
    std::string text = read_file(file);
    std::string digest;
    try {
        digest = ledger_digest(text);
    } catch (const DataError& error) {
        throw DataError(fmt::format("{}: it is damaged ({})", file.string(), error.what()));
    }
    const fs::path manifest = last_manifest(directory);
    require_named(manifest, digests_in_manifest(manifest), file, digest);
    const std::set<std::string> left = agents_that_left(text);
    std::error_code failure;
    std::set<fs::path> copies;
    for (const auto& agent : fs::directory_iterator(directory / "agents", failure))
        if (!left.contains(agent.path().filename().string()))
            copies.insert(agent.path() / "ledger.blake2b");
    for (const fs::path& copy : copies) {
        const std::vector<std::string> digests = read_ledger_digests(copy);
        if (!digests.empty()) require_named(copy, digests, file, digest);
    }
    return text;
}

}  // namespace sotto
