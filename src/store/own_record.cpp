#include "store/own_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/bytes.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "store/run_history.hpp"
#include "store/sent_mark.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// More than a run that is started every minute for years.
constexpr std::uint64_t most_entries_told = std::uint64_t{1} << 20;

/// The line without its digest, which is last.
Json entry_json(const Digest& run, int agent, const OwnEntry& entry) {
    Json json;
    json["format"] = "sotto-revealed";
    json["version"] = 1;
    json["run"] = to_hex(run);
    json["agent"] = agent;
    json["phase"] = entry.phase;
    json["session"] = to_hex(entry.session);
    json["rounds_before"] = entry.rounds_before;
    json["facts"] = Json::object();
    for (const auto& [name, text] : entry.facts) json["facts"][name] = text;
    return json;
}

Digest digest_of_line(const Digest& before, const std::string& line) {
    Hasher hasher("sotto.revealed.v1");
    return hasher.add_bytes(before).add(line).finish();
}

OwnEntry entry_from_line(const JsonValue& json) {
    OwnEntry entry;
    entry.phase = json.at("phase").integer<int>(0);
    if (!from_hex(json.at("session").text(), entry.session)) json.at("session").fail("a digest");
    entry.rounds_before = json.at("rounds_before").integer<long>(0);
    for (const auto& [name, text] : json.at("facts").members())
        entry.facts.emplace_back(name, text.text());
    return entry;
}

}  // namespace

std::string agents_text(std::span<const int> ascending) {
    constexpr std::size_t most_one_by_one = 1000;
    if (ascending.size() <= most_one_by_one) return fmt::format("{}", fmt::join(ascending, ","));
    std::string text;
    for (std::size_t first = 0, next = 0; first < ascending.size(); first = next) {
        for (next = first + 1;
             next < ascending.size() && ascending[next] == ascending[next - 1] + 1;)
            ++next;
        text += fmt::format("{}{}", first == 0 ? "" : ",", ascending[first]);
        if (next > first + 1) text += fmt::format("-{}", ascending[next - 1]);
    }
    return text;
}

FactsOfPhase::FactsOfPhase(const PrivacyPhase& phase, Adjacency adjacency, double delta)
    : phase_(phase) {
    const PlanUse& use = phase.use;
    common_ = {{"first_round", fmt::format("{}", use.steps.first_round)},
               {"key_epoch", fmt::format("{}", phase.key_epoch)},
               {"plan_hash", to_hex(phase.plan.hash())},
               {"agents", agents_text(phase.members.numbers)},
               {"sensitivity", {}},
               {"sampling_probability", {}},
               {"participation", name_of(use.participation)},
               {"step_size", fmt::format("{}", use.steps.step_size)},
               {"step_schedule", name_of(use.steps)},
               {"own_weights", {}},
               {"gossip_steps", fmt::format("{}", use.gossip_steps)},
               {"adjacency", name_of(adjacency)},
               {"delta", fmt::format("{}", delta)}};
    if (phase.survey != nullptr) common_.emplace_back("survey", phase.survey->name);
}

PhaseFacts FactsOfPhase::of(int number) const {
    const int place = phase_.members.place(number);
    PhaseFacts facts = common_;
    for (auto& [name, text] : facts)
        if (name == "sensitivity")
            text = fmt::format("{}", phase_.sensitivity.at(static_cast<std::size_t>(place)));
        else if (name == "sampling_probability")
            text = fmt::format("{}", phase_.probability(place));
        else if (name == "own_weights")
            text = fmt::format("{}", phase_.use.own_weights(place));
    return facts;
}

