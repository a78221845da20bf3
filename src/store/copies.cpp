#include "store/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <ranges>
#include <regex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/checkpoint.hpp"
#include "core/bytes.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "store/checkpoint_store.hpp"
#include "store/own_record.hpp"
#include "store/run_directory.hpp"
#include "store/run_history.hpp"
#include "store/sent_mark.hpp"

namespace sotto {

namespace fs = std::filesystem;

RestoredFiles::RestoredFiles(Stay stay, const fs::path& directory)
    : stay_(stay), directory_(directory) {
    for (fs::path above = directory; !above.empty() && !fs::exists(above);
         above = above.parent_path())
        missing_.push_back(above);
}

void RestoredFiles::remove_empty_around(const fs::path& file) const {
    if (directory_.empty()) return;
    std::error_code ignored;
    const std::string inside = (directory_ / "").string();
    for (fs::path folder = file.parent_path(); folder.string().starts_with(inside);
         folder = folder.parent_path())
        fs::remove(folder, ignored);
    for (const fs::path& folder : missing_) fs::remove(folder, ignored);
}

void RestoredFiles::make_folder(const fs::path& folder) {
    std::vector<fs::path> missing;
    for (fs::path above = folder; !above.empty() && !fs::exists(above); above = above.parent_path())
        missing.push_back(above);
    create_folder(folder);
    std::ranges::copy(missing | std::views::reverse, std::back_inserter(folders_));
}

void RestoredFiles::write(const fs::path& file, std::string_view bytes) {
    make_folder(file.parent_path());
    if (stay_ == Stay::for_a_look) {
        std::optional<std::string> before;
        if (fs::exists(file)) before = read_file(file, std::numeric_limits<std::uint64_t>::max());
        files_.push_back({file, std::move(before)});
    }
    write_file_atomically(file, bytes, Readers::owner);
}

RestoredFiles::~RestoredFiles() {
    if (stay_ == Stay::for_good) return;
    std::error_code ignored;
    for (const Written& written : files_ | std::views::reverse) try {
            if (written.before)
                write_file_atomically(written.file, *written.before, Readers::owner);
            else
                fs::remove(written.file, ignored);
        } catch (const Error&) {
            // Failures do not hide what a dry run has found.
        }
    for (const fs::path& folder : folders_ | std::views::reverse) fs::remove(folder, ignored);
    for (const Written& written : files_) remove_empty_around(written.file);
}

namespace {

namespace fs = std::filesystem;

/// A peer's copy may be longer than one's own by this much, for the paths in its options.
constexpr std::uint64_t more_than_own = std::uint64_t{1} << 20;

struct Key {
    long round = 0;
    int beginning = 0;
    int agent = 0;
    auto operator<=>(const Key&) const = default;
};

fs::path folder_of(const fs::path& directory, const Key& key) {
    return checkpoint_folder(directory, key.round, key.beginning);
}

fs::path copy_file(const fs::path& directory, const Key& key) {
    return folder_of(directory, key) / fmt::format("agent-{}{}", key.agent, copy_ending);
}

/// Of the name of a copy.
std::optional<Key> key_of(const fs::path& file) {
    constexpr std::string_view beginning = "agent-";
    const std::string name = file.filename(), folder = file.parent_path().filename();
    if (file.extension() != copy_ending || !name.starts_with(beginning)) return std::nullopt;
    Key key;
    const char* const agent = name.data() + beginning.size();
    const auto [end, failure] =
        std::from_chars(agent, name.data() + name.size() - copy_ending.size(), key.agent);
    const auto [rest, no_round] =
        std::from_chars(folder.data(), folder.data() + folder.size(), key.round);
    if (no_round == std::errc() && rest != folder.data() + folder.size() && *rest == '-')
        (void)std::from_chars(rest + 1, folder.data() + folder.size(), key.beginning);
    if (failure != std::errc() || no_round != std::errc() ||
        file != copy_file(file.parent_path().parent_path().parent_path(), key))
        return std::nullopt;
    return key;
}

std::set<Key> kept_copies(const fs::path& directory) {
    std::set<Key> keys;
    std::error_code failure;
    for (const fs::path& folder : checkpoint_folders(directory))
        for (const auto& entry : fs::directory_iterator(folder, failure))
            if (const auto key = key_of(entry.path())) keys.insert(*key);
    return keys;
}

/// COLLECTIVE. By process.
std::vector<std::set<Key>> share_keys(Control& network, const std::set<Key>& own) {
    constexpr std::uint64_t entry = sizeof(std::int64_t) + 2 * sizeof(std::int32_t);
    ByteWriter writer;
    for (const Key& key : own) {
        writer.put(std::int64_t{key.round});
        writer.put(std::int32_t{key.beginning});
        writer.put(std::int32_t{key.agent});
    }
    const auto agents = 2 * static_cast<std::uint64_t>(network.agents()) + 1024;
    const auto all = network.all_gather(writer.take(), entry * agents * most_checkpoints);
    std::vector<std::set<Key>> keys(all.size());
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the list of copies of rank {}", p));
            while (!reader.done()) {
                Key key;
                key.round = reader.get<std::int64_t>();
                key.beginning = reader.get<std::int32_t>();
                key.agent = reader.get<std::int32_t>();
                if (key.round < 0 || key.beginning < 0 || key.agent < 0) reader.fail();
                keys[p].insert(key);
            }
        }
    });
    return keys;
}

