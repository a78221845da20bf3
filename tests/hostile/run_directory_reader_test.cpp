// Somebody who gets at a run directory: another user of the host, or a thief who has the agents'
// identities as well, later.

#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>
#include <map>
#include <vector>

#include "agent/checkpoint.hpp"
#include "core/files.hpp"
#include "hostile/stopped_run.hpp"
#include "store/checkpoint_store.hpp"
#include "store/run_history.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& directory) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
        if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
}

long newest_checkpoint(const fs::path& run) {
    long newest = -1;
    std::error_code ignored;
    for (const auto& folder : fs::directory_iterator(run / "checkpoints", ignored))
        if (fs::exists(folder.path() / "manifest.json"))
            newest = std::max(newest, std::stol(folder.path().filename().string()));
    return newest;
}

/// The sealed seeds that a thief with all identities opens, by file.
std::map<fs::path, std::string> stolen(const StoppedRun& stopped) {
    const fs::path run = stopped.path("run");
    const Digest plan = read_history(run).phases.back().plan.hash();
    std::map<fs::path, std::string> opened;
    for (const fs::path& file : files_of(run)) {
        if (file.extension() != ".checkpoint") continue;
        const Checkpoint own = checkpoint_from_bytes(read_file(file), file.string()).checkpoint;
        const AgentFiles all = saved_seeds_of(run, own);
        if (!all.has(own.agent)) continue;
        const fs::path seeds = all.file_of(own.agent);
        const Identity identity = Identity::read(stopped.path(fmt::format("id{}", own.agent)));
        const std::string sealed = sealed_seeds_from(all.read(own.agent), seeds.string());
        const KeyRing ring = open_seeds_of(identity, sealed, own, plan, own.agent);
        EXPECT_FALSE(ring.groups().empty());
        opened[seeds] = sealed;
    }
    return opened;
}

TEST(ThiefOfIdentities, OpensNoSeedsOnceTheRunWasTakenUp) {
    const StoppedRun stopped({"--epsilon", "3", "--mechanism", "pairs"}, true);
    const fs::path run = stopped.path("run");
    const auto before = stolen(stopped);
    EXPECT_EQ(before.size(), 3U) << "the thief comes too early to find nothing";
    const long round = newest_checkpoint(run);
    Process process(sotto_command(3, {"train", "--resume", run}), stopped.folder().path());
    // Killed, as by a power failure: nothing is tidied up at the end.
    const bool reached = happens([&] { return newest_checkpoint(run) > round; });
    process.signal_group(SIGKILL);
    const Outcome outcome = process.wait();
    ASSERT_TRUE(reached) << outcome.text();
    ASSERT_TRUE(all_ended(stopped.folder().path()));
    EXPECT_TRUE(stolen(stopped).empty());
    for (const fs::path& file : files_of(run)) {
        const std::string content = content_of(file);
        for (const auto& [seeds, sealed] : before)
            for (std::size_t at = 0; at + 16 <= sealed.size(); at += 16)
                EXPECT_EQ(content.find(sealed.substr(at, 16)), std::string::npos)
                    << file << " still has what was in " << seeds;
    }
}

TEST(AnotherUser, ReadsNothingOfARunDirectory) {
    const TempDir directory;
    const mode_t before = ::umask(0);
    const Outcome outcome = run_sotto(directory,
                                      3,
                                      short_training({"--mechanism",
                                                      "ldp",
                                                      "--checkpoint-every",
                                                      "5",
                                                      "--record-view",
                                                      "1,eavesdropper",
                                                      "--json",
                                                      "asked-for.json"}));
    // Where sotto is built without its libraries there is no page.
    (void)run_sotto(directory, one_process, {"report", "run"});
    ::umask(before);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto others = fs::perms::group_all | fs::perms::others_all;
    const auto mode_of = [](const fs::path& path) { return fs::status(path).permissions(); };
    EXPECT_EQ(mode_of(directory / "run"), fs::perms::owner_all);
    std::size_t seen = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory / "run")) {
        EXPECT_EQ(entry.status().permissions() & others, fs::perms::none) << entry.path();
        ++seen;
    }
    for (const char* file : {"agents/2/model.npy",
                             "ledger.json",
                             "history.json",
                             "sent/1.now",
                             "checkpoints/000000000015/agent-2.checkpoint",
                             "checkpoints/000000000015/manifest.json",
                             "views/1/seeds.json",
                             "views/wire"})
        EXPECT_TRUE(fs::exists(fs::path(directory / "run") / file)) << file;
    EXPECT_GT(seen, 30U);
    // What is written where its user says is as the user's umask says.
    EXPECT_EQ(mode_of(directory / "asked-for.json"), fs::perms(0644));
}

TEST(AnotherUser, ReadsNothingOfWhatASupervisorWrites) {
    const TempDir directory;
    const mode_t before = ::umask(0);
    Arguments words = sotto_command(one_process, {"supervise", "--max-restarts", "1", "--"});
    const Arguments job = sotto_command(
        3, short_training({"--mechanism", "ldp", "--json", directory / "asked-for.json"}));
    words.insert(words.end(), job.begin(), job.end());
    const Outcome outcome = Process(words, directory.path()).wait();
    ::umask(before);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    std::size_t logs = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory / "run")) {
        // Open MPI makes a rank's folder with 0750, whatever the umask, in one of 0700.
        if (entry.path().parent_path() == directory / "run/logs/1/1") continue;
        EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all),
                  fs::perms::none)
            << entry.path();
        logs += entry.path().filename() == "stdout" ? 1 : 0;
    }
    EXPECT_EQ(logs, 3U);
    EXPECT_TRUE(fs::exists(directory / "run/restarts.txt"));
    EXPECT_EQ(fs::status(directory / "asked-for.json").permissions(), fs::perms(0644))
        << "as the user's umask says";
}

}  // namespace
}  // namespace sotto::test
