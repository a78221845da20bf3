#include "store/run_directory.hpp"

#include "sotto/core/numbers.hpp"
#include "store/sent_mark.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TEST(RunDirectory, HoldsWhatIsWrittenToIt) {
    const TemporaryFolder folder;
    RunDirectory directory = RunDirectory::create(folder.path("a/b/run"), "corn");
    EXPECT_EQ(directory.path(), folder.path("a/b/run"));
    directory.write("config.ini", "x=1\n");
    directory.write("config.ini", "x=2\n");
    EXPECT_EQ(read_file(directory.path() / "config.ini"), "x=2\n");
    const Eigen::Vector3d model(0.1, -2, 1e-300);
    const std::span<const double> values(model.data(), 3);
    directory.write_model(12, values);
    EXPECT_EQ(read_npy(directory.path() / "agents/12/model.npy"), model);
    RunDirectory::existing(directory.path()).write_model(3, values);
    EXPECT_EQ(read_npy(directory.path() / "agents/3/model.npy"), model);
}

TEST(RunDirectory, AddsALineOfMetricsAtATime) {
    const TemporaryFolder folder;
    RunDirectory directory = RunDirectory::create(folder.path("run"), "corn");
    Evaluation evaluation;
    evaluation.test_loss = 0.25;
    const auto lines = [&] {
        std::ifstream file(directory.path() / "metrics.csv");
        std::vector<std::string> result;
        for (std::string line; std::getline(file, line);) result.push_back(line);
        return result;
    };
    directory.append_metrics({0, infinity, evaluation, 0.5, RoundSeconds{1, 2, 3, 4}});
    ASSERT_EQ(lines().size(), 2u);
    // Infinite and unknown values are empty fields.
    EXPECT_EQ(lines()[1], "0,,0.25,,,,,,,,,0.5,1,2,3,4,last,all,all");
    EXPECT_EQ(std::ranges::count(lines()[0], ','), std::ranges::count(lines()[1], ','));
    EXPECT_EQ(lines()[0].substr(0, 24), "round,epsilon,test_loss,");
    evaluation.records = {std::nullopt, 1000};
    directory.append_metrics({7, 1.5, evaluation, 0.5, {}});
    ASSERT_EQ(lines().size(), 3u);
    EXPECT_EQ(lines()[2].substr(0, 11), "7,1.5,0.25,");
    EXPECT_TRUE(lines()[2].ends_with(",last,all,1000")) << lines()[2];
}

TEST(RunDirectory, IsNeverUsedTwice) {
    const TemporaryFolder folder;
    for (const char* file : {"config.ini", "metrics.csv"}) {
        const std::string path = folder.path(std::string("old-") + file);
        std::filesystem::create_directories(path);
        std::ofstream(std::filesystem::path(path) / file) << "old";
        const auto message =
            message_of<ConfigError>([&] { (void)RunDirectory::create(path, "corn"); });
        expect_contains(message, path);
        expect_contains(message, "already holds a run");
        EXPECT_EQ(read_file(std::filesystem::path(path) / file), "old");
    }
    // An empty folder, or one with other things, is fine.
    std::filesystem::create_directories(folder.path("new"));
    std::ofstream(folder.path("new") + "/notes.txt") << "mine";
    EXPECT_NO_THROW((void)RunDirectory::create(folder.path("new"), "corn"));
    EXPECT_EQ(read_file(folder.path("new") + "/notes.txt"), "mine");
}

