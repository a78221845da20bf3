// `sotto audit` as a user runs it.

#include <map>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

constexpr int audit_inconsistent = 6;

Arguments audit(const Arguments& more) {
    Arguments arguments{"audit",
                        "--topology",
                        "ring",
                        "--mechanism",
                        "decor",
                        "--rounds",
                        "6",
                        "--trials",
                        "600",
                        "--quiet",
                        "--json",
                        "out.json",
                        "--noise-seed",
                        "3",
                        "--run-directory",
                        "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

class AuditCommand : public ::testing::TestWithParam<int> {};

TEST_P(AuditCommand, MeasuresWhatAViewTells) {
    const TempDir directory;
    const Outcome outcome =
        run_sotto(directory, GetParam(), audit({"--agents", "4", "--view", "coalition:1,3"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json json = json_of(directory / "out.json");
    for (const char* key :
         {"mu_theory", "mu_empirical", "mu_lower", "mu_upper", "epsilon_theory", "epsilon_lower"})
        EXPECT_TRUE(json.at(key).is_number()) << key;
    EXPECT_EQ(json.at("trials"), 600);
    EXPECT_EQ(json.at("consistent"), true);
    EXPECT_EQ(json.at("agents"), 4);
    EXPECT_LE(json.at("mu_lower").get<double>(), json.at("mu_theory").get<double>());
    EXPECT_GE(json.at("mu_upper").get<double>(), json.at("mu_theory").get<double>());
    EXPECT_EQ(json_of(directory / "run/audit.json"), json);
}

TEST_P(AuditCommand, MeasuresCorrectionsAsWhatTheyTell) {
    for (const char* correction : {"exact-diffusion", "tracking"}) {
        const TempDir directory;
        const Outcome outcome = run_sotto(
            directory,
            GetParam(),
            audit({"--agents", "4", "--view", "eavesdropper", "--correction", correction}));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        const Json json = json_of(directory / "out.json");
        EXPECT_EQ(json.at("consistent"), true) << correction;
        EXPECT_LE(json.at("mu_lower").get<double>(), json.at("mu_theory").get<double>());
        EXPECT_GE(json.at("mu_upper").get<double>(), json.at("mu_theory").get<double>());
    }
}
INSTANTIATE_TEST_SUITE_P(AloneAndOverMpi, AuditCommand, ::testing::Values(one_process, 4));

TEST(AuditOnTheCommandLine, OfBothKindsOfRunsMeasuresTheSame) {
    const TempDir alone, together;
    const Arguments arguments = audit({"--agents", "4", "--view", "node:1"});
    ASSERT_EQ(run_sotto(alone, one_process, arguments).exit_code, 0);
    ASSERT_EQ(run_sotto(together, 4, arguments).exit_code, 0);
    EXPECT_EQ(json_of(alone / "out.json").at("mu_empirical"),
              json_of(together / "out.json").at("mu_empirical"));
}

/// Without what depends on when and where it ran.
Json figures_in(const std::string& file) {
    Json json = json_of(file);
    for (const char* key : {"seconds", "run_directory"}) json.erase(key);
    return json;
}

TEST(AuditOnTheCommandLine, OfSecretCoinsIsTheSameAloneOverMpiAndLookedAtAgain) {
    const TempDir alone, together;
    // Records that come and go are sampled in secret, and the attack is the one about that.
    const Arguments arguments{"audit",
                              "--topology",
                              "ring",
                              "--agents",
                              "4",
                              "--mechanism",
                              "pairs",
                              "--adjacency",
                              "record-add-remove",
                              "--batch-size",
                              "160",
                              "--rounds",
                              "30",
                              "--trials",
                              "400",
                              "--view",
                              "coalition:1,3",
                              "--noise-seed",
                              "3",
                              "--quiet",
                              "--json",
                              "out.json",
                              "--run-directory",
                              "run"};
    const Outcome outcome = run_sotto(alone, one_process, arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json json = json_of(alone / "out.json");
    EXPECT_EQ(json.at("attack"), "canary-records");
    EXPECT_EQ(json.at("consistent"), true);
    EXPECT_EQ(json.at("rounds_recorded"), 30);
    EXPECT_EQ(json.at("checks").size(), 12);
    EXPECT_NEAR(json.at("sampling_probability").get<double>(), 0.1, 1e-12);
    EXPECT_LE(json.at("one_run").at("epsilon_lower").get<double>(),
              json.at("epsilon_theory").get<double>());
    ASSERT_EQ(run_sotto(together, 4, arguments).exit_code, 0);
    EXPECT_EQ(figures_in(together / "out.json"), figures_in(alone / "out.json"));
    EXPECT_EQ(json_of(together / "run/audit.json"), json_of(together / "out.json"));
    const Arguments again{"audit", "--run", "run", "--quiet", "--json", "again.json"};
    ASSERT_EQ(run_sotto(together, one_process, again).exit_code, 0);
    EXPECT_EQ(figures_in(together / "again.json"), figures_in(alone / "out.json"));
}

TEST(AuditOnTheCommandLine, ExitsWithSixWhereASeedLeaked) {
    const TempDir directory;
    ASSERT_EQ(run_sotto(directory, one_process, audit({"--agents", "5", "--view", "coalition:1,3"}))
                  .exit_code,
              0);
    const Arguments again{"audit", "--run", "run", "--view", "node:1", "--json", "again.json"};
    ASSERT_EQ(run_sotto(directory, one_process, again).exit_code, 0);
    // Agent 1 gets the seeds of agent 3.
    const std::string file = directory / "run/views/1/seeds.json";
    const Json own = json_of(file);
    Json seeds = own;
    std::map<int, Json> all;
    const Json others = json_of(directory / "run/views/3/seeds.json");
    for (const Json* held : {&own, &others})
        for (const Json& seed : held->at("seeds")) all[seed.at("group").get<int>()] = seed;
    seeds["seeds"] = Json::array();
    for (const auto& [group, seed] : all) seeds["seeds"].push_back(seed);
    (void)directory.write("run/views/1/seeds.json", seeds.dump());
    const Outcome outcome = run_sotto(directory, one_process, again);
    EXPECT_EQ(outcome.exit_code, audit_inconsistent) << outcome.text();
    EXPECT_NE(outcome.out.find("INCONSISTENT"), std::string::npos);
    EXPECT_NE(outcome.out.find("agent 1 holds the seed of group"), std::string::npos);
    const Json json = json_of(directory / "again.json");
    EXPECT_EQ(json.at("consistent"), false);
    EXPECT_FALSE(json.at("findings").empty());
}

// Who lied stays what the run says, whoever looks at it.
TEST(AuditOnTheCommandLine, OfLiarsTakesAllOfThemIntoTheView) {
    const TempDir directory;
    const Outcome lies = run_sotto(directory,
                                   one_process,
                                   {"audit",
                                    "--attack",
                                    "poison:wrong-sign",
                                    "--view",
                                    "all-messages:2,5",
                                    "--topology",
                                    "complete",
                                    "--agents",
                                    "8",
                                    "--rounds",
                                    "12",
                                    "--mechanism",
                                    "pairs",
                                    "--noise-seed",
                                    "7",
                                    "--run-directory",
                                    "run"});
    ASSERT_EQ(lies.exit_code, 0) << lies.text();
    const Outcome again = run_sotto(directory, one_process, {"audit", "--run", "run"});
    EXPECT_EQ(again.exit_code, 0) << again.text();
    expect_refused(directory,
                   {"audit", "--run", "run", "--view", "all-messages:2"},
                   2,
                   "--faults: agent 5 is to lie (allowed in an audit: agents of --view");
    expect_refused(directory,
                   {"audit",
                    "--attack",
                    "poison:noise",
                    "--view",
                    "all-messages:2",
                    "--topology",
                    "complete",
                    "--agents",
                    "4",
                    "--faults",
                    "lie:noise:3"},
                   2,
                   "--faults: lie:noise:3");
}

TEST(AuditOnTheCommandLine, RefusesWithOneLine) {
    const TempDir directory;
    expect_refused(directory, {"audit", "--view", "all-nodes"}, 2, "one observer");
    expect_refused(directory, {"audit", "--agents", "1"}, 2, "--agents");
    expect_refused(directory, {"audit", "--mechanism", "cdp"}, 2, "trusted aggregator");
    expect_refused(directory, {"audit", "--trials", "5"}, 2, "--trials");
    expect_refused(directory,
                   {"audit", "--participation", "poisson", "--attack", "likelihood"},
                   2,
                   "--attack canary-records");
    expect_refused(directory, {"audit", "--run", "nothing"}, 3, "nothing/config.ini");
    expect_refused(directory, {"audit", "--viewer", "node:1"}, 2, "--view");
}

}  // namespace
}  // namespace sotto::test