/// What a process sends to its keeper.
std::string pack_copies(const fs::path& directory,
                        const CopiedCheckpoint& copied,
                        const std::vector<int>& numbers,
                        std::span<const Identity> identities) {
    const AgentFiles files =
        checkpoints_in(folder_of(directory, {copied.round, copied.beginning, 0}));
    ByteWriter writer;
    for (std::size_t a = 0; a < identities.size(); ++a) {
        writer.put(std::int32_t{numbers[a]});
        writer.put_text(seal_copy(identities[a],
                                  numbers[a],
                                  {.checkpoint = files.read(numbers[a]),
                                   .revealed = read_file(OwnRecord::file_in(directory, numbers[a])),
                                   .phase = copied.phase,
                                   .until = copied.until}));
    }
    return writer.take();
}

std::vector<int> numbers_of(const Control& network, const Membership& members, int process) {
    const AgentBlocks blocks = network.blocks();
    std::vector<int> numbers;
    for (int k = 0; k < blocks.size(process); ++k)
        numbers.push_back(members.number(blocks.first(process) + k));
    return numbers;
}

/// @param senders of the parcels.  @param hosted numbers of each sender's agents.
void write_copies(const fs::path& directory,
                  const CopiedCheckpoint& copied,
                  const std::vector<std::string>& parcels,
                  const std::vector<int>& senders,
                  const std::function<std::vector<int>(int sender)>& hosted) {
    const Key folder{copied.round, copied.beginning, 0};
    create_folder(folder_of(directory, folder));
    for (std::size_t k = 0; k < parcels.size(); ++k) {
        ByteReader reader(parcels[k], fmt::format("the copies of rank {}", senders[k]));
        const std::vector<int> numbers = hosted(senders[k]);
        while (!reader.done()) {
            const int number = reader.get<std::int32_t>();
            if (std::ranges::find(numbers, number) == numbers.end())
                throw NetworkError(
                    fmt::format("rank {} gives a copy of the checkpoint of agent {}, which it "
                                "does not host",
                                senders[k],
                                number));
            write_file_atomically(copy_file(directory, {folder.round, folder.beginning, number}),
                                  reader.get_text(),
                                  Readers::owner);
        }
    }
}

}  // namespace

