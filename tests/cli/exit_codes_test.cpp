// The exit codes that mpirun hands on from several ranks: complete already, disk full.
// (Interrupted: interrupt_test and launch_script_test.)

#include <fmt/format.h>

#include <algorithm>

#include "program.hpp"
#include "small_disk.hpp"

namespace sotto::test {
namespace {

constexpr int complete_already = 7, disk_full = 9;

TEST(ExitCodes, OfARunThatIsCompleteIsItsOwn) {
    const TempDir directory;
    ASSERT_EQ(run_sotto(directory, 3, short_training({})).exit_code, 0);
    for (const int ranks : {one_process, 3}) {
        const Outcome outcome = run_sotto(directory, ranks, {"train", "--resume", "run"});
        EXPECT_EQ(outcome.exit_code, complete_already) << outcome.text();
        EXPECT_EQ(error_lines(outcome.err).size(), 1U) << outcome.text();
    }
}

/// Where a run's disk becomes full.
struct FullDisk {
    std::string name;
    std::string size;   ///< of the disk
    int features;       ///< of the data: a model has one value more
    Arguments options;  ///< what is written in the rounds
    std::string file;   ///< that the message names

    friend std::ostream& operator<<(std::ostream& stream, const FullDisk& full) {
        return stream << full.name;
    }
};

class DiskOfARun : public testing::TestWithParam<FullDisk> {};

TEST_P(DiskOfARun, HasACodeOfItsOwnWhereItIsFull) {
    const FullDisk& full = GetParam();
    const TempDir directory;
    const SmallDisk disk(directory / "disk", full.size);
    if (!disk.mounted()) GTEST_SKIP() << SmallDisk::not_permitted;
    std::string data;
    for (int i = 0; i < 60; ++i)
        data += fmt::format("{} 1:{} {}:1\n", i % 2 == 0 ? "+1" : "-1", i % 7, full.features);
    Arguments arguments{"train",
                        "--data",
                        directory.write("data.svm", data),
                        "--batch-size",
                        "4",
                        "--optimality-gap",
                        "off",
                        "--quiet",
                        "--run-directory",
                        directory / "disk/run"};
    arguments.insert(arguments.end(), full.options.begin(), full.options.end());
    for (const int ranks : {3, one_process}) {
        std::filesystem::remove_all(directory / "disk/run");
        Arguments all = arguments;
        if (ranks == one_process) all.insert(all.end(), {"--agents", "3"});
        const Outcome outcome = run_sotto(directory, ranks, all);
        EXPECT_EQ(outcome.exit_code, disk_full) << outcome.text();
        const auto lines = error_lines(outcome.err);
        ASSERT_FALSE(lines.empty()) << outcome.text();
        EXPECT_NE(lines[0].find("No space left on device"), std::string::npos) << lines[0];
        EXPECT_TRUE(std::ranges::any_of(lines, [&](const std::string& line) {
            return line.find(full.file) != std::string::npos;
        })) << outcome.text();
        EXPECT_TRUE(all_ended(directory.path())) << "a process is left";
    }
}

INSTANTIATE_TEST_SUITE_P(
    Full,
    DiskOfARun,
    testing::Values(
        FullDisk{"on_the_way", "256k", 3, {"--rounds", "40000", "--eval-every", "10"}, "disk/run/"},
        FullDisk{"in_a_checkpoint",
                 "1m",
                 100'000,
                 {"--rounds", "40", "--eval-every", "40", "--checkpoint-every", "20"},
                 "checkpoint"},
        FullDisk{"at_the_end", "1m", 100'000, {"--rounds", "5", "--eval-every", "5"}, "model.npy"},
        FullDisk{"at_the_start", "8k", 3, {"--rounds", "5"}, "run"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace sotto::test
