#include "store/run_directory.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <sstream>
#include <string>

#include "core/bytes.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "store/own_record.hpp"
#include "store/sent_mark.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

std::string unusable_text(const fs::path& path, const std::string& reason) {
    return fmt::format("run-directory: {} cannot be used ({})", path.string(), reason);
}
ConfigError unusable(const fs::path& path, const std::string& reason) {
    return ConfigError(unusable_text(path, reason));
}
/// @param reason an errno value.
[[noreturn]] void throw_unusable(const fs::path& path, int reason) {
    throw_write_failure(unusable_text(path, std::strerror(reason)), reason);
}

ConfigError holds_a_run(const fs::path& path) {
    return unusable(path, "it already holds a run; name another directory or remove it first");
}

}  // namespace

RunDirectory RunDirectory::create(const std::string& wanted, const std::string& name) {
    fs::path path = wanted;
    if (wanted.empty()) {
        const std::time_t now = std::time(nullptr);
        const std::string stem = fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::localtime(now), name);
        path = fs::path("runs") / stem;
        for (int i = 2; fs::exists(path); ++i)
            path = fs::path("runs") / fmt::format("{}-{}", stem, i);
    }
    if (const std::error_code failure = make_private_folder(path))
        throw_unusable(path, failure.value());
    if (!fs::is_directory(path)) throw unusable(path, "it is not a directory");
    RunDirectory directory(path);
    // A run locks the directory before it makes metrics.csv.
    if (fs::exists(path / "metrics.csv") && !fs::exists(path / "lock")) throw holds_a_run(path);
    directory.require_unbegun();
    directory.lock();
    directory.require_unbegun();
    directory.holds_unbegun_ = fs::exists(path / "history.json");
    try {
        write_file_atomically(path / "metrics.csv", "", Readers::owner);
    } catch (const Error&) {
        throw_unusable(path, errno);
    }
    directory.metrics_.open(path / "metrics.csv", std::ios::trunc);
    directory.metrics_ << metrics_head() << '\n' << std::flush;
    return directory;
}

RunDirectory RunDirectory::reopen(const std::string& path, long round) {
    RunDirectory directory{fs::path(path)};
    if (!fs::exists(directory.path_ / "metrics.csv")) throw unusable(path, "it holds no run");
    directory.lock();
    std::istringstream before(read_file(directory.path_ / "metrics.csv"));
    std::string kept, line;
    for (bool header = true; std::getline(before, line); header = false)
        if (header || std::atol(line.c_str()) < round) kept += line + "\n";
    write_file_atomically(directory.path_ / "metrics.csv", kept, Readers::owner);
    directory.metrics_.open(directory.path_ / "metrics.csv", std::ios::app);
    return directory;
}

void RunDirectory::require_unbegun() const {
    bool begun = fs::exists(path_ / "config.ini") || may_have_sent(path_);
    std::error_code failure;
    const bool marked = fs::exists(path_ / "sent") && !fs::is_empty(path_ / "sent", failure);
    for (const auto& entry : fs::directory_iterator(path_ / "agents", failure))
        begun = begun || (!marked && fs::exists(entry.path() / OwnRecord::file_name));
    for (const auto& entry : fs::directory_iterator(path_ / "checkpoints", failure))
        begun = begun || std::atol(entry.path().filename().c_str()) > 0;
    if (begun) throw holds_a_run(path_);
}

void RunDirectory::forget_unbegun(std::span<const int> agents) const {
    // Several processes may share a folder.
    std::error_code ignored;
    for (const int agent : agents) fs::remove(OwnRecord::file_in(path_, agent), ignored);
    forget_marks(path_);
    for (const int agent : agents)
        for (const fs::path& views : {path_ / "views", path_ / "views" / "wire"})
            fs::remove_all(views / std::to_string(agent), ignored);
}

void RunDirectory::prepare_for(std::span<const int> agents) const {
    std::error_code ignored;
    fs::remove(path_ / "failure.txt", ignored);
    for (const int agent : agents) require_writable(folder_of(agent) / "model.npy");
}

void RunDirectory::abandon() {
    metrics_.close();
    lock_.reset();
    std::error_code ignored;
    for (const char* file : {"metrics.csv", "lock"}) fs::remove(path_ / file, ignored);
    // Removes folders that are empty.
    std::vector<fs::path> empty;
    for (const auto& entry : fs::directory_iterator(path_ / "agents", ignored))
        empty.push_back(entry.path());
    for (const fs::path& folder : empty) fs::remove(folder, ignored);
    fs::remove(path_ / "agents", ignored);
    fs::remove(path_, ignored);
}

void RunDirectory::lock() {
    try {
        lock_ = FileLock::take(path_ / "lock");
    } catch (const Error&) {
        throw_unusable(path_, errno);
    }
    if (!lock_) throw unusable(path_, "a run that is still going on uses it");
}

RunDirectory RunDirectory::existing(fs::path path) { return RunDirectory(std::move(path)); }

void RunDirectory::write(const std::string& file, std::string_view content) const {
    write_file_atomically(path_ / file, content, Readers::owner);
}

void RunDirectory::append_metrics(const MetricsRow& row) {
    errno = ENOSPC;  // where less is written than asked for
    metrics_ << metrics_line(row) << '\n' << std::flush;
    if (!metrics_) throw_unusable(path_ / "metrics.csv", errno);
}

bool RunDirectory::claim_failure(std::string_view message) const {
    try {
        return create_file(path_ / "failure.txt", std::string(message) + "\n", Readers::owner);
    } catch (const Error&) {
        // A folder that is not writable or not shared with other hosts must not hide why the run
        // failed.
        return true;
    }
}

