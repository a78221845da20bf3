#include "store/run_directory.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>

#include "agent/local_agent.hpp"
#include "config/run_fixtures.hpp"
#include "core/bytes.hpp"
#include "core/numbers.hpp"
#include "fuzz/support.hpp"
#include "noise/noise_source.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "store/sent_mark.hpp"
#include "training/open_run.hpp"
#include "training/resume_fixtures.hpp"
#include "training/training_fixtures.hpp"

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

constexpr int three_agents = 3;

/// What leaves every agent in the last round: a message for others, or, of a trusted mean, what
/// comes back.
struct Sent final : RoundObserver {
    void on_message(long, std::size_t local_index, const OwnRound& own) override {
        const int agent = static_cast<int>(local_index);
        if (own.receiver == NoiseRow::all_receivers)
            for (int receiver = 0; receiver < three_agents; ++receiver)
                messages[{agent, receiver}] = own.message;
        else if (own.receiver != agent)
            messages[{agent, own.receiver}] = own.message;
    }
    void on_sum(long, std::size_t, Eigen::Index, std::span<const double> sum) override {
        mean = Eigen::Map<const Eigen::VectorXd>(sum.data(), std::ssize(sum));
    }
    /// (sender, receiver); for itself only where that is what all get.
    std::map<std::pair<int, int>, Eigen::VectorXd> messages;
    std::optional<Eigen::VectorXd> mean;
};

/// Whether somebody who has these messages of a ring of three can compute the agent's model.
bool follows(const Sent& sent,
             const MixingMatrix& mixing,
             int agent,
             const Eigen::VectorXd& model) {
    if (sent.mean) return (*sent.mean - model).norm() <= 1e-12 * model.norm();
    Eigen::VectorXd mixed = Eigen::VectorXd::Zero(model.size());
    for (int sender = 0; sender < three_agents; ++sender) {
        // Without one for itself, what it told a neighbour is the best there is.
        const auto own = sent.messages.find({sender, agent});
        const auto& message = own != sent.messages.end()
                                  ? own->second
                                  : sent.messages.at({sender, (agent + 1) % three_agents});
        mixed += mixing.weight(agent, sender) * message;
    }
    return (mixed - model).norm() <= 1e-12 * model.norm();
}

class KeptModels : public ::testing::TestWithParam<std::string> {
  protected:
    TrainConfig short_run() const {
        TrainConfig config = test::logistic_config(folder, three_agents, GetParam(), 4);
        config.run_directory = folder.path("run");
        if (find_mechanism("mechanism", GetParam()).correlates_rounds) {
            config.plan.adjacency = Adjacency::record;
            config.plan.participation = {2};
        }
        return config;
    }
    std::unique_ptr<Network> network = make_memory_network(three_agents, 1);
    test::TemporaryFolder folder;
};

/// Trained for three rounds: what the plan says of its models is what they are.
TEST_P(KeptModels, FollowFromMessagesWhereThePlanSaysSo) {
    const TrainConfig config = short_run();
    OpenRun run = open_run(test::prepare(config, *network));
    const NoisePlan& plan = run.prepared.run.plan;
    Trainer trainer(*network,
                    run.prepared.run.topography.schedule(),
                    plan,
                    NoiseSource(plan, run.rings, 1),
                    std::move(run.prepared.agents),
                    run.prepared.initial,
                    {});
    Sent sent;
    trainer.observe(&sent);
    for (long round = 0; round < 3; ++round) trainer.run_round(round);
    for (int agent = 0; agent < three_agents; ++agent)
        EXPECT_EQ(
            follows(sent, run.prepared.run.topography.mixing, agent, trainer.models().col(agent)),
            models_follow_from_messages(plan))
            << "agent " << agent;
}

/// The line of docs/run-directory.md about the mechanism: | `name`, ... | models |.
std::string documented_models(const std::string& mechanism) {
    const std::string text = read_file(SOTTO_SOURCE_DIR "/docs/run-directory.md");
    const std::size_t table = text.find("| mechanism | models");
    EXPECT_NE(table, std::string::npos);
    std::istringstream lines(text.substr(table));
    for (std::string line; std::getline(lines, line) && line.starts_with("|");)
        if (line.find("`" + mechanism + "`") != std::string::npos)
            return line.substr(line.find("| ", 2) + 2);
    return "not documented";
}

TEST_P(KeptModels, AreSecretAsTheManifestAndTheDocumentationSay) {
    const TrainConfig config = short_run();
    const OpenRun run = open_run(test::prepare(config, *network));
    const NoisePlan& plan = run.prepared.run.plan;
    const bool secret = plan.noiseless() || !models_follow_from_messages(plan);
    const test::Json manifest = test::read_json(folder.path("run/manifest.json"));
    std::string files;
    for (const auto& entry : manifest.at("secret_files")) files += entry.dump();
    EXPECT_EQ(files.find("model.npy") != std::string::npos, secret) << files;
    EXPECT_EQ(documented_models(GetParam()).starts_with("secret"), secret)
        << documented_models(GetParam());
    EXPECT_EQ(documented_models(GetParam()).starts_with("as the ledger says"), !secret)
        << documented_models(GetParam());
}

std::vector<std::string> all_mechanisms() {
    return mechanisms_with([](const Mechanism&) { return true; });
}

