#include "store/checkpoint_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/checkpoint.hpp"
#include "core/bytes.hpp"
#include "core/disk.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "store/copies.hpp"
#include "store/run_directory.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kept_checkpoints = 2;

std::string manifest_digest(const std::string& text) {
    Hasher hasher("sotto.checkpoint-manifest.v1");
    hasher.add(text);
    return to_hex(hasher.finish());
}

/// Folders of the checkpoints that process 0 has sealed, newest first; later phases are newer,
/// whatever their rounds.
std::vector<fs::path> sealed_folders(const fs::path& directory) {
    std::vector<std::pair<std::pair<int, long>, fs::path>> found;
    for (const fs::path& folder : checkpoint_folders(directory)) try {
            std::error_code ignored;
            if (!fs::exists(folder / "manifest.json", ignored)) continue;
            const SealedCheckpoint sealed =
                sealed_checkpoint_from_json(read_file(folder / "manifest.json"));
            found.emplace_back(std::pair(sealed.phase, sealed.round), folder);
        } catch (const std::exception&) {
            // Damaged ones are skipped everywhere.
        }
    std::ranges::stable_sort(found, std::greater(), [](const auto& one) { return one.first; });
    std::vector<fs::path> folders;
    for (auto& [age, folder] : found) folders.push_back(std::move(folder));
    return folders;
}

std::vector<int> numbers_of(const std::vector<Checkpoint>& local) {
    std::vector<int> numbers;
    for (const Checkpoint& own : local) numbers.push_back(own.agent);
    return numbers;
}

/// Process 0, which sees the manifests, says which are too old; every process removes its own part.
/// @param newest folder, which is never removed.
void forget_old(const fs::path& directory,
                Control& network,
                const std::vector<Checkpoint>& local,
                const fs::path& newest) {
    const bool leader = network.process() == 0;
    ByteWriter old;
    if (leader) {
        int sealed = 0;
        for (const fs::path& folder : sealed_folders(directory)) {
            if (++sealed <= kept_checkpoints || sealed > most_checkpoints) continue;
            std::error_code ignored;
            fs::remove(folder / "manifest.json", ignored);
            old.put_text(folder.filename().string());
        }
    }
    const std::string names = network.broadcast(old.take(), most_line_bytes);
    ByteReader reader(names, "the list of old checkpoints of rank 0");
    while (!reader.done()) {
        // Only the name: process 0 must not choose other files.
        const fs::path folder = directory / "checkpoints" / fs::path(reader.get_text()).filename();
        if (folder == newest) continue;
        std::error_code ignored;
        for (const fs::path& file : checkpoints_in(folder).files_of(numbers_of(local)))
            fs::remove(file, ignored);
        forget_copies(folder);
        fs::remove(folder, ignored);  // succeeds for the last process
    }
}

/// Manifests of most_checkpoints, with these agents and as many that have left.
std::uint64_t largest_manifests_bytes(int agents) {
    constexpr std::uint64_t head = 4096, agent = 128, others = 1024;
    return most_checkpoints * (head + agent * (2 * static_cast<std::uint64_t>(agents) + others));
}

/// Process 0's intact manifests, newest first.
struct Manifests {
    std::vector<std::string> texts;
    std::vector<std::string> notes;  ///< on others
};
Manifests read_manifests(const fs::path& directory) {
    Manifests manifests;
    std::vector<std::pair<SealedCheckpoint, std::string>> candidates;
    for (const fs::path& folder : checkpoint_folders(directory)) {
        const fs::path file = folder / "manifest.json";
        if (!fs::exists(file)) continue;
        try {
            const std::string text = read_file(file);
            candidates.emplace_back(sealed_checkpoint_from_json(text), text);
        } catch (const std::exception& error) {
            manifests.notes.push_back(
                fmt::format("{}: passed over ({})", file.string(), error.what()));
        }
    }
    std::ranges::stable_sort(candidates, std::greater(), [](const auto& candidate) {
        return std::pair(candidate.first.phase, candidate.first.round);
    });
    if (candidates.size() > most_checkpoints) candidates.resize(most_checkpoints);
    for (auto& [sealed, text] : candidates) manifests.texts.push_back(std::move(text));
    return manifests;
}

