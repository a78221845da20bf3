#include "commands/sweep/sweep_folder.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

SweepTraining training(const std::string& key) {
    SweepTraining result;
    result.key = key;
    return result;
}

SweepOutcome outcome(SweepOutcome::Status status) {
    SweepOutcome result;
    result.status = status;
    return result;
}

TEST(SweepFolder, RemembersHowTrainingsEnded) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    const SweepTraining done = training("a"), failed = training("b"), diverged = training("c");
    const std::vector<SweepTraining> all{done, failed, diverged};
    {
        const SweepFolder folder(temporary.path("out"), *network);
        EXPECT_EQ(folder.missing(all), 3);
        EXPECT_FALSE(folder.outcome(done));
        folder.keep(done, outcome(SweepOutcome::Status::done));
        folder.keep(failed, outcome(SweepOutcome::Status::failed));
        folder.keep(diverged, outcome(SweepOutcome::Status::diverged));
        EXPECT_EQ(folder.missing(all), 0);
    }
    const SweepFolder again(temporary.path("out"), *network);
    ASSERT_TRUE(again.outcome(diverged));
    EXPECT_EQ(again.outcome(diverged)->status, SweepOutcome::Status::diverged);
    for (const SweepTraining& each : all) again.forget_failure(each);
    EXPECT_EQ(again.missing(all), 1);
    EXPECT_FALSE(again.outcome(failed));
}

TEST(SweepFolder, GivesATrainingToOneThatAsks) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    {
        const SweepFolder folder(temporary.path("out"), *network);
        EXPECT_FALSE(folder.claimed(training("a")));
        EXPECT_TRUE(folder.claim(training("a")));
        EXPECT_TRUE(folder.claimed(training("a")));
        EXPECT_FALSE(folder.claim(training("a")));
        folder.keep(training("b"), outcome(SweepOutcome::Status::done));
        EXPECT_FALSE(folder.claim(training("b"))) << "it is known";
        folder.remove_claims();
        EXPECT_FALSE(fs::exists(temporary.path("out/claims")));
    }
    // Who had it then may be gone.
    const SweepFolder again(temporary.path("out"), *network);
    EXPECT_FALSE(again.claimed(training("a")));
    EXPECT_TRUE(again.claim(training("a")));
}

TEST(SweepFolder, GoesOnUntilAProcessStops) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    {
        const SweepFolder folder(temporary.path("out"), *network);
        EXPECT_TRUE(folder.going_on());
        folder.stop();
        EXPECT_FALSE(folder.going_on());
        folder.stop();
    }
    const SweepFolder again(temporary.path("out"), *network);
    EXPECT_TRUE(again.going_on());
}

TEST(SweepFolder, MustBeUsable) {
    const TemporaryFolder temporary;
    const auto network = make_memory_network(1, 1);
    const std::string file = temporary.write("file", "");
    test::expect_contains(
        test::message_of<ConfigError>([&] { const SweepFolder folder(file, *network); }),
        "cannot be used");
}

}  // namespace
}  // namespace sotto
