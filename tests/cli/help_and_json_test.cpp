#include <algorithm>
#include <set>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

void expect_keys(const Json& json, const std::vector<std::string>& keys) {
    for (const auto& key : keys) EXPECT_TRUE(json.contains(key)) << key;
}

// Names that scripts rely on (docs/cli.md).
const std::vector<std::string> graph_keys{"agents",
                                          "edges",
                                          "connected",
                                          "mixing",
                                          "lambda2",
                                          "spectral_gap",
                                          "degree_min",
                                          "degree_max"};
const std::vector<std::string> plan_keys{"mechanism",
                                         "agents",
                                         "kappa",
                                         "mu",
                                         "objective",
                                         "lower_bound",
                                         "relative_gap",
                                         "independent_variance",
                                         "max_variance",
                                         "streams_per_agent",
                                         "sensitivity_squared",
                                         "epsilon",
                                         "delta",
                                         "seconds"};
const std::vector<std::string> train_keys{"mechanism",
                                          "agents",
                                          "rounds",
                                          "epsilon",
                                          "delta",
                                          "test_loss",
                                          "test_loss_mean_model",
                                          "test_accuracy",
                                          "optimality_gap",
                                          "consensus_distance",
                                          "seconds",
                                          "constant_accuracy",
                                          "constant_loss",
                                          "clipped_share",
                                          "warnings",
                                          "bytes_sent",
                                          "ranks",
                                          "run_directory"};
const std::vector<std::string> seconds_keys{
    "plan", "gradient", "noise", "exchange", "mix", "evaluate", "total"};

const std::vector<std::string> account_keys{
    "pairs", "by_distance", "mean_epsilon", "ldp", "seconds"};

struct CommandCase {
    std::string name;
    Arguments arguments;
    std::vector<std::string> keys;
    int ranks = one_process;
};

std::ostream& operator<<(std::ostream& stream, const CommandCase& command) {
    return stream << command.name;
}

class JsonOf : public testing::TestWithParam<CommandCase> {
  protected:
    JsonOf() {
        data_ = directory_.write("data.svm", small_data(60));
        arguments_ = GetParam().arguments;
        for (auto& argument : arguments_)
            if (argument == "DATA") argument = data_;
    }
    Outcome run(const Arguments& more) {
        Arguments arguments = arguments_;
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_sotto(directory_, GetParam().ranks, arguments);
    }
    void check(const Json& json) {
        expect_keys(json, GetParam().keys);
        if (json.contains("run_directory")) expect_keys(json.at("seconds"), seconds_keys);
    }
    TempDir directory_;
    std::string data_;
    Arguments arguments_;
};