void keep_copies(const fs::path& directory,
                 Control& network,
                 const std::vector<int>& keepers,
                 const CopiedCheckpoint& copied,
                 const Membership& members,
                 std::span<const Identity> identities) {
    if (network.maximum(identities.empty() ? 0 : 1) <= 0) return;
    std::string own;
    network.agree([&] {
        own = pack_copies(
            directory, copied, numbers_of(network, members, network.process()), identities);
    });
    const auto most = (own.size() + more_than_own) * network.most_agents_of_a_process();
    const auto parcels = network.send_parcels(own, keepers, most);
    std::vector<int> senders;
    for (std::size_t p = 0; p < keepers.size(); ++p)
        if (keepers[p] == network.process()) senders.push_back(static_cast<int>(p));
    network.agree([&] {
        write_copies(directory, copied, parcels, senders, [&](int sender) {
            return numbers_of(network, members, sender);
        });
    });
}

namespace {

struct Opened {
    std::map<Key, std::string> files;
    std::pair<int, long> sent{-1, 0};  // phase and rounds of the newest
    std::string revealed;              // the longest
    Digest run{};
};

/// Adds one copy. @throws Error if it is not of this agent and round.
void open_into(Opened& opened, const Identity& identity, const Key& key, std::string_view sealed) {
    CheckpointCopy copy = open_copy(identity, key.agent, sealed);
    const Checkpoint checkpoint =
        checkpoint_from_bytes(copy.checkpoint, fmt::format("the copy of round {}", key.round))
            .checkpoint;
    if (checkpoint.agent != key.agent || checkpoint.round != key.round ||
        beginning_of(checkpoint) != key.beginning)
        throw DataError(fmt::format("the copy is of round {}", checkpoint.round));
    (void)OwnRecord::from_text(copy.revealed, checkpoint.run, key.agent, "the copy's record");
    opened.run = checkpoint.run;
    opened.sent = std::max(opened.sent, std::pair(copy.phase, copy.until));
    if (copy.revealed.size() > opened.revealed.size()) opened.revealed = std::move(copy.revealed);
    opened.files[key] = std::move(copy.checkpoint);
}

/// Record and mark first: with a checkpoint but without them the agent could not resume.
void write_restored(RestoredFiles& files,
                    const fs::path& directory,
                    int agent,
                    const Opened& opened) {
    const fs::path own = OwnRecord::file_in(directory, agent);
    const std::string kept = fs::exists(own) ? read_file(own) : std::string();
    const bool newer = opened.revealed.size() > kept.size() && opened.revealed.starts_with(kept);
    if (newer) files.write(own, opened.revealed);
    const OwnRecord record =
        OwnRecord::from_text(opened.revealed, opened.run, agent, "the copy's record");
    restore_mark(files,
                 directory,
                 opened.run,
                 agent,
                 {.file = {},
                  .phase = opened.sent.first,
                  .session = record.entries().back().session,
                  .round = opened.sent.second},
                 newer);
    for (const auto& [key, bytes] : opened.files)
        files.write(checkpoints_in(folder_of(directory, key)).file_of(agent), bytes);
}

/// The agents' files in every checkpoint, by folder.
std::map<fs::path, AgentFiles> own_checkpoints(const fs::path& directory) {
    std::map<fs::path, AgentFiles> files;
    for (const fs::path& folder : checkpoint_folders(directory))
        files.emplace(folder, checkpoints_in(folder));
    return files;
}

/// Kept copies of checkpoints that the local agents lack.
std::set<Key> missing_here(const fs::path& directory,
                           const std::vector<int>& numbers,
                           const std::vector<std::set<Key>>& kept) {
    const auto own = own_checkpoints(directory);
    const auto has = [&](const Key& key) {
        const auto files = own.find(folder_of(directory, key));
        return files != own.end() && files->second.has(key.agent);
    };
    std::set<Key> missing;
    for (const auto& keys : kept)
        for (const Key& key : keys)
            if (std::ranges::find(numbers, key.agent) != numbers.end() && !has(key))
                missing.insert(key);
    return missing;
}

/// @throws DataError for an agent that has only copies.
void require_identity(const fs::path& directory,
                      const std::vector<int>& numbers,
                      const std::set<Key>& missing) {
    const auto own = own_checkpoints(directory);
    for (const int number : numbers) {
        const bool has_own = std::ranges::any_of(
            own, [&](const auto& checkpoint) { return checkpoint.second.has(number); });
        const bool has_copy =
            std::ranges::any_of(missing, [&](const Key& key) { return key.agent == number; });
        if (has_copy && !has_own)
            throw DataError(
                fmt::format("{}: agent {}'s checkpoints are gone; others keep copies, which only "
                            "its identity opens: give --identity with --resume (or --without {})",
                            directory.string(),
                            number,
                            number));
    }
}

}  // namespace

