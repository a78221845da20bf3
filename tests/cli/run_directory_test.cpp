#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files.hpp"
#include "program.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    return cells;
}

class RunDirectoryOf : public testing::TestWithParam<int> {};

TEST_P(RunDirectoryOf, ACompletedTrainingHoldsEverything) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(60));
    Arguments arguments{"train",
                        "--data",
                        data,
                        "--rounds",
                        "20",
                        "--eval-every",
                        "6",
                        "--quiet",
                        "--json",
                        "out.json",
                        "--run-directory",
                        "run"};
    if (GetParam() == one_process) arguments.insert(arguments.end(), {"--agents", "3"});
    const Outcome outcome = run_sotto(directory, GetParam(), arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();

    const fs::path run = directory / "run";
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(run)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names,
              (std::vector<std::string>{"agents",
                                        "checkpoints",
                                        "config.ini",
                                        "data.json",
                                        "history.json",
                                        "ledger.json",
                                        "lock",
                                        "log.txt",
                                        "manifest.json",
                                        "metrics.csv",
                                        "plan.json",
                                        "sent",
                                        "summary.json"}));

    // Rounds 0, every 6th, the last, and after the exchanges that follow it.
    const auto rows = lines_of(content_of(run / "metrics.csv"));
    ASSERT_EQ(rows.size(), 7U);
    const auto header = cells_of(rows[0]);
    EXPECT_EQ(rows[0],
              "round,epsilon,test_loss,test_loss_worst,test_loss_mean_model,test_accuracy,"
              "test_accuracy_mean_model,train_loss_mean_model,optimality_gap,"
              "optimality_gap_agents,consensus_distance,elapsed_seconds,gradient_seconds,"
              "noise_seconds,exchange_seconds,mix_seconds,models,test_records,"
              "train_records");
    std::vector<std::string> rounds;
    double last_epsilon = -1;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto cells = cells_of(rows[i]);
        ASSERT_EQ(cells.size(), header.size()) << rows[i];
        rounds.push_back(cells[0]);
        const bool after = cells[cells.size() - 3] == "consensus";
        EXPECT_EQ(after, i + 1 == rows.size()) << rows[i];
        if (after) {
            EXPECT_EQ(std::stod(cells[1]), last_epsilon) << "which cost nothing";
        } else {
            EXPECT_GT(std::stod(cells[1]), last_epsilon) << "epsilon only grows";
        }
        last_epsilon = std::stod(cells[1]);
        EXPECT_TRUE(std::isfinite(std::stod(cells[2]))) << rows[i];
    }
    EXPECT_EQ(rounds, (std::vector<std::string>{"0", "6", "12", "18", "20", "20"}));
    EXPECT_NEAR(last_epsilon, 10, 1e-6);

    const Json ledger = json_of(run / "ledger.json");
    EXPECT_EQ(ledger.at("status"), "completed");
    EXPECT_EQ(ledger.at("rounds").at("planned"), 20);
    EXPECT_EQ(ledger.at("rounds").at("completed"), 20);
    EXPECT_EQ(ledger.at("rounds").at("accounted"), 20);
    EXPECT_EQ(ledger.at("noise").at("insecure"), false);

    const Json summary = json_of(run / "summary.json");
    EXPECT_EQ(summary, json_of(directory / "out.json"));
    EXPECT_EQ(summary.at("processes"), std::max(1, GetParam()));
    EXPECT_EQ(summary.at("rounds"), 20);
    EXPECT_EQ(summary.at("run_directory"), "run");
    EXPECT_NEAR(summary.at("epsilon").get<double>(),
                ledger.at("headline").at("epsilon").get<double>(),
                1e-12);

    std::vector<int> agents;
    double bytes = 0, gradient = 0;
    ASSERT_EQ(summary.at("ranks").size(), static_cast<std::size_t>(std::max(1, GetParam())));
    for (std::size_t rank = 0; rank < summary.at("ranks").size(); ++rank) {
        const Json& mine = summary.at("ranks")[rank];
        EXPECT_EQ(mine.at("rank"), rank);
        EXPECT_FALSE(mine.at("host").get<std::string>().empty());
        EXPECT_GT(mine.at("peak_memory_mib").get<double>(), 0);
        EXPECT_LE(mine.at("peak_memory_mib"), summary.at("peak_memory_mib"));
        for (const Json& agent : mine.at("agents")) agents.push_back(agent.get<int>());
        bytes += mine.at("bytes_sent").get<double>();
        for (const char* phase : {"gradient", "noise", "exchange", "mix"})
            EXPECT_GE(mine.at("seconds").at(phase).get<double>(), 0) << phase;
        gradient += mine.at("seconds").at("gradient").get<double>();
    }
    EXPECT_EQ(agents, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(bytes, summary.at("bytes_sent").get<double>());
    EXPECT_NEAR(gradient / static_cast<double>(summary.at("ranks").size()),
                summary.at("seconds").at("gradient").get<double>(),
                1e-9);

    const Json manifest = json_of(run / "manifest.json");
    for (const char* key : {"version", "commit", "compiler", "network", "hosts"})
        EXPECT_TRUE(manifest.contains(key)) << key;
    EXPECT_EQ(manifest.at("processes"), std::max(1, GetParam()));
    std::vector<int> committed;
    for (const auto& commitment : manifest.at("seed_commitments")) {
        committed.push_back(commitment.at("agent"));
        EXPECT_EQ(commitment.at("blake2b").get<std::string>().size(), 64U);
    }
    for (int u = 0; u < 3; ++u)
        EXPECT_NE(std::find(committed.begin(), committed.end(), u), committed.end());
    EXPECT_EQ(manifest.at("plan_hash"), ledger.at("plan_hash"));

    // Three features and the bias.
    for (int u = 0; u < 3; ++u) {
        const Eigen::MatrixXd model = read_npy(run / "agents" / std::to_string(u) / "model.npy");
        EXPECT_EQ(model.size(), 4);
        EXPECT_TRUE(model.allFinite());
        EXPECT_GT(model.norm(), 0);
    }
    // Every link carries d numbers both ways in every round; over MPI with the tag of a message.
    const Json graph = Json::parse(
        run_sotto(directory, one_process, {"graph", "--agents", "3", "--quiet", "--json", "-"})
            .out);
    const long message_bytes = 4 * 8 + (GetParam() == one_process ? 0 : 16);
    EXPECT_EQ(summary.at("bytes_sent").get<long>(),
              (20 + summary.at("final_gossip").get<long>()) * 2 * graph.at("edges").get<long>() *
                  message_bytes);
}

