#include "training/failed_run.hpp"

#include <stdexcept>

#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;

TEST(FailedRun, ThatFailsKeepsAllPlannedRoundsInTheLedger) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 500);
    config.run_directory = folder.path("run");
    config.plan.steps.step_size = 10;
    config.l2 = 100;
    expect_contains(message_of<Error>([&] { (void)train(config); }), "diverged");
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "failed");
    EXPECT_LT(ledger["rounds"]["completed"], 500);
    EXPECT_EQ(ledger["rounds"]["accounted"], 500);
    EXPECT_NEAR(ledger["headline"]["epsilon"].get<double>(), 10, 1e-5);
    EXPECT_FALSE(std::filesystem::exists(folder.path("run/summary.json")));
}

TEST(FailedRun, SaysWhyAndThrowsAgain) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 20);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(4, 1);
    OpenRun open = open_run(test::prepare(config, *network));
    open.progress.rounds = 7;
    const auto fail = [&](const auto& failure) {
        try {
            throw failure;
        } catch (const std::exception& caught) {
            end_failed_run(open, caught);
        }
    };
    EXPECT_EQ(message_of<CryptoError>([&] { fail(CryptoError("a tag is wrong")); }),
              "a tag is wrong");
    EXPECT_EQ(read_file(folder.path("run/failure.txt")), "rank 0, round 7: a tag is wrong\n");
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "failed");
    EXPECT_EQ(ledger["rounds"]["completed"], 7);
    EXPECT_EQ(ledger["rounds"]["accounted"], 20);
    // The first who fails has the word.
    EXPECT_THROW(fail(std::runtime_error("later")), std::runtime_error);
    expect_contains(read_file(folder.path("run/failure.txt")), "a tag is wrong");
}

}  // namespace
}  // namespace sotto