INSTANTIATE_TEST_SUITE_P(OfEveryMechanism,
                         KeptModels,
                         ::testing::ValuesIn(all_mechanisms()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::erase(name, '-');
                             return name;
                         });

std::string all_of(const TrainConfig& config) {
    std::string text;
    NoisePlan plan;
    plan.streams.emplace_back();
    for (const DirectorySecret& secret : directory_secrets(config, plan)) {
        for (const std::string& file : secret.files) text += file + " ";
        text += "(" + secret.reason + ")\n";
    }
    return text;
}

TEST(DirectorySecrets, AreWhatTheOptionsKeep) {
    TrainConfig config;
    EXPECT_EQ(
        all_of(config),
        "metrics.csv summary.json log.txt report.html live.html (losses and accuracies of raw "
        "data, without noise)\n");
    config.tensorboard = true;
    test::expect_contains(all_of(config), "live.html tensorboard/ (");
    config.trust.emplace();
    test::expect_contains(all_of(config), "checkpoints/*/*.seeds (");
    config.noise_seed = 7;
    test::expect_contains(all_of(config), "config.ini checkpoints/*/*.checkpoint (the noise seed");
    EXPECT_EQ(all_of(config).find(".seeds"), std::string::npos);
    config.record_views = {1, 4};
    test::expect_contains(all_of(config),
                          "views*/ (gradients without noise, and seeds, of agents 1, 4");
    config.record_wire = true;
    test::expect_contains(all_of(config), "views*/wire/ (");
}

TEST(Keepers, AreOnTheNextDiskEvenly) {
    using Numbers = std::vector<int>;
    EXPECT_EQ(keepers_on({0}), Numbers{});
    EXPECT_EQ(keepers_on({0, 0, 0}), Numbers{});
    EXPECT_EQ(keepers_on({0, 0, 2, 2, 4, 4}), (Numbers{2, 3, 4, 5, 0, 1}));
    EXPECT_EQ(keepers_on({0, 1, 0, 1, 0}), (Numbers{1, 0, 3, 2, 1}));
    EXPECT_EQ(keepers_on({0, 0, 0, 3}), (Numbers{3, 3, 3, 0}));
}

class Disks : public ::testing::Test {
  protected:
    /// Of process 1 of three; the others say these words.
    std::vector<int> of(const std::vector<int>& words) const {
        fuzz::ScriptedNetwork network(3, 1, "", [&](int) {
            std::vector<std::string> said;
            for (const int word : words) {
                ByteWriter writer;
                writer.put(std::int32_t{word});
                said.push_back(writer.take());
            }
            return said;
        });
        return disks_of(folder.path("checkpoints"), network, "token");
    }
    test::TemporaryFolder folder;
};

TEST_F(Disks, AreOneWhereProcessesSeeEachOthersFiles) {
    EXPECT_EQ(of({0, 0, 0}), (std::vector{0, 1, 0}));
    std::ofstream(folder.path("checkpoints/disk-token-0")) << "\n";
    std::ofstream(folder.path("checkpoints/disk-older-2")) << "\n";
    EXPECT_EQ(of({0, 0, 2}), (std::vector{0, 0, 2}));
    EXPECT_FALSE(std::filesystem::exists(folder.path("checkpoints/disk-token-1")));
}

TEST_F(Disks, OfARankWhoseWordCannotBeTrueAreRefused) {
    for (const int word : {-1, 3, 1 << 30})
        test::expect_contains(message_of<NetworkError>([&] {
                                  (void)of({0, 0, word});
                              }),
                              "the word of rank 2 on its disk");
}

TEST(CreateFolder, MakesWhatIsMissingAndLeavesWhatIsThere) {
    const test::TemporaryFolder folder;
    const std::filesystem::path deep = folder.path("a/b/c");
    create_folder(deep);
    EXPECT_TRUE(std::filesystem::is_directory(deep));
    std::ofstream(deep / "mine") << "kept";
    create_folder(deep);
    EXPECT_EQ(read_file(deep / "mine"), "kept");
}

TEST(CreateFolder, SaysWhichCannotBeMade) {
    const test::TemporaryFolder folder;
    const std::string below = folder.write("file", "x") + "/below";
    const auto message = test::message_of<ConfigError>([&] { create_folder(below); });
    test::expect_contains(message, below + ": cannot be created (");
}

namespace fs = std::filesystem;

TEST(RunLog, HasTheTimeOfDayBeforeEveryLineAndOneReader) {
    const test::TemporaryFolder folder;
    append_to_log(folder.path(""), "\nfirst\nsecond\n");
    append_to_log(folder.path(""), "third");
    const std::string time = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)";
    const std::regex lines(time + "  first\n" + time + "  second\n" + time + "  third\n");
    EXPECT_TRUE(std::regex_match(read_file(folder.path("log.txt")), lines));
    EXPECT_EQ(fs::status(folder.path("log.txt")).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
}

TEST(RunLog, EndsNothingWhereItCannotBeWritten) {
    const test::TemporaryFolder folder;
    append_to_log(folder.path("absent"), "line\n");
    EXPECT_FALSE(fs::exists(folder.path("absent")));
}

TEST(RunLog, FollowsNoLink) {
    const test::TemporaryFolder folder;
    const std::string other = folder.write("other", "kept");
    fs::create_symlink(other, folder.path("log.txt"));
    append_to_log(folder.path(""), "line\n");
    EXPECT_EQ(read_file(other), "kept");
}

}  // namespace
}  // namespace sotto