OwnRecord OwnRecord::from_text(std::string_view text,
                               const Digest& run,
                               int agent,
                               const std::string& source) try {
    OwnRecord record(run, agent);
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) throw DataError("its last line is cut short");
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const JsonDocument document(line);
        document.require_format("sotto-revealed", 1);
        const std::size_t before = record.text_.size();
        record.add(entry_from_line(document.root()));
        if (record.text_.substr(before) != std::string(line) + "\n")
            throw DataError(
                fmt::format("line {} is not as it was written, is of another run or agent, or "
                            "follows a missing line",
                            record.entries_.size()));
    }
    if (record.entries_.empty()) throw DataError("it is empty");
    return record;
} catch (const Error& error) {
    throw DataError(fmt::format("{}: it is damaged ({})", source, error.what()));
}

fs::path OwnRecord::file_in(const fs::path& directory, int agent) {
    return directory / "agents" / std::to_string(agent) / file_name;
}

OwnRecord OwnRecord::read(const fs::path& directory, const Digest& run, int agent) {
    const fs::path file = file_in(directory, agent);
    if (!fs::exists(file))
        throw DataError(fmt::format(
            "{}: it is missing, and only it says what agent {} has revealed; resume the run where "
            "its files are (its folder 'agents', 'sent' and checkpoints)",
            file.string(),
            agent));
    return from_text(read_file(file), run, agent, file.string());
}

void OwnRecord::write(const fs::path& directory) const {
    write_file_atomically(file_in(directory, agent_), text_, Readers::owner);
}

void OwnRecord::add(OwnEntry entry) {
    if (!entries_.empty()) {
        const OwnEntry& last = entries_.back();
        if (entry.phase < last.phase)
            throw DataError(fmt::format("phase {} comes after phase {}", entry.phase, last.phase));
        if (entry.phase == last.phase && entry.facts != last.facts)
            throw DataError(fmt::format("phase {} has two records that differ", entry.phase));
    }
    Json json = entry_json(run_, agent_, entry);
    head_ = digest_of_line(head_, json.dump());
    json["digest"] = to_hex(head_);
    text_ += json.dump() + "\n";
    entries_.push_back(std::move(entry));
}

namespace {

/// By the first of its facts.
long first_round_of(const OwnPhase& phase) {
    return static_cast<long>(parse_integer("first_round", phase.facts.at(0).second));
}

}  // namespace

bool OwnRecord::knows(int phase, const Digest& session) const {
    return std::ranges::any_of(entries_, [&](const OwnEntry& entry) {
        return entry.phase == phase && entry.session == session;
    });
}

std::vector<OwnPhase> own_phases(const fs::path& directory,
                                 const OwnRecord& record,
                                 std::span<const FoundMark> marks) {
    std::vector<OwnPhase> phases;
    for (const OwnEntry& entry : record.entries()) {
        if (!phases.empty())
            phases.back().rounds = std::max(phases.back().rounds, entry.rounds_before);
        if (phases.empty() || phases.back().phase != entry.phase)
            phases.push_back({entry.phase, {}, 0, entry.facts});
        phases.back().sessions.push_back(entry.session);
    }
    for (const FoundMark& mark : marks) {
        if (!mark.names(record.agent())) continue;
        if (!record.knows(mark.phase, mark.session))
            throw DataError(fmt::format(
                "{}: agent {} has sent rounds of phase {} in a start that its record {} does not "
                "have; the record is older than the mark (put the newest one back)",
                mark.file.string(),
                record.agent(),
                mark.phase,
                OwnRecord::file_in(directory, record.agent()).string()));
        // For earlier phases the record itself says how many rounds were sent.
        OwnPhase& last = phases.back();
        if (mark.phase == last.phase)
            last.rounds = std::max(last.rounds, mark.round - first_round_of(last));
    }
    return phases;
}