namespace {

/// Sends one copy from its keeper to its agent's process. COLLECTIVE.
/// @param open takes it there; one that does not open is skipped.
void fetch_copy(const fs::path& directory,
                Control& network,
                const Key& key,
                std::size_t keeper,
                std::size_t owner,
                const std::function<void(std::string_view)>& open) {
    std::vector<int> receivers(static_cast<std::size_t>(network.processes()), -1);
    receivers[keeper] = static_cast<int>(owner);
    std::string sent;
    network.agree([&] {
        if (keeper == static_cast<std::size_t>(network.process()))
            sent = read_file(copy_file(directory, key), most_array_bytes());
    });
    const auto came = network.send_parcels(sent, receivers, most_array_bytes());
    if (!came.empty()) try {
            open(came.front());
        } catch (const Error&) {
            // Copies of other keepers may open.
        }
}

struct Outcome {
    std::int64_t agent = 0, round = 0;
    std::int64_t until = -1;  ///< rounds that count as sent; -1: no copy opened
};

/// All outcomes, as lines. COLLECTIVE.
std::vector<std::string> share_outcomes(Control& network,
                                        const std::vector<Outcome>& own,
                                        Stay stay) {
    ByteWriter writer;
    for (const Outcome& outcome : own) writer.put(outcome);
    const auto agents = 2 * static_cast<std::uint64_t>(network.agents()) + 1024;
    const auto all = network.all_gather(writer.take(), sizeof(Outcome) * agents * most_checkpoints);
    std::vector<std::string> lines;
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("what rank {} restored", p));
            while (!reader.done()) {
                const auto outcome = reader.get<Outcome>();
                lines.push_back(
                    outcome.until < 0
                        ? fmt::format("agent {}: no copy of its checkpoint of round {} opens",
                                      outcome.agent,
                                      outcome.round)
                        : fmt::format("agent {}: its checkpoint {} restored from a copy on "
                                      "another disk; rounds up to {} count as sent",
                                      outcome.agent,
                                      stay == Stay::for_good ? "was" : "would be",
                                      outcome.until));
            }
        }
    });
    return lines;
}

}  // namespace

std::vector<std::string> restore_from_copies(
    RestoredFiles& files,
    const fs::path& directory,
    Control& network,
    const Membership& members,
    const std::function<Identity(std::size_t local_index)>& identity) {
    const std::vector<int> numbers = numbers_of(network, members, network.process());
    const auto kept = share_keys(network, kept_copies(directory));
    std::set<Key> missing = missing_here(directory, numbers, kept);
    network.agree([&] {
        if (!identity) require_identity(directory, numbers, missing);
    });
    if (!identity) missing.clear();
    const auto wanted = share_keys(network, missing);
    if (std::ranges::all_of(wanted, &std::set<Key>::empty)) return {};
    std::map<int, Opened> opened;
    std::vector<Outcome> outcomes;
    for (std::size_t owner = 0; owner < wanted.size(); ++owner)
        for (const Key& key : wanted[owner]) {
            // From all keepers, since the copy of an earlier start, with another keeper, counts
            // fewer rounds.
            for (std::size_t keeper = 0; keeper < kept.size(); ++keeper)
                if (kept[keeper].contains(key))
                    fetch_copy(
                        directory, network, key, keeper, owner, [&](std::string_view sealed) {
                            const auto place =
                                std::ranges::find(numbers, key.agent) - numbers.begin();
                            open_into(opened[key.agent],
                                      identity(static_cast<std::size_t>(place)),
                                      key,
                                      sealed);
                        });
            if (owner == static_cast<std::size_t>(network.process()) &&
                !opened[key.agent].files.contains(key))
                outcomes.push_back({key.agent, key.round, -1});
        }
    network.agree([&] {
        for (const auto& [agent, copies] : opened) {
            if (copies.files.empty()) continue;
            write_restored(files, directory, agent, copies);
            outcomes.push_back({agent, copies.files.rbegin()->first.round, copies.sent.second});
        }
    });
    return share_outcomes(network, outcomes, files.stay());
}

