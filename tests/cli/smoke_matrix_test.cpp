#include <cmath>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> mechanisms{"none", "ldp", "cdp", "decor", "corn"};

struct Choice {
    std::string option, value;
};

/// Every value of every option that shapes plan or training, each with every mechanism.
std::vector<Choice> choices() {
    std::vector<Choice> all;
    const auto add = [&](const std::string& option, const std::vector<std::string>& values) {
        for (const auto& value : values) all.push_back({option, value});
    };
    add("--utility", {"one-step", "horizon:1", "horizon:50", "trajectory", "final"});
    add("--calibration", {"exact", "rdp", "paper"});
    add("--adjacency", {"agent", "record", "record-zero-out"});
    add("--topology",
        {"erdos-renyi",
         "ring",
         "path",
         "star",
         "grid",
         "torus",
         "complete",
         "hypercube",
         "exponential",
         "geometric"});
    add("--mixing", {"metropolis", "max-degree", "lazy-metropolis", "row-stochastic", "uniform"});
    add("--partition", {"iid", "dirichlet:0.5", "by-label:2"});
    add("--participation", {"every", "cyclic:3"});
    add("--task", {"logistic", "quadratic", "softmax", "mlp"});
    add("--step-schedule", {"constant", "inverse-sqrt"});
    return all;
}

Arguments options_of(const Choice& choice, const std::string& mechanism) {
    Arguments options{"--mechanism", mechanism, "--epsilon", "5", "--rounds", "12"};
    options.insert(options.end(), {choice.option, choice.value});
    const auto add = [&](const std::string& option, const std::string& value) {
        options.push_back(option);
        options.push_back(value);
    };
    const bool torus = choice.value == "torus";
    add("--agents", torus ? "9" : "8");
    if (choice.option == "--mixing" && choice.value == "uniform") add("--topology", "complete");
    if (choice.value.starts_with("cyclic")) add("--adjacency", "record");
    return options;
}

class SmokeMatrix : public testing::TestWithParam<std::string> {};

TEST_P(SmokeMatrix, PlansKeepTheBudget) {
    const TempDir directory;
    for (const auto& choice : choices()) {
        if (choice.option == "--task" || choice.option == "--partition" ||
            choice.option == "--step-schedule")
            continue;
        SCOPED_TRACE(choice.option + " " + choice.value);
        Arguments arguments = options_of(choice, GetParam());
        arguments.insert(arguments.begin(), "plan");
        arguments.insert(arguments.end(), {"--batch-size", "4", "--quiet", "--json", "-"});
        const Outcome outcome = run_sotto(directory, one_process, arguments);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json.at("mechanism"), GetParam());
        if (GetParam() == "none") {
            EXPECT_TRUE(json.at("epsilon").is_null());
            EXPECT_EQ(json.at("infinite"), true);
            continue;
        }
        const auto epsilon = json.at("epsilon").get<double>();
        EXPECT_LE(epsilon, 5 * (1 + 1e-9));
        EXPECT_GT(epsilon, 0);
        // Correlated noise never leaves more than independent noise of the same budget.
        EXPECT_LE(json.at("objective").get<double>(),
                  json.at("ldp_objective").get<double>() * (1 + 1e-6));
    }
}

TEST_P(SmokeMatrix, TrainingsEndWithAFiniteLossWithinTheBudget) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(300));
    int run = 0;
    for (const auto& choice : choices()) {
        SCOPED_TRACE(choice.option + " " + choice.value);
        Arguments arguments = options_of(choice, GetParam());
        arguments.insert(arguments.begin(), "train");
        arguments.insert(arguments.end(),
                         {"--data",
                          data,
                          "--batch-size",
                          "4",
                          "--threads",
                          "1",
                          "--quiet",
                          "--run-directory",
                          "run" + std::to_string(run++),
                          "--json",
                          "-"});
        const Outcome outcome = run_sotto(directory, one_process, arguments);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json.at("rounds"), 12);
        ASSERT_TRUE(json.at("train_loss_mean_model").is_number()) << outcome.out;
        EXPECT_TRUE(std::isfinite(json.at("train_loss_mean_model").get<double>()));
        if (choice.value != "quadratic") {
            ASSERT_TRUE(json.at("test_loss").is_number()) << outcome.out;
            ASSERT_TRUE(json.at("test_accuracy").is_number()) << outcome.out;
        }
        if (GetParam() == "none")
            EXPECT_TRUE(json.at("epsilon").is_null());
        else
            EXPECT_LE(json.at("epsilon").get<double>(), 5 * (1 + 1e-9));
    }
}

INSTANTIATE_TEST_SUITE_P(EveryMechanism,
                         SmokeMatrix,
                         testing::ValuesIn(mechanisms),
                         [](const auto& instance) { return instance.param; });

TEST(EdgeListFile, OfTheGraphCommandIsReadBackByTheOthers) {
    const TempDir directory;
    const Outcome made = run_sotto(directory,
                                   one_process,
                                   {"graph",
                                    "--topology",
                                    "geometric",
                                    "--agents",
                                    "7",
                                    "--quiet",
                                    "--out",
                                    "g.edges",
                                    "--json",
                                    "made.json"});
    ASSERT_EQ(made.exit_code, 0) << made.text();
    const Outcome read = run_sotto(
        directory, one_process, {"graph", "--graph", "g.edges", "--quiet", "--json", "read.json"});
    ASSERT_EQ(read.exit_code, 0) << read.text();
    EXPECT_EQ(json_of(directory / "made.json").at("graph_hash"),
              json_of(directory / "read.json").at("graph_hash"));
    const Outcome trained = run_sotto(
        directory,
        one_process,
        {"train", "--graph", "g.edges", "--rounds", "3", "--quiet", "--json", "trained.json"});
    ASSERT_EQ(trained.exit_code, 0) << trained.text();
    EXPECT_EQ(json_of(directory / "trained.json").at("agents"), 7);
}

TEST(PlanFile, OfThePlanCommandIsUsedByTheTraining) {
    const TempDir directory;
    const Arguments same{"--agents", "4", "--epsilon", "5", "--rounds", "10", "--quiet", "--json"};
    Arguments plan{"plan", "--mechanism", "decor", "--out", "noise.plan"};
    plan.insert(plan.end(), same.begin(), same.end());
    plan.emplace_back("plan.json");
    ASSERT_EQ(run_sotto(directory, one_process, plan).exit_code, 0);
    Arguments train{"train", "--plan", "noise.plan", "--run-directory", "run"};
    train.insert(train.end(), same.begin(), same.end());
    train.emplace_back("train.json");
    const Outcome outcome = run_sotto(directory, one_process, train);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(json_of(directory / "train.json").at("mechanism"), "decor");
    EXPECT_EQ(json_of(directory / "run/ledger.json").at("plan_hash"),
              json_of(directory / "plan.json").at("plan_hash"));
}

}  // namespace
}  // namespace sotto::test
