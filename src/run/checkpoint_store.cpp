#include "run/checkpoint_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
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

/// Process 0, which sees the manifests, says which are too old; everybody removes its own part.
void forget_old(const fs::path& directory, Network& network, const std::vector<Checkpoint>& local) {
    const bool leader = network.process() == 0;
    ByteWriter old;
    if (leader) {
        int sealed = 0;
        for (const fs::path& folder : folders(directory)) {
            std::error_code ignored;
            if (!fs::exists(folder / "manifest.json", ignored)) continue;
            if (++sealed <= kept_checkpoints) continue;
            fs::remove(folder / "manifest.json", ignored);
            old.put_text(folder.filename().string());
        }
    }
    const std::string names = network.broadcast(old.take());
    ByteReader reader(names, "the list of old checkpoints of rank 0");
    while (!reader.done()) {
        // Only the name: rank 0 must not choose files of others.
        const fs::path folder = directory / "checkpoints" / fs::path(reader.get_text()).filename();
        std::error_code ignored;
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
    forget_old(directory, network, local);
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

namespace {

/// Differs for every start of every host; empty where unknown.
std::string start_of_host() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

/// The exact mark: it fits into one write.
struct Now {
    std::int64_t phase = 0, round = 0;
};

fs::path now_file(fs::path file) { return file += ".now"; }

/// What one file says about the rounds that may have left.
struct Mark {
    std::string run, host;
    std::vector<int> agents;
    int phase = -1;
    long round = -1;
};

Mark mark_from(const std::string& text) {
    Mark mark;
    std::istringstream lines(text);
    std::string line, word;
    std::getline(lines, line);
    if (line != "sotto-sent 1") throw DataError("it has another format");
    const auto next = [&](const char* name) {
        if (!std::getline(lines, line) || !line.starts_with(std::string(name) + " "))
            throw DataError("it is damaged");
        return std::istringstream(line.substr(std::string_view(name).size() + 1));
    };
    next("run") >> mark.run;
    next("host") >> mark.host;
    std::istringstream agents = next("agents");
    for (int number = 0; agents >> number;) mark.agents.push_back(number);
    if (!(next("phase") >> mark.phase) || !(next("round") >> mark.round) || mark.round < 0)
        throw DataError("it is damaged");
    return mark;
}

/// With the exact mark of this host, where there is one.
long round_of(const Mark& mark, const fs::path& file) {
    std::ifstream stream(now_file(file), std::ios::binary);
    Now now;
    if (mark.host.empty() || mark.host == "-" || mark.host != start_of_host() ||
        !stream.read(reinterpret_cast<char*>(&now), sizeof now) || now.phase != mark.phase)
        return mark.round;
    return std::min(mark.round, static_cast<long>(now.round));
}

}  // namespace

SentMark::SentMark(fs::path directory, const Digest& run, std::vector<int> numbers, int phase)
    : file_(directory / "sent" / std::to_string(numbers.front())), phase_(phase) {
    const std::string host = start_of_host();
    head_ = fmt::format("sotto-sent 1\nrun {}\nhost {}\nagents {}\nphase {}\nround ",
                        to_hex(run),
                        host.empty() ? "-" : host,
                        fmt::join(numbers, " "),
                        phase);
    create_folder(file_.parent_path());
    const fs::path exact = now_file(file_);
    const int descriptor = ::open(exact.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
        throw ConfigError(
            fmt::format("{}: cannot be written ({})", exact.string(), std::strerror(errno)));
    now_ = std::shared_ptr<int>(new int(descriptor), [](const int* held) {
        ::close(*held);
        delete held;
    });
}

void SentMark::write_now(long round) {
    const Now now{phase_, round};
    if (::pwrite(*now_, &now, sizeof now, 0) != static_cast<ssize_t>(sizeof now))
        throw ConfigError(fmt::format(
            "{}: cannot be written ({})", now_file(file_).string(), std::strerror(errno)));
}

void SentMark::set(long round) {
    // The exact one first: beside an older mark on disk it may say more, never less.
    write_now(round);
    write_file_atomically(file_, fmt::format("{}{}\n", head_, round));
    mark_ = round;
}

void SentMark::before_round(long round, long limit) {
    if (round >= mark_) {
        const auto now = Clock::now();
        if (last_) {
            const double seconds = seconds_between(*last_, now);
            const double rate = static_cast<double>(block_) / std::max(seconds, 1e-9);
            block_ = std::clamp(static_cast<long>(rate * seconds_ahead), 1L, 16 * block_);
        }
        block_ = std::min(block_, std::max(1L, limit - round));
        set(round + block_);
        last_ = Clock::now();
    }
    write_now(round + 1);
}

std::optional<long> sent_before(const fs::path& directory,
                                Network& network,
                                const Digest& run,
                                int phase,
                                const std::vector<int>& numbers) {
    ByteWriter own;
    network.agree([&] {
        std::error_code failure;
        for (const auto& entry : fs::directory_iterator(directory / "sent", failure)) {
            if (!entry.is_regular_file() ||
                entry.path().filename().string().find('.') != std::string::npos)
                continue;
            const std::string text = read_file(entry.path());
            try {
                const Mark mark = mark_from(text);
                if (mark.run != to_hex(run)) throw DataError("it is of another run");
                own.put_text(text);
                own.put(std::int64_t{round_of(mark, entry.path())});
            } catch (const DataError& error) {
                throw DataError(fmt::format("{}: {}", entry.path().string(), error.what()));
            }
        }
    });
    const auto all = network.all_gather(own.take());
    std::optional<long> result;
    network.agree([&] {
        // Several processes may see one file; who ran it knows best.
        std::map<std::string, long> marks;
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the marks of rank {}", p));
            while (!reader.done()) {
                const std::string text(reader.get_text());
                const long round = reader.get<std::int64_t>();
                const auto [entry, fresh] = marks.try_emplace(text, round);
                if (!fresh) entry->second = std::min(entry->second, round);
            }
        }
        std::set<int> covered;
        for (const auto& [text, round] : marks) {
            const Mark mark = mark_from(text);
            covered.insert(mark.agents.begin(), mark.agents.end());
            if (mark.phase == phase) result = std::max(result.value_or(0), round);
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
