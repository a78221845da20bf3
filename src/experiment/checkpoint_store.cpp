#include "checkpoint_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/json_input.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kept_checkpoints = 2;
constexpr double seconds_ahead = 2;

fs::path folder_of(const fs::path& directory, long round) {
    return directory / "checkpoints" / fmt::format("{:012}", round);
}

fs::path agent_file(const fs::path& folder, int number) {
    return folder / fmt::format("agent-{}.checkpoint", number);
}

void create_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure)
        throw ConfigError(
            fmt::format("{}: cannot be created ({})", folder.string(), failure.message()));
}

std::string digest_of(const std::string& text) {
    Hasher hasher("sotto.checkpoint-manifest.v1");
    hasher.add(text);
    return to_hex(hasher.finish());
}

std::string to_json(const SealedCheckpoint& sealed) {
    Json json;
    json["format"] = "sotto-checkpoint";
    json["version"] = 1;
    json["round"] = sealed.round;
    json["phase"] = sealed.phase;
    json["clean"] = sealed.clean;
    json["loop_seconds"] = sealed.totals.loop_seconds;
    json["evaluate_seconds"] = sealed.totals.evaluate_seconds;
    json["agents"] = Json::object();
    for (const auto& [number, digest] : sealed.digests)
        json["agents"][std::to_string(number)] = digest;
    json["blake2b"] = digest_of(json.dump());
    return json.dump(2) + "\n";
}

SealedCheckpoint sealed_from_json(const std::string& text) {
    Json json = json_from_text<Json>(text);
    const std::string stated = json.at("blake2b").get<std::string>();
    json.erase("blake2b");
    if (digest_of(json.dump()) != stated) throw DataError("it is damaged");
    SealedCheckpoint sealed;
    sealed.round = integer_from_json<long>(json.at("round"));
    sealed.phase = integer_from_json<int>(json.at("phase"));
    sealed.clean = json.at("clean").get<bool>();
    sealed.totals = {json.at("loop_seconds").get<double>(),
                     json.at("evaluate_seconds").get<double>()};
    for (const auto& [number, digest] : json.at("agents").items())
        sealed.digests[std::stoi(number)] = digest.get<std::string>();
    return sealed;
}

/// Folders of checkpoints, newest first.
std::vector<fs::path> folders(const fs::path& directory) {
    std::vector<fs::path> result;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(directory / "checkpoints", failure))
        if (entry.is_directory()) result.push_back(entry.path());
    std::ranges::sort(result, std::greater());
    return result;
}

void forget_old(const fs::path& directory, bool leader, const std::vector<Checkpoint>& local) {
    int sealed = 0;
    for (const fs::path& folder : folders(directory)) {
        std::error_code ignored;
        if (sealed < kept_checkpoints) {
            // Where folders are not shared, only rank 0 sees manifests; the others count folders.
            sealed += fs::exists(folder / "manifest.json", ignored) || !leader ? 1 : 0;
            continue;
        }
        if (leader) fs::remove(folder / "manifest.json", ignored);
        for (const Checkpoint& own : local) fs::remove(agent_file(folder, own.agent), ignored);
        fs::remove(folder, ignored);  // by who leaves it last
    }
}

}  // namespace

void seal_checkpoint(const fs::path& directory,
                     Network& network,
                     SealedCheckpoint sealed,
                     const std::vector<Checkpoint>& local) {
    const fs::path folder = folder_of(directory, sealed.round);
    const bool leader = network.process() == 0;
    ByteWriter written;
    network.agree([&] {
        create_folder(folder);
        // One of the same name, of a start that got no further, must not vouch for other files.
        std::error_code ignored;
        if (leader) fs::remove(folder / "manifest.json", ignored);
    });
    network.agree([&] {
        for (const Checkpoint& own : local) {
            const Digest digest = write_checkpoint(agent_file(folder, own.agent), own);
            written.put(std::int32_t{own.agent});
            written.put(digest);
        }
    });
    const auto all = network.all_gather(written.take());
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the checkpoint of rank {}", p));
            while (!reader.done()) {
                const auto number = reader.get<std::int32_t>();
                sealed.digests[number] = to_hex(reader.get<Digest>());
            }
        }
        if (leader) write_file_atomically(folder / "manifest.json", to_json(sealed));
    });
    forget_old(directory, leader, local);
}

