#include "store/history_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/plan/plan_size.hpp"
#include "store/checkpoint_copies.hpp"
#include "store/checkpoint_store.hpp"
#include "store/folders.hpp"
#include "store/run_history.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view options_name = "config.ini", history_name = "history.json",
                           manifest_name = "manifest.json", metrics_name = "metrics.csv";
/// Of all that process 0 keeps.
constexpr std::uint64_t most_copy_bytes = 2 * most_plan_bytes;

fs::path copy_in(const fs::path& folder) { return folder / fmt::format("run{}", copy_ending); }
fs::path history_copy(const fs::path& directory) { return copy_in(directory / "checkpoints"); }

/// Name and content of files, one after the other.
std::string pack_files(const std::vector<std::pair<std::string, fs::path>>& files) {
    ByteWriter writer;
    for (const auto& [name, file] : files) {
        writer.put_text(name);
        writer.put_text(read_file(file, most_plan_bytes));
    }
    return writer.take();
}

/// Hands over names and contents, but only what allowed() says: another's word must not choose
/// files.
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
    if (name == options_name || name == history_name || name == "plan.json") return true;
    constexpr std::string_view beginning = "plan-", ending = ".json";
    if (!name.starts_with(beginning) || !name.ends_with(ending) ||
        name.size() <= beginning.size() + ending.size())
        return false;
    const auto number = std::string_view(name).substr(
        beginning.size(), name.size() - beginning.size() - ending.size());
    return number.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The name of a folder that checkpoint_folder makes: digits, and perhaps a dash and more digits.
bool is_of_checkpoint(std::string_view folder) {
    constexpr std::string_view digits = "0123456789";
    const std::size_t dash = folder.find_first_not_of(digits);
    if (dash == 0 || folder.empty() || folder.size() > 64) return false;
    if (dash == std::string_view::npos) return true;
    return folder[dash] == '-' && dash + 1 < folder.size() &&
           folder.find_first_not_of(digits, dash + 1) == std::string_view::npos;
}

/// From process 0 to its keeper. COLLECTIVE.
void give(Network& network,
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

void keep_history(const fs::path& directory, Network& network, int keeper) {
    give(
        network,
        keeper,
        [&] {
            std::vector<std::pair<std::string, fs::path>> files;
            files.emplace_back(options_name, directory / options_name);
            for (int k = 0;; ++k) {
                const std::string plan = numbered_file("plan", ".json", k);
                if (!fs::exists(directory / plan)) break;
                files.emplace_back(plan, directory / plan);
            }
            files.emplace_back(history_name, directory / history_name);
            ByteWriter writer;
            writer.put(std::int64_t{read_history(directory).starts});
            return writer.take() + pack_files(files);
        },
        history_copy(directory));
}

void keep_manifest(const fs::path& directory,
                   Network& network,
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

/// How new a process's copies are: starts of the run, and the newest checkpoint.
struct Age {
    std::int64_t starts = -1, round = -1;
    auto operator<=>(const Age&) const = default;
};

/// Rounds whose manifests this process keeps, newest first.
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

/// All of a process's copies for process 0.
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
    // The history last: with it a run is there.
    if (history.size() < sizeof(std::int64_t)) reader.fail();
    unpack_files(history.substr(sizeof(std::int64_t)),
                 is_of_history,
                 [&](const std::string& name, std::string_view content) {
                     files.write(directory / name, content);
                 });
}

}  // namespace

bool restore_history(RestoredFiles& files, const fs::path& directory, Network& network) {
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