namespace {

/// A field that the history contradicts.
[[noreturn]] void refuse_field(
    int agent, int phase, std::string_view field, std::string_view said, std::string_view own) {
    throw PrivacyError(
        fmt::format("agent {}: rank 0's history says {} {} of phase {}, the agent's own record {}; "
                    "a history may add to what an agent has revealed, but must not contradict it",
                    agent,
                    field,
                    said,
                    phase,
                    own));
}

void require_same_facts(const OwnPhase& own, int agent, const PhaseFacts& said) {
    for (std::size_t k = 0; k < std::max(own.facts.size(), said.size()); ++k) {
        const std::pair<std::string, std::string> none{"a field", "nothing"};
        const auto& mine = k < own.facts.size() ? own.facts[k] : none;
        const auto& other = k < said.size() ? said[k] : none;
        if (mine != other) refuse_field(agent, own.phase, mine.first, other.second, mine.second);
    }
}

}  // namespace

void require_no_less(const std::vector<OwnPhase>& own,
                     int agent,
                     const RunHistory& history,
                     std::span<const FactsOfPhase> facts) {
    for (const OwnPhase& phase : own) {
        const auto k = static_cast<std::size_t>(phase.phase);
        if (k >= history.phases.size())
            throw PrivacyError(fmt::format(
                "agent {}: rank 0's history has {} phases, the agent's own record has phase {}; a "
                "history may add to what an agent has revealed, but must not leave anything out",
                agent,
                history.phases.size(),
                phase.phase));
        const PrivacyPhase& said = history.phases[k];
        if (said.members.place(agent) < 0)
            refuse_field(agent,
                         phase.phase,
                         "agents",
                         agents_text(said.members.numbers),
                         fmt::format("that agent {} was among them", agent));
        require_same_facts(phase, agent, facts[k].of(agent));
        for (const Digest& session : phase.sessions)
            if (std::ranges::find(said.sessions, session) == said.sessions.end())
                refuse_field(agent, phase.phase, "sessions", "others", to_hex(session));
        if (said.rounds < phase.rounds)
            refuse_field(agent,
                         phase.phase,
                         "rounds",
                         std::to_string(said.rounds),
                         std::to_string(phase.rounds));
    }
}

namespace {

struct ToldPhase {
    std::int32_t agent = 0, phase = 0;
    std::int64_t rounds = 0;
};

/// Local agents that were in a phase of the history and do not have it in their records, ascending.
std::vector<int> without_phase(const std::vector<std::pair<int, std::vector<OwnPhase>>>& local,
                               const Membership& there,
                               int phase) {
    std::vector<int> lacking;
    for (const auto& [number, own] : local)
        if (there.place(number) >= 0 &&
            std::ranges::find(own, phase, &OwnPhase::phase) == own.end())
            lacking.push_back(number);
    return lacking;
}

}  // namespace

void require_newest(Control& network,
                    const std::vector<std::pair<int, std::vector<OwnPhase>>>& local,
                    const RunHistory& history) {
    ByteWriter writer;
    for (const auto& [number, phases] : local)
        for (const OwnPhase& phase : phases)
            writer.put(ToldPhase{number, phase.phase, phase.rounds});
    const auto all = network.all_gather(
        writer.take(),
        sizeof(ToldPhase) * (most_entries_told + network.most_agents_of_a_process()));
    network.agree([&] {
        std::map<int, std::vector<int>> lacking;  // by phase
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("what rank {} has revealed", p));
            while (!reader.done()) {
                const auto told = reader.get<ToldPhase>();
                if (told.rounds <= 0 || told.phase < 0 ||
                    told.phase >= static_cast<int>(history.phases.size()))
                    continue;
                const Membership& there =
                    history.phases[static_cast<std::size_t>(told.phase)].members;
                if (there.place(told.agent) < 0) continue;
                if (!lacking.contains(told.phase))
                    lacking.emplace(told.phase, without_phase(local, there, told.phase));
                for (const int number : lacking.at(told.phase))
                    if (number != told.agent)
                        throw DataError(fmt::format(
                            "agent {}: its record has no phase {}, in which agent {} has sent {} "
                            "rounds with it; the record is an old copy (resume the run where the "
                            "newest one is)",
                            number,
                            told.phase,
                            told.agent,
                            told.rounds));
            }
        }
    });
}

}  // namespace sotto