void forget_copies(const fs::path& folder) {
    std::vector<fs::path> old;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().extension() == copy_ending) old.push_back(entry.path());
    for (const fs::path& file : old) fs::remove(file, ignored);
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view options_name = "config.ini", history_name = "history.json",
                           manifest_name = "manifest.json", metrics_name = "metrics.csv";
/// Of everything that process 0 keeps.
constexpr std::uint64_t most_copy_bytes = 2 * most_plan_bytes;

fs::path copy_in(const fs::path& folder) { return folder / fmt::format("run{}", copy_ending); }
fs::path history_copy(const fs::path& directory) { return copy_in(directory / "checkpoints"); }

/// Names and contents of files.
std::string pack_files(const std::vector<std::pair<std::string, fs::path>>& files) {
    ByteWriter writer;
    for (const auto& [name, file] : files) {
        writer.put_text(name);
        writer.put_text(read_file(file, most_plan_bytes));
    }
    return writer.take();
}

/// Hands over only names that allowed() accepts: another process must not choose files.
void unpack_files(std::string_view packed,
                  const std::function<bool(const std::string&)>& allowed,
                  const std::function<void(const std::string& name, std::string_view)>& take) {
    ByteReader reader(packed, "a copy of rank 0's files");
    while (!reader.done()) {
        const std::string name(reader.get_text());
        const std::string_view content = reader.get_text();
        if (!allowed(name)) reader.fail();
        take(name, content);
    }
}

bool is_of_history(const std::string& name) {
    if (name == options_name || name == history_name) return true;
    static const std::regex plan(fmt::format(
        "(plan|{}|{})(-[0-9]{{1,9}})?\\.json", survey_of_norms.name, survey_of_moments.name));
    return std::regex_match(name, plan);
}

/// Whether checkpoint_folder makes this name: digits, perhaps a dash and more digits.
bool is_of_checkpoint(std::string_view folder) {
    constexpr std::string_view digits = "0123456789";
    const std::size_t dash = folder.find_first_not_of(digits);
    if (dash == 0 || folder.empty() || folder.size() > 64) return false;
    if (dash == std::string_view::npos) return true;
    return folder[dash] == '-' && dash + 1 < folder.size() &&
           folder.find_first_not_of(digits, dash + 1) == std::string_view::npos;
}

/// From process 0 to its keeper. COLLECTIVE.
void give(Control& network,
          int keeper,
          const std::function<std::string()>& pack,
          const fs::path& file) {
    std::string packed;
    network.agree([&] {
        if (network.process() == 0) packed = pack();
    });
    std::vector<int> receivers(static_cast<std::size_t>(network.processes()), -1);
    receivers.front() = keeper;
    const auto came = network.send_parcels(packed, receivers, most_copy_bytes);
    network.agree([&] {
        if (came.empty()) return;
        create_folder(file.parent_path());
        write_file_atomically(file, came.front(), Readers::owner);
    });
}

}  // namespace

void keep_history(const fs::path& directory, Control& network, int keeper) {
    give(
        network,
        keeper,
        [&] {
            std::vector<std::pair<std::string, fs::path>> files;
            files.emplace_back(options_name, directory / options_name);
            const RunHistory history = read_history(directory);
            for (std::size_t k = 0; k < history.phases.size(); ++k) {
                const std::string plan = plan_file_of(history.phases, k);
                files.emplace_back(plan, directory / plan);
            }
            files.emplace_back(history_name, directory / history_name);
            ByteWriter writer;
            writer.put(std::int64_t{history.starts});
            return writer.take() + pack_files(files);
        },
        history_copy(directory));
}

