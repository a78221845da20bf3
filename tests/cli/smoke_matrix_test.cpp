#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

/// What a mechanism asks of the runs below.
struct Needs {
    bool agents_only = false;     ///< protects whole data sets of agents, not records
    bool cyclic_records = false;  ///< of cyclic participation
    bool comparison = false;      ///< may leave more than independent noise
    Arguments options = {};       ///< that nobody else uses
    bool covariance = false;      ///< a file with one
};

const std::map<std::string, Needs> needs{{"none", {}},
                                         {"ldp", {}},
                                         {"cdp", {}},
                                         {"dp-fedavg", {}},
                                         {"decor", {}},
                                         {"corn", {}},
                                         {"corn-hbc", {}},
                                         {"pairs", {}},
                                         {"covariance", {.comparison = true, .covariance = true}},
                                         {"muffliato", {.options = {"--gossip-steps", "3"}}},
                                         {"anti-pgd", {.comparison = true}},
                                         {"mafalda", {.cyclic_records = true}},
                                         {"space-time", {.cyclic_records = true}},
                                         {"zip-dl", {}},
                                         {"homomorphic", {.agents_only = true}},
                                         {"laplace", {.agents_only = true}}};

std::vector<std::string> mechanisms() {
    std::vector<std::string> names;
    for (const auto& [name, need] : needs) names.push_back(name);
    return names;
}

/// The words that --help lists for an option, up to the next option.
std::set<std::string> listed(const std::string& help, const std::string& option) {
    const std::size_t begin = help.find(')', help.find("--" + option + " ")) + 1;
    std::istringstream words(help.substr(begin, help.find("--", begin) - begin));
    std::set<std::string> names;
    for (std::string word; words >> word;)
        names.insert(word.back() == ',' ? word.substr(0, word.size() - 1) : word);
    return names;
}

TEST(SmokeMatrix, HasEveryMechanismOfTheProgram) {
    const TempDir directory;
    const Outcome help = run_sotto(directory, one_process, {"plan", "--help"});
    ASSERT_EQ(help.exit_code, 0) << help.text();
    const std::vector<std::string> names = mechanisms();
    EXPECT_EQ(listed(help.out, "mechanism"), (std::set<std::string>{names.begin(), names.end()}))
        << "a mechanism needs its line in the table of this test";
}

/// As many runs as the option with the most values has, so that all values of all options occur.
constexpr std::size_t runs = 10;

struct OneRun {
    Arguments plan, training;  ///< options of both, and of trainings only
};

OneRun make_run(std::size_t i, const std::string& mechanism) {
    const auto choice = [&](const std::vector<std::string>& values) {
        return values[i % values.size()];
    };
    const std::string topology = choice({"erdos-renyi",
                                         "ring",
                                         "path",
                                         "star",
                                         "grid",
                                         "torus",
                                         "complete",
                                         "hypercube",
                                         "exponential",
                                         "geometric"});
    // The hub of a star gives itself so little weight that doubles have no grid for its noise.
    const bool uneven = mechanism == "homomorphic" && topology == "star";
    const std::string mixing =
        topology == "complete" ? "uniform"
        : uneven               ? "max-degree"
                 : choice({"metropolis", "max-degree", "lazy-metropolis", "row-stochastic"});
    const Needs& need = needs.at(mechanism);
    const std::string record = choice({"record", "record-zero-out", "record-add-remove"});
    const std::string adjacency = need.agents_only      ? "agent"
                                  : need.cyclic_records ? record
                                                        : choice({"agent", record});
    const std::string participation =
        need.cyclic_records || (adjacency != "agent" && i % 4 == 1) ? "cyclic:3" : "every";
    OneRun run;
    run.plan = {
        "--mechanism",     mechanism,
        "--epsilon",       "5",
        "--rounds",        "12",
        "--batch-size",    "4",
        "--agents",        topology == "torus" ? "9" : "8",
        "--topology",      topology,
        "--mixing",        mixing,
        "--adjacency",     adjacency,
        "--participation", participation,
        "--utility",       choice({"one-step", "horizon:1", "horizon:50", "trajectory", "final"}),
        "--calibration",   choice({"exact", "rdp", "paper"}),
        "--step-schedule", choice({"constant", "inverse-sqrt"})};
    run.plan.insert(run.plan.end(), need.options.begin(), need.options.end());
    const std::vector<std::string> tasks =
        adjacency == "agent" ? std::vector<std::string>{"logistic", "quadratic", "softmax", "mlp"}
                             : std::vector<std::string>{"logistic", "softmax", "mlp"};
    run.training = {"--task", tasks[i / 2 % tasks.size()], "--threads", "1"};
    const std::string partition = choice({"iid", "dirichlet:0.5", "by-label:2"});
    if (run.training[1] != "quadratic")
        run.training.insert(run.training.end(), {"--partition", partition});
    return run;
}

