// One addition, one place: the files beside this one each add one thing to the program, by its
// record and nothing else; a program of its own, because records stay.

#include <nlohmann/json.hpp>
#include <set>

#include "account/account_job.hpp"
#include "commands/cli/command.hpp"
#include "commands/cli/program.hpp"
#include "core/files.hpp"
#include "extension/added_option.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;

struct Ended {
    int code = 0;
    std::string out;
};

Ended sotto(const std::vector<std::string>& arguments) {
    ::testing::internal::CaptureStdout();
    const int code = cli::run_program(arguments);
    return {code, ::testing::internal::GetCapturedStdout()};
}

std::string help_of(const std::string& command) {
    return cli::help_for(cli::commands().find("command", command), true);
}

/// What one agent of a plan spends, at most.
Json plan(const std::string& mechanism) {
    const Ended ended =
        sotto({"plan", "--agents", "6", "--rounds", "20", "--mechanism", mechanism, "--json"});
    EXPECT_EQ(ended.code, 0) << mechanism;
    return Json::parse(ended.out);
}

TEST(AddedMechanism, IsPlannedAndListed) {
    const Json twice = plan("twice"), ldp = plan("ldp");
    EXPECT_EQ(twice["mechanism"], "twice");
    EXPECT_DOUBLE_EQ(twice["objective"], 4 * ldp["objective"].get<double>());
    for (const char* command : {"plan", "account", "train", "sweep", "audit"})
        expect_contains(help_of(command), "twice");
    expect_contains(message_of<ConfigError>([] { (void)find_mechanism("--mechanism", "twise"); }),
                    "twice");
}

TEST(AddedMechanism, TrainsAnAddedTaskAndItsLedgerCountsItsNoise) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(6, "twice", 40);
    config.task.task = "hill";
    config.run_directory = folder.path("run");
    test::Watcher watcher;
    (void)test::train(config, watcher, [] { return false; });
    EXPECT_EQ(watcher.mechanism, "twice");
    EXPECT_EQ(watcher.task, "one hill an agent");
    config.plan.mechanism = "ldp";
    config.run_directory = folder.path("ldp");
    (void)test::train(config);
    const Json twice = test::read_json(folder.path("run/ledger.json"));
    const Json ldp = test::read_json(folder.path("ldp/ledger.json"));
    for (std::size_t u = 0; u < 6; ++u)
        EXPECT_NEAR(
            twice["agents"][u]["mu"].get<double>(), ldp["agents"][u]["mu"].get<double>() / 2, 1e-9);
}

TEST(AddedTask, IsLearntWithItsOwnDefaults) {
    const test::TemporaryFolder folder;
    TrainConfig config = read_train_config({{"task", "hill"},
                                            {"mechanism", "none"},
                                            {"agents", "5"},
                                            {"topology", "complete"},
                                            {"rounds", "60"},
                                            {"clip-norm", "1000"}});
    EXPECT_EQ(config.plan.steps.step_size, 0.5);
    config.run_directory = folder.path("run");
    (void)test::train(config);
    EXPECT_LT((test::models_of(config).array() - 2).abs().maxCoeff(), 0.75)
        << "the mean of 0 to 4 in every coordinate, but for the drift of a constant step";
    expect_contains(help_of("train"), "hill");
}

TEST(AddedView, IsAccountedFor) {
    const Ended ended = sotto({"account",
                               "--agents",
                               "6",
                               "--rounds",
                               "10",
                               "--mechanism",
                               "decor",
                               "--view",
                               "even-nodes",
                               "--json"});
    ASSERT_EQ(ended.code, 0);
    const Json account = Json::parse(ended.out);
    std::set<int> observers;
    for (const Json& pair : account["pairs"]) observers.insert(pair["observers"].at(0).get<int>());
    EXPECT_EQ(observers, (std::set<int>{0, 2, 4}));
    expect_contains(help_of("account"), "even-nodes");
}

TEST(AddedBound, StandsBesideTheFiguresOfAccountsAndPlans) {
    const test::TemporaryFolder folder;
    const std::vector<std::string> account{
        "account", "--agents", "6", "--mechanism", "decor", "--noise-std", "1", "--view", "node:0"};
    std::vector<std::string> as_json = account, as_table = account;
    as_json.emplace_back("--json");
    const Json json = Json::parse(sotto(as_json).out);
    EXPECT_EQ(json["bounds"].at(0)["source"], "[Q] eq. 1");
    EXPECT_NEAR(json["pairs"].at(0)["quarter_bound"].get<double>(), gdp_epsilon(0.5, 1e-5), 1e-9);
    EXPECT_NEAR(
        json["by_distance"].at(0)["quarter_bound"].get<double>(), gdp_epsilon(0.5, 1e-5), 1e-9);
    as_table.insert(as_table.end(), {"--by-distance", folder.path("table.txt")});
    const Ended text = sotto(as_table);
    expect_contains(text.out, "  outsider    quarter\n");
    expect_contains(text.out, "[Q] eq. 1: a number to see it in every account\n");
    expect_contains(read_file(folder.path("table.txt")), " quarter_bound pairs ");
    EXPECT_EQ(plan("ldp")["bounds"].at(0)["value"], 20);
}

TEST(AddedOption, IsReadAndChecked) {
    (void)read_train_config({{"damping", "0.25"}});
    EXPECT_EQ(extension::damping(), 0.25);
    expect_contains(message_of<ConfigError>([] {
                        (void)read_train_config({{"damping", "2"}});
                    }),
                    "--damping");
}

TEST(AddedOption, IsParsedAndShownByEveryCommandOfItsGroup) {
    for (const char* name : {"plan", "account", "train", "sweep", "audit"}) {
        const cli::Command& command = cli::commands().find("command", name);
        expect_contains(cli::help_for(command, true), "--damping VALUE");
        const OptionTexts given = parse_options(command.options(), {"--damping", "0.125"});
        EXPECT_EQ(given.at("damping"), "0.125");
    }
}

TEST(AddedOption, IsWrittenToConfigIniAndComparedBetweenRanks) {
    extension::damping() = 0.75;
    expect_contains(as_ini(TrainConfig{}), "\ndamping = 0.75\n");
    expect_contains(agreement_lines(TrainConfig{}), "--damping 0.75\n");
}

TEST(AddedCommand, Runs) {
    EXPECT_EQ(sotto({"greet"}).code, 41);
    EXPECT_EQ(cli::commands().names().back(), "greet");
    const Ended help = sotto({"greet", "--help"});
    EXPECT_EQ(help.code, 0);
    expect_contains(help.out, "sotto greet: say hello");
}

}  // namespace
}  // namespace sotto
