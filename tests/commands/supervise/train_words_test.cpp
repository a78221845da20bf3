#include "commands/supervise/train_words.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {
namespace {

using Words = std::vector<std::string>;

TEST(TrainWords, KeepAllButWhoLeaves) {
    const TrainWords words = read_train_words({"--resume",
                                               "runs/a",
                                               "--without",
                                               "3,1",
                                               "--quiet",
                                               "--json",
                                               "out.json",
                                               "--checkpoint-every=50"});
    EXPECT_EQ(
        words.options,
        (Words{"--resume", "runs/a", "--quiet", "--json", "out.json", "--checkpoint-every=50"}));
    EXPECT_EQ(words.without, (std::vector<int>{1, 3}));
    EXPECT_EQ(words.beside, (Words{"--json=out.json", "--quiet"}));
    EXPECT_EQ(words.resume, "runs/a");
    EXPECT_FALSE(words.directory);
    EXPECT_TRUE(words.has_interval);
    EXPECT_FALSE(words.dry_run);
    EXPECT_EQ(without_words(words.without), (Words{"--without", "1,3"}));
    EXPECT_TRUE(without_words({}).empty());
}

TEST(TrainWords, AreReadFromAFileToo) {
    const test::TemporaryFolder folder;
    const std::string file =
        folder.write("my.ini", "run-directory = runs/b\ncheckpoint-every = 10\ndry-run = true\n");
    const TrainWords words = read_train_words({"--config", file});
    EXPECT_EQ(words.directory, "runs/b");
    EXPECT_TRUE(words.has_interval);
    EXPECT_TRUE(words.dry_run);
    EXPECT_EQ(words.options, (Words{"--config", file}));
}

TEST(TrainWords, ThatDoNotExistAreRefused) {
    EXPECT_THROW((void)read_train_words({"--epsilom", "3"}), ConfigError);
}

}  // namespace
}  // namespace sotto::cli