void keep_manifest(const fs::path& directory,
                   Control& network,
                   int keeper,
                   const fs::path& folder) {
    give(
        network,
        keeper,
        [&] {
            return pack_files({{std::string(manifest_name), folder / manifest_name},
                               {std::string(metrics_name), directory / metrics_name}});
        },
        copy_in(folder));
}

namespace {

/// Age of a process's copies: starts of the run, and the newest checkpoint.
struct Age {
    std::int64_t starts = -1, round = -1;
    auto operator<=>(const Age&) const = default;
};

std::vector<fs::path> folders_with_manifest(const fs::path& directory) {
    std::vector<fs::path> result;
    for (const fs::path& folder : checkpoint_folders(directory))
        if (fs::exists(copy_in(folder))) result.push_back(folder);
    return result;
}

Age age_of_copies(const fs::path& directory) {
    Age age;
    if (!fs::exists(history_copy(directory))) return age;
    const std::string packed = read_file(history_copy(directory), most_copy_bytes);
    age.starts = ByteReader(packed, history_copy(directory).string()).get<std::int64_t>();
    if (const auto folders = folders_with_manifest(directory); !folders.empty())
        age.round = std::atol(folders.front().filename().c_str());
    return age;
}

std::string pack_all(const fs::path& directory) {
    ByteWriter writer;
    writer.put_text(read_file(history_copy(directory), most_copy_bytes));
    for (const fs::path& folder : folders_with_manifest(directory)) {
        writer.put_text(folder.filename().string());
        writer.put_text(read_file(copy_in(folder), most_copy_bytes));
    }
    return writer.take();
}

void unpack_all(RestoredFiles& files, const std::string& packed, const fs::path& directory) {
    ByteReader reader(packed, "the copies of rank 0's files");
    const std::string_view history = reader.get_text();
    bool newest = true;
    while (!reader.done()) {
        const std::string folder(reader.get_text());
        if (!is_of_checkpoint(folder)) reader.fail();
        unpack_files(
            reader.get_text(),
            [](const std::string& name) { return name == manifest_name || name == metrics_name; },
            [&](const std::string& name, std::string_view content) {
                if (name == manifest_name)
                    files.write(directory / "checkpoints" / folder / name, content);
                else if (newest)
                    files.write(directory / name, content);
            });
        newest = false;
    }
    // The history last, since it makes the directory a run.
    if (history.size() < sizeof(std::int64_t)) reader.fail();
    unpack_files(history.substr(sizeof(std::int64_t)),
                 is_of_history,
                 [&](const std::string& name, std::string_view content) {
                     files.write(directory / name, content);
                 });
}

}  // namespace

bool restore_history(RestoredFiles& files, const fs::path& directory, Control& network) {
    double lost = 0;
    network.agree([&] {
        if (network.process() == 0 &&
            (!fs::exists(directory / options_name) || !fs::exists(directory / history_name)))
            lost = 1;
    });
    if (network.maximum(lost) <= 0) return false;
    Age own;
    network.agree([&] { own = age_of_copies(directory); });
    ByteWriter writer;
    writer.put(own);
    const auto all = network.all_gather(writer.take(), sizeof(Age));
    std::vector<Age> ages;
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p)
            ages.push_back(ByteReader(all[p], fmt::format("what rank {} keeps", p)).get<Age>());
    });
    const auto newest = std::ranges::max_element(ages);
    if (newest->starts < 0) return false;
    std::vector<int> receivers(ages.size(), -1);
    const auto keeper = static_cast<std::size_t>(newest - ages.begin());
    receivers[keeper] = 0;
    std::string packed;
    network.agree([&] {
        if (keeper == static_cast<std::size_t>(network.process())) packed = pack_all(directory);
    });
    const auto came = network.send_parcels(packed, receivers, 2 * most_copy_bytes);
    network.agree([&] {
        if (!came.empty()) unpack_all(files, came.front(), directory);
    });
    return true;
}

}  // namespace sotto