/// The local agents' files of one checkpoint. @throws DataError for a file that is not part of it.
std::vector<Checkpoint> read_agents(const fs::path& directory,
                                    const SealedCheckpoint& sealed,
                                    std::span<const int> numbers) {
    const fs::path folder = checkpoint_folder(directory, sealed.round, sealed.beginning);
    const AgentFiles files = checkpoints_in(folder);
    std::vector<Checkpoint> local;
    for (const int number : numbers) {
        StoredCheckpoint stored = read_checkpoint(files, number);
        const auto digest = sealed.digests.find(number);
        if (digest == sealed.digests.end() || digest->second != to_hex(stored.digest) ||
            stored.checkpoint.agent != number || stored.checkpoint.round != sealed.round)
            throw DataError(fmt::format("agent {}: its file is of another checkpoint", number));
        local.push_back(std::move(stored.checkpoint));
    }
    return local;
}

/// @param seeds sealed, of every agent, or none.  @param written gets every agent's number and
/// digest.
void write_agents(const fs::path& folder,
                  const std::vector<Checkpoint>& local,
                  const std::vector<std::string>& seeds,
                  ByteWriter& written) {
    std::deque<CheckpointBytes> bytes;
    std::vector<AgentContent> checkpoints, sealed;
    std::vector<std::string> seed_bytes;
    for (const std::string& own : seeds) seed_bytes.push_back(saved_seeds_bytes(own));
    for (std::size_t a = 0; a < local.size(); ++a) {
        const int number = local[a].agent;
        checkpoints.push_back({number, bytes.emplace_back(local[a]).parts()});
        if (!seeds.empty()) sealed.push_back({number, {seed_bytes[a]}});
        written.put(std::int32_t{number});
        written.put(bytes.back().digest());
    }
    // Files of starts that got no further, perhaps with other processes.
    const auto old = checkpoints_in(folder).files_of(numbers_of(local));
    FileBatch together;
    if (!sealed.empty()) (void)write_agent_file(folder, seeds_ending, sealed);
    const fs::path own = write_agent_file(folder, checkpoint_ending, checkpoints);
    together.commit();
    std::error_code ignored;
    for (const fs::path& file : old)
        if (file != own) fs::remove(file, ignored);
}

}  // namespace

int beginning_of(const Checkpoint& checkpoint) {
    return checkpoint.round == checkpoint.phase_round ? static_cast<int>(checkpoint.key_epoch) : 0;
}

fs::path checkpoint_folder(const fs::path& directory, long round, int beginning) {
    const fs::path all = directory / "checkpoints";
    return beginning == 0 ? all / fmt::format("{:012}", round)
                          : all / fmt::format("{:012}-{:06}", round, beginning);
}

StoredCheckpoint read_checkpoint(const AgentFiles& files, int agent) {
    return checkpoint_from_bytes(
        files.read(agent), fmt::format("of agent {} in {}", agent, files.file_of(agent).string()));
}

std::vector<fs::path> checkpoint_folders(const fs::path& directory) {
    std::vector<fs::path> result;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(directory / "checkpoints", failure))
        if (entry.is_directory()) result.push_back(entry.path());
    std::ranges::sort(result, std::greater());
    return result;
}

std::string to_json(const SealedCheckpoint& sealed) {
    Json json;
    json["format"] = "sotto-checkpoint";
    json["version"] = 3;
    json["round"] = sealed.round;
    json["phase"] = sealed.phase;
    json["beginning"] = sealed.beginning;
    json["clean"] = sealed.clean;
    json["loop_seconds"] = sealed.totals.loop_seconds;
    json["evaluate_seconds"] = sealed.totals.evaluate_seconds;
    json["agents"] = Json::array();
    for (const auto& [number, digest] : sealed.digests)
        json["agents"].push_back({{"agent", number}, {"blake2b", digest}});
    json["blake2b"] = manifest_digest(json.dump());
    return json.dump(2) + "\n";
}

SealedCheckpoint sealed_checkpoint_from_json(const std::string& text) {
    const JsonDocument document(text);
    document.require_format("sotto-checkpoint", 3);
    const JsonValue json = document.root();
    SealedCheckpoint sealed;
    sealed.round = json.at("round").integer<long>(0);
    sealed.phase = json.at("phase").integer<int>(0);
    sealed.beginning = json.at("beginning").integer<int>(0);
    sealed.clean = json.at("clean").boolean();
    sealed.totals = {json.at("loop_seconds").number(), json.at("evaluate_seconds").number()};
    for (const JsonValue& entry : json.at("agents").items()) {
        const JsonValue digest = entry.at("blake2b");
        Digest bytes{};
        if (!from_hex(digest.text(), bytes)) digest.fail("a digest");
        const JsonValue agent = entry.at("agent");
        if (!sealed.digests.emplace(agent.integer<int>(0), to_hex(bytes)).second)
            agent.fail("an agent that is not listed before");
    }
    Json content = document.json();
    content.erase("blake2b");
    if (manifest_digest(content.dump()) != json.at("blake2b").text())
        throw DataError("it is damaged, its digest is another");
    return sealed;
}