TEST(RunDirectory, IsUsedAgainWhereAStartEndedBeforeItsRunBegan) {
    namespace fs = std::filesystem;
    const TemporaryFolder folder;
    const fs::path path = folder.path("run");
    Digest id{};
    (void)RunDirectory::create(path, "corn");
    const auto mark = [&] { return SentMark(path, id, {2, 5}, 0, id); };
    const std::vector<int> agents{2, 5};
    mark().set(0);
    std::ofstream(path / "history.json") << "{}";
    for (const char* kept : {"checkpoints/000000000000", "views/3", "views/wire/2", "views/5"})
        fs::create_directories(path / kept);
    {
        const RunDirectory again = RunDirectory::create(path, "corn");
        EXPECT_TRUE(again.holds_unbegun());
        EXPECT_NO_THROW(again.require_unbegun());
        again.forget_unbegun(agents);
        EXPECT_TRUE(fs::is_empty(path / "sent"));
        EXPECT_FALSE(fs::exists(path / "views/5"));
        EXPECT_FALSE(fs::exists(path / "views/wire/2"));
        EXPECT_TRUE(fs::exists(path / "views/3")) << "of an agent that is not here";
    }
    const auto refused = [&] {
        for (const auto& use :
             {std::function([&] { (void)RunDirectory::create(path, "corn"); }),
              std::function([&] { RunDirectory::existing(path).require_unbegun(); })})
            expect_contains(message_of<ConfigError>(use), "already holds a run");
    };
    // What says that a round may have left, whatever else was lost.
    mark().before_round(0, 9);
    refused();
    std::ofstream(path / "sent/2") << "damaged";
    refused();
    fs::remove_all(path / "sent");
    fs::create_directories(path / "checkpoints/000000000100");
    refused();
    fs::remove_all(path / "checkpoints");
    EXPECT_NO_THROW((void)RunDirectory::create(path, "corn"));
    std::ofstream(path / "config.ini") << "rounds = 9";
    refused();
}

TEST(RunDirectory, SaysWhyItCannotBeMade) {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "x");
    for (const std::string& path : {file, file + "/below"})
        expect_contains(message_of<ConfigError>([&] { (void)RunDirectory::create(path, "corn"); }),
                        path);
}

TEST(RunDirectory, IsPreparedOnEveryHostOrGivenUp) {
    const TemporaryFolder folder;
    RunDirectory directory = RunDirectory::create(folder.path("run"), "corn");
    (void)directory.claim_failure("of an earlier start");
    directory.prepare_for(std::vector<int>{2, 5});
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "failure.txt"));
    EXPECT_TRUE(std::filesystem::is_directory(directory.path() / "agents" / "5"));
    std::ofstream(directory.path() / "agents" / "7") << "in the way";
    expect_contains(message_of<ConfigError>([&] {
                        directory.prepare_for(std::vector<int>{2, 7});
                    }),
                    "agents/7");
    std::filesystem::remove(directory.path() / "agents" / "7");
    directory.abandon();
    EXPECT_FALSE(std::filesystem::exists(folder.path("run")));
    EXPECT_NO_THROW((void)RunDirectory::create(folder.path("run"), "corn"));
}

TEST(RunDirectory, IsNamedAfterTimeAndMechanismByDefault) {
    const TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::create_directories(folder.path("work"));
    std::filesystem::current_path(folder.path("work"));
    const auto first = RunDirectory::create("", "decor").path();
    const auto second = RunDirectory::create("", "decor").path();
    EXPECT_TRUE(std::filesystem::exists(first / "metrics.csv"));
    std::filesystem::current_path(before);
    EXPECT_NE(first, second);
    for (const auto& path : {first, second}) {
        EXPECT_EQ(path.parent_path(), "runs");
        expect_contains(path.filename().string(), "-decor");
    }
}

class RunDirectoryInUse : public test::ResumableRun {};

TEST_F(RunDirectoryInUse, IsTakenUpByNobodyElse) {
    TrainConfig first = config("run");
    (void)test::run_until_stopped(first, 20);
    struct Second final : TrainingListener {
        explicit Second(std::function<void()> given) : action(std::move(given)) {}
        void on_round(long, long, const Ledger&) override {
            if (action) std::exchange(action, nullptr)();
        }
        std::function<void()> action;
    } second([&] {
        expect_contains(
            message_of<ConfigError>([&] { (void)test::run(test::resumed(first, path("run"))); }),
            "still going on");
    });
    const auto network = make_memory_network(test::agents, 1);
    (void)run_training(test::resumed(first, path("run")), *network, second, [] { return false; });
}

}  // namespace
}  // namespace sotto
