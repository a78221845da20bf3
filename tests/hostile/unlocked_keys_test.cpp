// Secret keys that cannot be locked in memory may be written to swap: whoever trains must hear of
// it.

#include <fmt/format.h>

#include <string>

#include "cli/program.hpp"

namespace sotto::test {
namespace {

long lines_with(const std::string& text, const std::string& part) {
    long count = 0;
    for (const std::string& line : lines_of(text))
        count += line.find(part) != std::string::npos ? 1 : 0;
    return count;
}

/// --quiet would keep the warning from the report; the ledger has it anyway.
Arguments training_with_report() {
    Arguments arguments = short_training({});
    std::erase(arguments, "--quiet");
    return arguments;
}

const std::string warning = "could not be locked in memory and may be written to swap";

TEST(UnlockedKeys, AreSaidOnceAndStandInLedgerAndManifest) {
    const TempDir directory;
    const Outcome outcome =
        Process(disagreeing_command(
                    training_with_report(), training_with_report(), {SOTTO_WITHOUT_LOCKED_MEMORY}),
                directory.path())
            .wait();
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(lines_with(outcome.out, warning), 1) << outcome.text();
    EXPECT_EQ(lines_with(outcome.out, "Secret keys of rank 0"), 1) << outcome.text();
    const auto ledger = json_of(directory / "run/ledger.json");
    EXPECT_EQ(lines_with(ledger["statements"].dump(0), warning), 1) << ledger["statements"];
    EXPECT_EQ(json_of(directory / "run/manifest.json")["ranks_with_unlocked_keys"],
              nlohmann::json::array({0}));
}

TEST(UnlockedKeys, AreNotSpokenOfWhereKeysAreLocked) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory, 3, training_with_report());
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(lines_with(outcome.out, warning), 0) << outcome.text();
    EXPECT_TRUE(json_of(directory / "run/manifest.json")["ranks_with_unlocked_keys"].empty());
}

}  // namespace
}  // namespace sotto::test
