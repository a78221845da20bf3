// The program itself, with files made to mislead, exhaust or stop it. All readers, one by one:
// hostile_inputs_test.cpp.

#include <sys/stat.h>

#include <string>

#include "cli/program.hpp"
#include "core/files.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

/// Compressed, this many times a piece of a megabyte.
std::string bomb(const TempDir& directory, const std::string& name, char byte, int times) {
    const std::string path = directory.path(name), piece(1 << 20, byte);
    const gzFile file = ::gzopen(path.c_str(), "wb1");
    for (int i = 0; i < times; ++i) ::gzwrite(file, piece.data(), 1 << 20);
    ::gzclose(file);
    return path;
}

std::string pipe_in(const TempDir& directory) {
    const std::string path = directory.path("pipe");
    ::mkfifo(path.c_str(), 0600);
    return path;
}

TEST(BadFiles, OfDataEndTheProgramAtOnce) {
    const TempDir directory;
    const std::string pipe = pipe_in(directory);
    expect_refused(directory, {"train", "--data", pipe}, 3, "is a pipe, not a file");
    expect_refused(directory, {"train", "--data", "/dev/zero"}, 3, "is a device, not a file");
    expect_refused(
        directory, {"train", "--data", bomb(directory, "n.gz", '\n', 512)}, 3, "unpack to more");
    expect_refused(directory,
                   {"train", "--data", directory.write("far.svm", "+1 1:1\n-1 100000000:1\n")},
                   3,
                   "index 100000000 is too large");
}

TEST(BadFiles, OfGraphsAndPlansEndTheProgramAtOnce) {
    const TempDir directory;
    const std::string pipe = pipe_in(directory);
    expect_refused(directory, {"graph", "--graph", pipe}, 3, "is a pipe, not a file");
    expect_refused(directory, {"plan", "--seed-groups", pipe}, 3, "is a pipe, not a file");
    expect_refused(directory, {"account", "--plan", pipe}, 3, "is a pipe, not a file");
    std::string groups;
    for (int i = 0; i < 2000000; ++i) groups += "0 1\n";
    expect_refused(directory,
                   {"plan", "--seed-groups", directory.write("groups", groups)},
                   3,
                   "seed groups of 20 agents have more than 5696 members");
    expect_refused(
        directory, {"plan", "--config", directory.write("c.ini", "[x]\n=\n")}, 2, "c.ini");
}

class EditedRun : public ::testing::Test {
  protected:
    void SetUp() override {
        const Outcome outcome = run_sotto(directory, one_process, short_training({}));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    }
    TempDir directory;
};

TEST_F(EditedRun, OfAnotherLedgerIsRefusedByAccountAndReport) {
    auto ledger = json_of(directory / "run/ledger.json");
    ledger["rounds"]["completed"] = 1;
    (void)directory.write("run/ledger.json", ledger.dump());
    expect_refused(
        directory, {"account", "--run", "run", "--view", "node:0"}, 3, "is not the ledger");
    expect_refused(directory, {"report", "run"}, 3, "is not the ledger");
}

TEST(EditedAudit, OfAnotherLedgerIsRefused) {
    const TempDir directory;
    const Arguments options{"audit", "--agents", "3", "--topology", "complete", "--rounds", "5"};
    Arguments first = options;
    // A seed: the measured interval misses the exact epsilon by chance in one of a hundred audits.
    for (const char* word :
         {"--view", "node:0", "--trials", "400", "--run-directory", "run", "--noise-seed", "7"})
        first.emplace_back(word);
    const Outcome outcome = run_sotto(directory, one_process, first);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    auto ledger = json_of(directory / "run/ledger.json");
    ledger["agents"][0]["epsilon"] = 0.1;
    (void)directory.write("run/ledger.json", ledger.dump());
    expect_refused(directory, {"audit", "--run", "run"}, 3, "is not the ledger");
}

TEST_F(EditedRun, OfAManifestThatIsAnArrayIsRefusedByAccount) {
    (void)directory.write("run/manifest.json", "[]");
    expect_refused(directory, {"account", "--run", "run", "--view", "node:0"}, 3, "ledger_blake2b");
}

TEST_F(EditedRun, WithAFailureThatIsNoTextIsReported) {
    (void)directory.write("run/failure.txt", "rank 0: \xff\xfe\n");
    const Outcome outcome = run_sotto(directory, one_process, {"report", "run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

}  // namespace
}  // namespace sotto::test