/// Noise that neighbours on a ring partly cancel. @return the file, of float64 in C order.
std::string covariance_file(const TempDir& directory, int agents) {
    std::string content = "\x93NUMPY\x01";
    content += '\0';
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                         std::to_string(agents) + ", " + std::to_string(agents) + "), }";
    header.resize(117, ' ');
    header += '\n';
    content += static_cast<char>(header.size());
    content += '\0';
    content += header;
    for (int u = 0; u < agents; ++u)
        for (int v = 0; v < agents; ++v) {
            const int apart = std::min((u - v + agents) % agents, (v - u + agents) % agents);
            const double value = apart == 0 ? 3 : apart == 1 ? -1 : 0;
            content.append(reinterpret_cast<const char*>(&value), sizeof(value));
        }
    return directory.write("covariance.npy", content);
}

/// The options of a plan, with the file that they name.
Arguments plan_options(const TempDir& directory, OneRun run, const std::string& mechanism) {
    if (!needs.at(mechanism).covariance) return run.plan;
    const auto agents = std::ranges::find(run.plan, "--agents") + 1;
    const std::string file = covariance_file(directory, std::stoi(*agents));
    run.plan.insert(run.plan.end(), {"--covariance", file});
    return run.plan;
}

class EveryMechanism : public testing::TestWithParam<std::string> {};

TEST_P(EveryMechanism, PlansWithinTheBudget) {
    const TempDir directory;
    for (std::size_t i = 0; i < runs; ++i) {
        Arguments arguments = plan_options(directory, make_run(i, GetParam()), GetParam());
        arguments.insert(arguments.begin(), "plan");
        arguments.insert(arguments.end(), {"--quiet", "--json", "-"});
        SCOPED_TRACE(testing::PrintToString(arguments));
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
        if (json.at("objective").is_number() && !needs.at(GetParam()).comparison) {
            EXPECT_LE(json.at("objective").get<double>(),
                      json.at("ldp_objective").get<double>() * (1 + 1e-5));
        }
    }
}

TEST_P(EveryMechanism, TrainsToAFiniteLossWithinTheBudget) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(300));
    for (std::size_t i = 0; i < runs; ++i) {
        const OneRun run = make_run(i, GetParam());
        Arguments arguments{"train", "--run-directory", "run" + std::to_string(i)};
        if (run.training[1] != "quadratic") arguments.insert(arguments.end(), {"--data", data});
        const Arguments plan = plan_options(directory, run, GetParam());
        arguments.insert(arguments.end(), plan.begin(), plan.end());
        arguments.insert(arguments.end(), run.training.begin(), run.training.end());
        arguments.insert(arguments.end(), {"--quiet", "--json", "-"});
        SCOPED_TRACE(testing::PrintToString(arguments));
        const Outcome outcome = run_sotto(directory, one_process, arguments);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        const Json json = Json::parse(outcome.out);
        EXPECT_EQ(json.at("rounds"), 12);
        ASSERT_TRUE(json.at("train_loss_mean_model").is_number()) << outcome.out;
        EXPECT_TRUE(std::isfinite(json.at("train_loss_mean_model").get<double>()));
        if (run.training[1] != "quadratic") {
            ASSERT_TRUE(json.at("test_loss").is_number()) << outcome.out;
            ASSERT_TRUE(json.at("test_accuracy").is_number()) << outcome.out;
        }
        if (GetParam() == "none")
            EXPECT_TRUE(json.at("epsilon").is_null());
        else
            EXPECT_LE(json.at("epsilon").get<double>(), 5 * (1 + 1e-9));
    }
}

INSTANTIATE_TEST_SUITE_P(SmokeMatrix,
                         EveryMechanism,
                         testing::ValuesIn(mechanisms()),
                         [](const auto& instance) {
                             std::string name = instance.param;
                             std::erase(name, '-');
                             return name;
                         });

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