fs::path RunDirectory::folder_of(int agent) const {
    const fs::path folder = path_ / "agents" / std::to_string(agent);
    if (const std::error_code failure = make_private_folder(folder))
        throw_unusable(folder, failure.value());
    return folder;
}

void RunDirectory::write_model(int agent, std::span<const double> model) const {
    write_npy(folder_of(agent) / "model.npy", model, Readers::owner);
}

void RunDirectory::write_for(int agent, const std::string& file, std::string_view content) const {
    write_file_atomically(folder_of(agent) / file, content, Readers::owner);
}

fs::path own_directory(const std::optional<std::string>& resumed,
                       const std::optional<std::string>& given,
                       const std::string& said) {
    if (resumed) return *resumed;
    if (given && !given->empty()) return *given;
    const fs::path name = fs::path(said).filename();
    if (name.empty() || name == "." || name == "..")
        throw NetworkError(
            fmt::format("rank 0 names '{}' as the run's directory, which is not a name of a folder",
                        said.substr(0, 80)));
    return fs::path("runs") / name;
}

namespace {

constexpr const char* checkpoint_files = "checkpoints/*/*.checkpoint";

}  // namespace

std::vector<DirectorySecret> directory_secrets(const TrainConfig& config, const NoisePlan& plan) {
    const std::vector<std::string> models{"agents/*/model.npy", checkpoint_files};
    std::vector<DirectorySecret> secrets;
    if (plan.noiseless())
        secrets.push_back({models, "models without any noise"});
    else if (!models_follow_from_messages(plan))
        secrets.push_back({models,
                           "each is made from the agent's own copy of its messages, whose noise is "
                           "not theirs; the ledger is about messages"});
    secrets.push_back({{"metrics.csv", "summary.json", "log.txt", "report.html", "live.html"},
                       "losses and accuracies of raw data, without noise"});
    if (config.tensorboard) secrets.back().files.emplace_back("tensorboard/");
    if (config.task.data != "synthetic")
        secrets.push_back({{"data.json", "agents/*/data.json", checkpoint_files},
                           "digests of the records: whoever knows nearly all of them can test "
                           "guesses of the rest"});
    if (one_file_an_agent(config.task) && config.task.standardise == Standardise::public_moments)
        secrets.push_back({{"agents/*/model.json"},
                           "for tables, the mean and deviation of the agent's own training data"});
    if (config.noise_seed)
        secrets.push_back(
            {{"config.ini", checkpoint_files}, "the noise seed, from which all noise follows"});
    else if (config.trust)
        secrets.push_back({{"checkpoints/*/*.seeds"},
                           "seeds of an agent's noise, sealed for its identity: whoever has both "
                           "can remove its noise; erased when the run is resumed"});
    if (!config.record_views.empty())
        secrets.push_back(
            {{"views*/"},
             fmt::format("gradients without noise, and seeds, of agents {}; messages they received",
                         fmt::join(config.record_views, ", "))});
    if (config.record_wire)
        secrets.push_back(
            {{"views*/wire/"}, "what crossed the links, as it is without link encryption"});
    return secrets;
}

namespace fs = std::filesystem;

std::vector<int> disks_of(const fs::path& folder, Control& network, const std::string& token) {
    const auto file_of = [&](int process) {
        return folder / fmt::format("disk-{}-{}", token, process);
    };
    const fs::path own = file_of(network.process());
    network.agree([&] {
        create_folder(folder);
        (void)create_file(own, "\n", Readers::owner);
    });
    ByteWriter seen;
    for (int p = 0; p < network.processes(); ++p) {
        std::error_code unseen;
        if (!fs::exists(file_of(p), unseen)) continue;
        seen.put(std::int32_t{p});
        break;
    }
    const auto all = network.all_gather(seen.take(), sizeof(std::int32_t));
    std::error_code ignored;
    fs::remove(own, ignored);
    std::vector<int> disks;
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the word of rank {} on its disk", p));
            const auto lowest = reader.get<std::int32_t>();
            if (lowest < 0 || lowest > static_cast<int>(p)) reader.fail();
            disks.push_back(lowest);
        }
    });
    return disks;
}

std::vector<int> keepers_on(const std::vector<int>& disks) {
    std::map<int, std::vector<int>> processes;
    for (std::size_t p = 0; p < disks.size(); ++p)
        processes[disks[p]].push_back(static_cast<int>(p));
    if (processes.size() < 2) return {};
    std::vector<int> keepers(disks.size());
    for (auto disk = processes.begin(); disk != processes.end(); ++disk) {
        const auto next = std::next(disk) == processes.end() ? processes.begin() : std::next(disk);
        for (std::size_t i = 0; i < disk->second.size(); ++i)
            keepers[static_cast<std::size_t>(disk->second[i])] =
                next->second[i % next->second.size()];
    }
    return keepers;
}

void create_folder(const std::filesystem::path& folder) {
    if (const std::error_code failure = make_private_folder(folder))
        throw_write_failure(
            fmt::format("{}: cannot be created ({})", folder.string(), failure.message()),
            failure.value());
}

void append_to_log(const std::filesystem::path& run_directory, std::string_view text) noexcept try {
    const std::string now = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
    std::string lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0) lines += fmt::format("{}  {}\n", now, text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    const int file = ::open((run_directory / "log.txt").c_str(),
                            O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                            0600);
    if (file < 0) return;
    [[maybe_unused]] const auto written = ::write(file, lines.data(), lines.size());
    ::close(file);
} catch (...) {
    // Only memory can be short here, and whoever needs it will report that.
}

}  // namespace sotto