void seal_checkpoint(const fs::path& directory,
                     Control& network,
                     SealedCheckpoint sealed,
                     const std::vector<Checkpoint>& local,
                     const std::vector<std::string>& seeds) {
    const fs::path folder = checkpoint_folder(directory, sealed.round, sealed.beginning);
    const bool leader = network.process() == 0;
    ByteWriter written;
    network.agree([&] {
        create_folder(folder);
        // An old manifest of a start that got no further must not confirm these files.
        std::error_code ignored;
        if (leader) fs::remove(folder / "manifest.json", ignored);
    });
    network.agree([&] {
        if (!local.empty()) write_agents(folder, local, seeds, written);
    });
    const auto all = network.all_gather(
        written.take(),
        (sizeof(std::int32_t) + sizeof(Digest)) * network.most_agents_of_a_process());
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the checkpoint of rank {}", p));
            while (!reader.done()) {
                const auto number = reader.get<std::int32_t>();
                sealed.digests[number] = to_hex(reader.get<Digest>());
            }
        }
        if (leader)
            write_file_atomically(folder / "manifest.json", to_json(sealed), Readers::owner);
    });
    forget_old(directory, network, local, folder);
}

FoundCheckpoint find_checkpoint(const fs::path& directory,
                                Control& network,
                                std::span<const int> numbers) {
    FoundCheckpoint found;
    ByteWriter writer;
    if (network.process() == 0) {
        Manifests manifests = read_manifests(directory);
        found.notes = std::move(manifests.notes);
        for (const std::string& text : manifests.texts) writer.put_text(text);
    }
    const std::string texts =
        network.broadcast(writer.take(), largest_manifests_bytes(network.agents()));
    bool usable = false;
    std::size_t tried = 0;
    ByteReader reader(texts, "the list of checkpoints of rank 0");
    while (!reader.done() && !usable) {
        std::string problem;
        try {
            found.sealed = sealed_checkpoint_from_json(std::string(reader.get_text()));
            found.local = read_agents(directory, found.sealed, numbers);
        } catch (const std::exception& error) {
            problem = error.what();
        }
        if (tried++ == 0) found.newest = {found.sealed.phase, found.sealed.round};
        const auto problems =
            network.all_gather(problem.substr(0, most_line_bytes), most_line_bytes);
        const auto first = std::ranges::find_if_not(problems, &std::string::empty);
        usable = first == problems.end();
        if (!usable)
            found.notes.push_back(fmt::format(
                "the checkpoint of round {} is passed over ({})", found.sealed.round, *first));
    }
    network.agree([&] {
        if (!usable)
            throw DataError(fmt::format(
                "{}: {}; a run can be resumed once its checkpoint of round 0 is written, before "
                "the first round",
                directory.string(),
                tried == 0 ? std::string("there is no whole checkpoint")
                           : fmt::format("no checkpoint is usable: {}", found.notes.back())));
    });
    return found;
}

AgentFiles saved_seeds_of(const fs::path& directory, const Checkpoint& checkpoint) {
    return {checkpoint_folder(directory, checkpoint.round, beginning_of(checkpoint)), seeds_ending};
}

void erase_saved_seeds(const fs::path& directory) {
    for (const fs::path& folder : checkpoint_folders(directory)) {
        std::error_code failure;
        std::vector<fs::path> seeds;
        for (const auto& entry : fs::directory_iterator(folder, failure))
            // Includes what a killed process began to write.
            if (entry.path().filename().string().find(seeds_ending) != std::string::npos)
                seeds.push_back(entry.path());
        erase_files(seeds);
        // Another process may have removed an old folder meanwhile; other errors are reported.
        if (failure && failure != std::errc::no_such_file_or_directory)
            throw_write_failure(
                fmt::format(
                    "{}: saved seeds cannot be erased ({})", folder.string(), failure.message()),
                failure.value());
    }
}

}  // namespace sotto