FoundCheckpoint find_checkpoint(const fs::path& directory,
                                Network& network,
                                std::span<const int> numbers,
                                std::vector<std::string>& notes) {
    std::vector<std::pair<SealedCheckpoint, std::string>> candidates;
    ByteWriter writer;
    if (network.process() == 0) {
        for (const fs::path& folder : folders(directory)) {
            const fs::path file = folder / "manifest.json";
            if (!fs::exists(file)) continue;
            try {
                const std::string text = read_file(file);
                candidates.emplace_back(sealed_from_json(text), text);
            } catch (const std::exception& error) {
                notes.push_back(fmt::format("{}: passed over ({})", file.string(), error.what()));
            }
        }
        std::ranges::stable_sort(candidates, [](const auto& a, const auto& b) {
            return std::pair(a.first.phase, a.first.round) >
                   std::pair(b.first.phase, b.first.round);
        });
        for (const auto& [sealed, text] : candidates) writer.put_text(text);
    }
    const std::string texts = network.broadcast(writer.take());
    FoundCheckpoint found;
    bool usable = false;
    std::size_t tried = 0;
    ByteReader reader(texts, "the list of checkpoints of rank 0");
    while (!reader.done() && !usable) {
        std::string problem;
        found.local.clear();
        try {
            found.sealed = sealed_from_json(std::string(reader.get_text()));
            const fs::path folder = folder_of(directory, found.sealed.round);
            for (const int number : numbers) {
                StoredCheckpoint stored = read_checkpoint(agent_file(folder, number));
                const auto digest = found.sealed.digests.find(number);
                if (digest == found.sealed.digests.end() ||
                    digest->second != to_hex(stored.digest) || stored.checkpoint.agent != number ||
                    stored.checkpoint.round != found.sealed.round)
                    throw DataError(
                        fmt::format("agent {}: its file is of another checkpoint", number));
                found.local.push_back(std::move(stored.checkpoint));
            }
        } catch (const std::exception& error) {
            problem = error.what();
        }
        ++tried;
        const auto problems = network.all_gather(problem);
        usable = true;
        for (std::size_t p = 0; p < problems.size() && usable; ++p)
            if (!problems[p].empty()) {
                usable = false;
                notes.push_back(fmt::format("the checkpoint of round {} is passed over ({})",
                                            found.sealed.round,
                                            problems[p]));
            }
    }
    network.agree([&] {
        if (!usable)
            throw DataError(fmt::format(
                "{}: {}; a run can be taken up after a checkpoint (--checkpoint-every) or a clean "
                "stop",
                directory.string(),
                tried == 0 ? std::string("there is no whole checkpoint")
                           : fmt::format("no checkpoint is usable: {}", notes.back())));
    });
    return found;
}

SentMark::SentMark(fs::path directory, const Digest& run, std::vector<int> numbers, int phase)
    : file_(directory / "sent" / std::to_string(numbers.front())) {
    head_ = fmt::format("sotto-sent 1\nrun {}\nagents", to_hex(run));
    for (const int number : numbers) head_ += fmt::format(" {}", number);
    head_ += fmt::format("\nphase {}\nround ", phase);
    create_folder(file_.parent_path());
}

void SentMark::set(long round) {
    write_file_atomically(file_, fmt::format("{}{}\n", head_, round));
    mark_ = round;
}

void SentMark::before_round(long round, long limit) {
    if (round < mark_) return;
    const auto now = Clock::now();
    if (last_) {
        const double seconds = std::chrono::duration<double>(now - *last_).count();
        const double rate = static_cast<double>(block_) / std::max(seconds, 1e-9);
        block_ = std::clamp(static_cast<long>(rate * seconds_ahead), 1L, 16 * block_);
    }
    block_ = std::min(block_, std::max(1L, limit - round));
    set(round + block_);
    last_ = Clock::now();
}

std::optional<long> sent_before(const fs::path& directory,
                                Network& network,
                                const Digest& run,
                                int phase,
                                const std::vector<int>& numbers) {
    std::string marks;
    network.agree([&] {
        std::error_code failure;
        for (const auto& entry : fs::directory_iterator(directory / "sent", failure))
            if (entry.is_regular_file() &&
                entry.path().filename().string().find('.') == std::string::npos)
                marks += read_file(entry.path());
    });
    const auto all = network.all_gather(marks);
    std::optional<long> result;
    network.agree([&] {
        std::set<int> covered;
        for (const std::string& text : all) {
            std::istringstream lines(text);
            std::string line, word;
            while (std::getline(lines, line)) {
                std::string run_line, agents_line, phase_line, round_line;
                std::getline(lines, run_line);
                std::getline(lines, agents_line);
                std::getline(lines, phase_line);
                std::getline(lines, round_line);
                std::istringstream agents(agents_line), of_phase(phase_line), of_round(round_line);
                int its_phase = -1;
                long round = -1;
                if (line != "sotto-sent 1" || run_line != "run " + to_hex(run) ||
                    !(of_phase >> word >> its_phase) || !(of_round >> word >> round) || round < 0)
                    throw DataError(
                        fmt::format("{}: a mark of sent rounds is damaged or of another run",
                                    (directory / "sent").string()));
                agents >> word;
                for (int number = 0; agents >> number;) covered.insert(number);
                if (its_phase == phase) result = std::max(result.value_or(0), round);
            }
        }
        for (const int number : numbers)
            if (!covered.contains(number))
                throw DataError(fmt::format(
                    "{}: the mark of agent {}'s sent rounds is missing; take up the run where its "
                    "files are (its folder 'sent' and checkpoints, on every host that had agents)",
                    directory.string(),
                    number));
    });
    return result;
}

}  // namespace sotto
