#include "training/sealed_ledger.hpp"

#include <fmt/format.h>

#include "core/file_batch.hpp"
#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/privacy/ledger_json.hpp"
#include "store/folders.hpp"
#include "store/ledger_digest.hpp"
#include "store/recorded_ledger.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;

/// Bytes of a ledger at most: entries of agents, phases and views, and what names all agents.
std::uint64_t largest_ledger_bytes(const PreparedRun& prepared) {
    constexpr std::uint64_t statements = std::uint64_t{1} << 20, entry = 1024, number = 512;
    const auto agents = static_cast<std::uint64_t>(prepared.ledger.record().agents());
    const std::uint64_t lists =
        prepared.ledger.record().phases.size() + prepared.run.config.views.size();
    return statements + entry * agents + lists * (entry + number * agents);
}

/// Numbers of the agents of this process.
std::vector<int> local_numbers(const Run& run) {
    std::vector<int> numbers;
    for (const int place : run.network.local_agents()) numbers.push_back(run.members.number(place));
    return numbers;
}

/// What an agent counts itself must not be more than what process 0 says of it: figures of
/// different machines may differ in their last digits.
void require_stated(const std::string& text, const OpenRun& open, bool final, long rounds) {
    constexpr double rounding = 1e-6;
    const Ledger& ledger = open.prepared.ledger;
    const JsonDocument document(text);
    const std::vector<JsonValue> stated = document.root().at("agents").items();
    for (const int number : local_numbers(open.prepared.run)) {
        const auto entry = static_cast<std::size_t>(number);
        if (entry >= stated.size()) throw DataError(fmt::format("agent {} is not in it", number));
        const auto epsilon = stated[entry].find("epsilon");
        if (!epsilon) continue;  // infinite
        const double own = ledger.after(final ? rounds : ledger.record().rounds, number).epsilon;
        if (!(epsilon->number() >= own * (1 - rounding)))
            throw DataError(fmt::format("it states epsilon {:.6g} for agent {}, who counts {:.6g}",
                                        epsilon->number(),
                                        number,
                                        own));
    }
}

/// Parts of a loss, none of them less than another's.
bool states_no_less(const PrivacyLoss& stated, const PrivacyLoss& own) {
    constexpr double rounding = 1e-6;
    if (stated.infinite() || own.infinite()) return stated.infinite();
    const PrivacyLoss::Parts said = stated.parts(), mine = own.parts();
    if (!(said.mu_squared >= mine.mu_squared * (1 - rounding)) ||
        !(said.pure.value_or(0) >= mine.pure.value_or(0) * (1 - rounding)) ||
        said.sampled.size() != mine.sampled.size())
        return false;
    for (std::size_t k = 0; k < mine.sampled.size(); ++k)
        if (said.sampled[k].count < mine.sampled[k].count ||
            !(said.sampled[k].sampling_probability >= mine.sampled[k].sampling_probability) ||
            !(said.sampled[k].noise_multiplier <=
              mine.sampled[k].noise_multiplier * (1 + rounding)))
            return false;
    return true;
}

/// The same of every phase, by which continuations of copies of a run are added up.
void require_phases_stated(const std::string& text, const OpenRun& open, long rounds) {
    const Ledger& ledger = open.prepared.ledger;
    const std::vector<PrivacyPhase>& own = ledger.record().phases;
    const JsonDocument document(text);
    const auto agents = static_cast<std::size_t>(ledger.record().agents());
    const std::vector<RecordedPhase> stated = recorded_phases(document.root(), agents);
    if (stated.size() != own.size()) throw DataError("it has another number of phases");
    for (std::size_t k = 0; k < own.size(); ++k) {
        std::vector<std::string> sessions;
        for (const Digest& session : own[k].sessions) sessions.push_back(to_hex(session));
        if (stated[k].sessions != sessions)
            throw DataError(fmt::format("phase {} has other sessions", k));
        const PrivacyLosses losses = ledger.losses_in(k, rounds);
        for (const int number : local_numbers(open.prepared.run))
            if (!states_no_less(stated[k].losses[static_cast<std::size_t>(number)],
                                losses.bound_of(number)))
                throw DataError(fmt::format(
                    "it states less for agent {} in phase {} than the agent counts", number, k));
    }
}

/// The copies of the local agents.
void write_copies(const OpenRun& open, const std::string& digest, bool old_too) {
    FileBatch together;
    for (const int number : local_numbers(open.prepared.run)) {
        const fs::path file = ledger_digest_file(open.directory.path(), number);
        create_folder(file.parent_path());
        std::vector<std::string> digests{digest};
        if (old_too)
            for (std::string& old : read_ledger_digests(file)) digests.push_back(std::move(old));
        write_ledger_digests(file, digests);
    }
    together.commit();
}

/// The manifest, on process 0.
void write_manifest(const OpenRun& open, const std::string& digest, bool old_too) {
    std::vector<std::string> digests{digest};
    const fs::path ledger = open.directory.path() / "ledger.json";
    if (old_too && fs::exists(ledger)) try {
            digests.push_back(ledger_digest(read_file(ledger)));
        } catch (const DataError&) {
            // A damaged one has nobody's word, and is about to be replaced.
        }
    open.directory.write(open.manifest_file, with_ledger_digests(open.manifest, digests));
}

}  // namespace

void seal_ledger(const OpenRun& open, Ledger::Status status, long rounds) {
    const Run& run = open.prepared.run;
    const bool final = status == Ledger::Status::completed || status == Ledger::Status::interrupted;
    std::string text;
    run.network.agree([&] {
        if (run.leader()) text = to_json(open.prepared.ledger, status, rounds);
    });
    text = run.network.broadcast(text, largest_ledger_bytes(open.prepared));
    std::string digest;
    run.network.agree([&] {
        try {
            digest = ledger_digest(text);
            require_stated(text, open, final, rounds);
            if (!run.leader())
                require_phases_stated(
                    text, open, final ? rounds : open.prepared.ledger.record().rounds);
        } catch (const DataError& error) {
            throw NetworkError(fmt::format("the ledger of rank 0 is not right: {}", error.what()));
        }
        write_copies(open, digest, true);
    });
    run.network.agree([&] {
        if (!run.leader()) return;
        write_manifest(open, digest, true);
        open.directory.write("ledger.json", text);
    });
    run.network.agree([&] {
        write_copies(open, digest, false);
        if (run.leader()) write_manifest(open, digest, false);
    });
}

void write_open_ledger(const OpenRun& open, Ledger::Status status, long rounds) {
    open.directory.write("ledger.json", to_json(open.prepared.ledger, status, rounds));
}

}  // namespace sotto