TEST_P(RunDirectoryOf, HoldsOneEventFileWhereTensorboardIsAskedFor) {
    const TempDir directory;
    Arguments arguments{
        "train", "--rounds", "4", "--quiet", "--tensorboard", "on", "--run-directory", "run"};
    if (GetParam() == one_process) arguments.insert(arguments.end(), {"--agents", "3"});
    const Outcome outcome = run_sotto(directory, GetParam(), arguments);
    if (outcome.text().find("libprotobuf-dev") != std::string::npos)
        GTEST_SKIP() << "built without Protocol Buffers";
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory / "run/tensorboard"))
        names.push_back(entry.path().filename());
    ASSERT_EQ(names.size(), 1U);
    EXPECT_TRUE(names[0].starts_with("events.out.tfevents.")) << names[0];
    EXPECT_NE(content_of(directory / ("run/tensorboard/" + names[0])).find("loss/test_loss"),
              std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(AloneAndOverMpi,
                         RunDirectoryOf,
                         testing::Values(one_process, 3),
                         [](const auto& instance) {
                             return instance.param == one_process ? "Alone" : "OverMpi";
                         });

TEST(RunDirectory, IsNamedByTimeAndMechanismIfTheUserNamesNone) {
    const TempDir directory;
    for (int i = 0; i < 2; ++i) {  // two in one second must not collide
        const Outcome outcome =
            run_sotto(directory,
                      one_process,
                      {"train", "--agents", "2", "--rounds", "2", "--mechanism", "ldp", "--quiet"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    }
    int runs = 0;
    for (const auto& entry : fs::directory_iterator(directory / "runs")) {
        EXPECT_NE(entry.path().filename().string().find("-ldp"), std::string::npos);
        ++runs;
    }
    EXPECT_EQ(runs, 2);
}

TEST(RunDirectory, OfADivergedTrainingKeepsTheReasonAndAccountsForAllRounds) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory,
                                      one_process,
                                      {"train",
                                       "--agents",
                                       "3",
                                       "--rounds",
                                       "9",
                                       "--step-size",
                                       "1e100",
                                       "--clip-norm",
                                       "1e6",
                                       "--quiet",
                                       "--run-directory",
                                       "run"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
    EXPECT_NE(content_of(directory / "run/failure.txt").find("diverged"), std::string::npos);
    const Json ledger = json_of(directory / "run/ledger.json");
    EXPECT_EQ(ledger.at("status"), "failed");
    EXPECT_EQ(ledger.at("rounds").at("accounted"), 9);
}

TEST(RunDirectory, OfAnAveragingHoldsTheDefaultsOfThatTaskUnlessTheUserSaysOtherwise) {
    const TempDir directory;
    const auto options_of = [&](const std::string& run, const Arguments& more) {
        Arguments arguments{"train", "--quiet", "--run-directory", run};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_sotto(directory, one_process, arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return lines_of(content_of(directory / (run + "/config.ini")));
    };
    const auto holds = [](const std::vector<std::string>& lines, const std::string& line) {
        return std::find(lines.begin(), lines.end(), line) != lines.end();
    };
    const auto plain = options_of(
        "plain", {"--task", "averaging", "--agents", "4", "--rounds", "5", "--noise-seed", "1"});
    for (const char* line : {"step-size = 1",
                             "step-schedule = inverse",
                             "l2 = 1",
                             "clip-norm = 1",
                             "batch-size = all",
                             "partition = iid"})
        EXPECT_TRUE(holds(plain, line)) << line;
    const auto chosen = options_of("chosen",
                                   {"--task",
                                    "averaging",
                                    "--agents",
                                    "4",
                                    "--rounds",
                                    "5",
                                    "--clip-norm",
                                    "0.1",
                                    "--batch-size",
                                    "7"});
    EXPECT_TRUE(holds(chosen, "clip-norm = 0.1")) << "the default of other tasks, but given";
    EXPECT_TRUE(holds(chosen, "batch-size = 7"));
    (void)options_of("again", {"--config", "plain/config.ini"});
    for (int u = 0; u < 4; ++u) {
        const std::string model = "/agents/" + std::to_string(u) + "/model.npy";
        EXPECT_EQ(content_of(directory / ("plain" + model)),
                  content_of(directory / ("again" + model)));
    }
}

TEST(ProtectedViews, HaveTheEpsilonThatWasAskedForOverMpiAndInAnAccountOfThePlan) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory,
                                      4,
                                      {"train",
                                       "--task",
                                       "averaging",
                                       "--mechanism",
                                       "ldp",
                                       "--topology",
                                       "ring",
                                       "--rounds",
                                       "12",
                                       "--secure-sum",
                                       "on",
                                       "--protect-against",
                                       "secure-sum:1",
                                       "--epsilon",
                                       "2",
                                       "--run-directory",
                                       "run"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto ledger = json_of(directory / "run/ledger.json");
    const auto& view = ledger.at("views").at(0);
    EXPECT_EQ(view.at("view"), "all-secure-sums");
    EXPECT_LE(view.at("epsilon").get<double>(), 2 * (1 + 1e-6));
    EXPECT_GT(view.at("epsilon").get<double>(), 1.9);
    EXPECT_GT(ledger.at("agents").at(0).at("epsilon").get<double>(), 2.3) << "of all messages";
    const Outcome account = run_sotto(directory,
                                      one_process,
                                      {"account",
                                       "--plan",
                                       "run/plan.json",
                                       "--topology",
                                       "ring",
                                       "--agents",
                                       "4",
                                       "--clip-norm",
                                       "1",
                                       "--rounds",
                                       "12",
                                       "--step-size",
                                       "1",
                                       "--step-schedule",
                                       "inverse",
                                       "--l2",
                                       "1",
                                       "--inputs",
                                       "fixed",
                                       "--view",
                                       "all-secure-sums",
                                       "--json",
                                       "account.json"});
    ASSERT_EQ(account.exit_code, 0) << account.text();
    double worst = 0;
    const auto accounted = json_of(directory / "account.json");
    for (const auto& pair : accounted.at("pairs"))
        worst = std::max(worst, pair.at("epsilon").get<double>());
    EXPECT_NEAR(worst, 2, 0.01);
}

class DryRunOf : public testing::TestWithParam<int> {};

TEST_P(DryRunOf, ATrainingPrintsPlanEpsilonMemoryAndTimeAndLeavesNothing) {
    const TempDir directory;
    Arguments arguments{"train", "--rounds", "1000000", "--dry-run", "--run-directory", "run"};
    if (GetParam() == one_process) arguments.insert(arguments.end(), {"--agents", "3"});
    const Outcome outcome = run_sotto(directory, GetParam(), arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    for (const char* word : {"plan ", "budget ", "epsilon ", "memory ", "MiB", "time ", "round"})
        EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome.text();
    EXPECT_TRUE(fs::is_empty(directory.path())) << "a dry run left something behind";

    arguments.insert(arguments.end(), {"--quiet", "--json", "-"});
    const Outcome quiet = run_sotto(directory, GetParam(), arguments);
    ASSERT_EQ(quiet.exit_code, 0) << quiet.text();
    const Json json = Json::parse(quiet.out);
    EXPECT_EQ(json.at("dry_run"), true);
    EXPECT_NEAR(json.at("epsilon").get<double>(), 10, 1e-6);
    EXPECT_GT(json.at("memory_mib").get<double>(), 0);
    EXPECT_GT(json.at("seconds_per_round").get<double>(), 0);
    EXPECT_TRUE(fs::is_empty(directory.path()));
}

INSTANTIATE_TEST_SUITE_P(
    AloneAndOverMpi, DryRunOf, testing::Values(one_process, 1, 3), [](const auto& instance) {
        return instance.param == one_process ? "Alone"
                                             : "Over" + std::to_string(instance.param) + "Ranks";
    });

TEST(OptimalityGap, IsLeftOutOverMpiWhereEveryAgentHasItsOwnDataUnlessAskedFor) {
    TempDir directory;
    for (int agent = 0; agent < 2; ++agent)
        (void)directory.write(fmt::format("own-{}.svm", agent), small_data(40));
    const auto train = [&](int ranks, const std::string& run, const Arguments& more) {
        Arguments arguments{
            "train", "--rounds", "3", "--batch-size", "5", "--quiet", "--run-directory", run};
        if (ranks == one_process) arguments.insert(arguments.end(), {"--agents", "2"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_sotto(directory, ranks, arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return json_of(directory / (run + "/summary.json")).at("optimality_gap").is_number();
    };
    const auto rank_0_sees_derivatives = [&](const std::string& run) {
        return content_of(directory / (run + "/ledger.json")).find("exact gradients") !=
               std::string::npos;
    };
    EXPECT_FALSE(train(2, "own", {"--data", "own-%r.svm"}));
    EXPECT_FALSE(rank_0_sees_derivatives("own"));
    EXPECT_TRUE(train(2, "asked", {"--data", "own-%r.svm", "--optimality-gap", "on"}));
    EXPECT_TRUE(rank_0_sees_derivatives("asked"));
    EXPECT_TRUE(train(2, "shared", {"--data", "own-0.svm"}));
    EXPECT_FALSE(train(2, "off", {"--data", "own-0.svm", "--optimality-gap", "off"}));
    EXPECT_TRUE(train(one_process, "alone", {"--data", "own-%r.svm"}));
}

TEST(Memory, AndTimeOfARoundDoNotGrowWithTheNumberOfRounds) {
    const TempDir directory;
    const auto measure = [&](int rounds, int attempt) {
        const Outcome outcome = run_sotto(directory,
                                          one_process,
                                          {"train",
                                           "--rounds",
                                           std::to_string(rounds),
                                           "--batch-size",
                                           "16",
                                           "--threads",
                                           "1",
                                           "--eval-every",
                                           std::to_string(rounds),
                                           "--quiet",
                                           "--run-directory",
                                           fmt::format("run{}-{}", rounds, attempt),
                                           "--json",
                                           "-"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return Json::parse(outcome.out);
    };
    double few_seconds = 1e9, many_seconds = 1e9, few_memory = 0, many_memory = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const Json few = measure(200, attempt), many = measure(2000, attempt);
        const auto loop = [](const Json& json) {
            return json.at("seconds").at("loop").get<double>() / json.at("rounds").get<double>();
        };
        few_seconds = std::min(few_seconds, loop(few));
        many_seconds = std::min(many_seconds, loop(many));
        few_memory = few.at("peak_memory_mib");
        many_memory = many.at("peak_memory_mib");
        EXPECT_NEAR(many_memory, few_memory, 0.1 * few_memory);
    }
    // Ten times the rounds: a round that looks back at all earlier ones would take ten times as
    // long. The limit leaves room for a busy machine.
    EXPECT_LT(many_seconds, 4 * few_seconds);
}

TEST(SecretBatches, AreInNoFigureThatRanksTellEachOther) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(60));
    for (const char* padded : {"", "--pad-rounds"}) {
        Arguments arguments{"train",
                            "--data",
                            data,
                            "--adjacency",
                            "record-add-remove",
                            "--batch-size",
                            "4",
                            "--rounds",
                            "20",
                            "--eval-every",
                            "10",
                            "--run-directory",
                            std::string("run") + padded,
                            "--verbose"};
        if (*padded != '\0') arguments.emplace_back(padded);
        const Outcome outcome = run_sotto(directory, 3, arguments);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        const Json summary = json_of(directory / (std::string("run") + padded + "/summary.json"));
        EXPECT_TRUE(summary.at("peak_memory_mib").is_null()) << summary;
        EXPECT_EQ(summary.at("seconds").at("gradient").is_null(), *padded == '\0') << summary;
        for (const Json& rank : summary.at("ranks")) {
            EXPECT_TRUE(rank.at("peak_memory_mib").is_null()) << rank;
            EXPECT_EQ(rank.at("seconds").at("gradient").is_null(), *padded == '\0') << rank;
        }
        EXPECT_NE(outcome.out.find("peak memory         not shown"), std::string::npos)
            << outcome.text();
    }
}

}  // namespace
}  // namespace sotto::test