TEST_P(JsonOf, IsAloneOnStandardOutputWithADash) {
    const Outcome outcome = run({"--json", "-"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    ASSERT_TRUE(Json::accept(outcome.out)) << outcome.text();
    check(Json::parse(outcome.out));
    EXPECT_NE(outcome.err.find("graph "), std::string::npos) << "the report moves to errors";
}

TEST_P(JsonOf, GoesToAFileBesideTheReport) {
    const Outcome outcome = run({"--json", "result.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    check(json_of(directory_ / "result.json"));
    EXPECT_NE(outcome.out.find("graph "), std::string::npos) << outcome.text();
    EXPECT_TRUE(outcome.err.empty()) << outcome.text();
}

TEST_P(JsonOf, IsAllThereIsWhenQuiet) {
    const Outcome silent = run({"--quiet", "--json", "result.json"});
    ASSERT_EQ(silent.exit_code, 0) << silent.text();
    EXPECT_TRUE(silent.out.empty() && silent.err.empty()) << silent.text();
    check(json_of(directory_ / "result.json"));

    const Outcome only_json = run({"--quiet", "--json"});
    ASSERT_EQ(only_json.exit_code, 0) << only_json.text();
    EXPECT_TRUE(Json::accept(only_json.out)) << only_json.text();
    EXPECT_TRUE(only_json.err.empty()) << only_json.text();
}

INSTANTIATE_TEST_SUITE_P(
    EveryCommand,
    JsonOf,
    testing::Values(
        CommandCase{"graph", {"graph", "--topology", "ring", "--agents", "6"}, graph_keys},
        CommandCase{"plan", {"plan", "--agents", "6"}, plan_keys},
        CommandCase{"account", {"account", "--agents", "6", "--rounds", "5"}, account_keys},
        CommandCase{
            "account_over_mpi", {"account", "--agents", "6", "--rounds", "5"}, account_keys, 3},
        CommandCase{"train",
                    {"train", "--agents", "3", "--data", "DATA", "--rounds", "5", "--verbose"},
                    train_keys},
        CommandCase{"train_over_mpi",
                    {"train", "--data", "DATA", "--rounds", "5", "--verbose"},
                    train_keys,
                    3}),
    [](const auto& instance) { return instance.param.name; });

TEST(Numbers, OfTheGraphAreThoseOfARingOfSix) {
    const TempDir directory;
    const Outcome outcome =
        run_sotto(directory,
                  one_process,
                  {"graph", "--topology", "ring", "--agents", "6", "--quiet", "--json", "-"});
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json.at("agents"), 6);
    EXPECT_EQ(json.at("edges"), 6);
    EXPECT_EQ(json.at("degree_min"), 2);
    EXPECT_EQ(json.at("degree_max"), 2);
    // Metropolis weights on a ring are 1/3: eigenvalues (1 + 2 cos(2 pi k / 6)) / 3.
    EXPECT_NEAR(json.at("lambda2").get<double>(), 2.0 / 3, 1e-12);
    EXPECT_NEAR(json.at("spectral_gap").get<double>(), 1.0 / 3, 1e-12);
}

TEST(NoiselessTraining, HasNullEpsilonAndSaysInfinite) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory,
                                      one_process,
                                      {"train",
                                       "--mechanism",
                                       "none",
                                       "--agents",
                                       "2",
                                       "--rounds",
                                       "3",
                                       "--quiet",
                                       "--json",
                                       "-"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json json = Json::parse(outcome.out);
    EXPECT_TRUE(json.at("epsilon").is_null());
    EXPECT_EQ(json.at("infinite"), true);
}

class HelpAt : public testing::TestWithParam<CommandCase> {};

TEST_P(HelpAt, EndsWellAndShowsAnExample) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory, GetParam().ranks, GetParam().arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("usage: sotto"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.out.find("example: "), std::string::npos) << outcome.text();
    EXPECT_TRUE(outcome.err.empty()) << outcome.text();
    // Ranks must not repeat it.
    EXPECT_EQ(outcome.out.find("example: "), outcome.out.rfind("example: ")) << outcome.text();
}

INSTANTIATE_TEST_SUITE_P(EveryLevel,
                         HelpAt,
                         testing::Values(CommandCase{"program", {"--help"}, {}},
                                         CommandCase{"program_short", {"-h"}, {}},
                                         CommandCase{"graph", {"graph", "--help"}, {}},
                                         CommandCase{"plan", {"plan", "--help"}, {}},
                                         CommandCase{"account", {"account", "--help"}, {}},
                                         CommandCase{"sweep", {"sweep", "--help"}, {}},
                                         CommandCase{"report", {"report", "--help"}, {}},
                                         CommandCase{"watch", {"watch", "--help"}, {}},
                                         CommandCase{"audit", {"audit", "--help"}, {}},
                                         CommandCase{"doctor", {"doctor", "--help"}, {}},
                                         CommandCase{"keygen", {"keygen", "--help"}, {}},
                                         CommandCase{"ledger", {"ledger", "--help"}, {}},
                                         CommandCase{"train", {"train", "--help"}, {}},
                                         CommandCase{"train_with_other_options",
                                                     {"train", "--rounds", "5", "--help"},
                                                     {}},
                                         CommandCase{"train_over_mpi", {"train", "--help"}, {}, 3}),
                         [](const auto& instance) { return instance.param.name; });

TEST(NoArguments, PrintHelpAndCountAsBadUsage) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory, one_process, {});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.out.find("usage: sotto"), std::string::npos) << outcome.text();
    EXPECT_NE(outcome.out.find("example: "), std::string::npos) << outcome.text();
}

TEST(Version, IsOneLineWithANumber) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory, one_process, {"--version"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(lines_of(outcome.out).size(), 1U) << outcome.text();
    EXPECT_TRUE(outcome.out.starts_with("sotto 0.")) << outcome.text();
}

TEST(EveryExampleOfTheHelp, NamesOptionsThatExist) {
    const TempDir directory;
    for (const std::string command : {"graph",
                                      "plan",
                                      "account",
                                      "train",
                                      "sweep",
                                      "ledger",
                                      "report",
                                      "watch",
                                      "audit",
                                      "doctor",
                                      "keygen"}) {
        const std::string help = run_sotto(directory, one_process, {command, "--help", "all"}).out;
        const std::size_t at = help.find("example: ");
        ASSERT_NE(at, std::string::npos);
        const std::string options = help.substr(0, at);
        std::istringstream example(help.substr(help.find("sotto ", at)));
        for (std::string word; example >> word;)
            if (word.starts_with("--")) {
                EXPECT_NE(options.find("  " + word + " "), std::string::npos)
                    << command << ": " << word;
            }
    }
}

}  // namespace
}  // namespace sotto::test
