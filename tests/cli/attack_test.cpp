// `sotto audit --attack` as a user runs it.

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

Arguments attack(const std::string& name, const Arguments& more) {
    Arguments arguments{"audit",
                        "--attack",
                        name,
                        "--topology",
                        "ring",
                        "--agents",
                        "4",
                        "--view",
                        "coalition:1",
                        "--rounds",
                        "12",
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

TEST(AttackOnTheCommandLine, ReconstructsTheSameAloneAndOverMpi) {
    const TempDir alone, together;
    const Arguments arguments = attack("reconstruction", {});
    ASSERT_EQ(run_sotto(alone, one_process, arguments).exit_code, 0);
    ASSERT_EQ(run_sotto(together, 4, arguments).exit_code, 0);
    const Json json = json_of(alone / "out.json");
    EXPECT_EQ(json.at("attack"), "reconstruction");
    EXPECT_EQ(json.at("targets").size(), 3U);
    EXPECT_EQ(json.at("targets"), json_of(together / "out.json").at("targets"));
    EXPECT_EQ(json_of(together / "run/audit.json"), json_of(together / "out.json"));

    ASSERT_EQ(
        run_sotto(alone, one_process, {"audit", "--run", "run", "--json", "again.json"}).exit_code,
        0);
    EXPECT_EQ(json_of(alone / "again.json").at("targets"), json.at("targets"));
}

TEST(AttackOnTheCommandLine, FindsTheSameMembersAloneAndOverMpi) {
    const TempDir alone, together;
    const Arguments arguments = attack("membership", {"--mechanism", "ldp"});
    ASSERT_EQ(run_sotto(alone, one_process, arguments).exit_code, 0);
    ASSERT_EQ(run_sotto(together, 4, arguments).exit_code, 0);
    const Json json = json_of(alone / "out.json");
    EXPECT_EQ(json.at("attack"), "membership");
    EXPECT_EQ(json.at("targets").size(), 3U);
    EXPECT_EQ(json.at("targets"), json_of(together / "out.json").at("targets"));
}

TEST(AttackOnTheCommandLine, RefusesOptionsThatMeanNothingToIt) {
    const TempDir directory;
    expect_refused(directory, {"audit", "--attack", "guess"}, 2, "reconstruction");
    expect_refused(directory,
                   {"audit", "--attack", "likelihood", "--data", "x.txt"},
                   2,
                   "--data: has no meaning with --attack likelihood");
    expect_refused(
        directory, attack("reconstruction", {"--trials", "500"}), 2, "--trials: has no meaning");
    expect_refused(
        directory, attack("reconstruction", {"--task", "mlp"}), 2, "--task: has no meaning");
    expect_refused(directory, attack("reconstruction", {"--data", "x.txt"}), 3, "x.txt");
    expect_refused(directory,
                   attack("membership", {"--hypothesis", "constant"}),
                   2,
                   "--hypothesis: has no meaning");
    expect_refused(directory, attack("membership", {"--task", "quadratic"}), 2, "held out");
    expect_refused(directory, attack("membership", {"--data", "x.txt"}), 3, "x.txt");
}

TEST(AttackOnTheCommandLine, ChecksThePaidRoundsOfATraining) {
    for (const int ranks : {one_process, 4}) {
        const TempDir directory;
        const Outcome trained = run_sotto(directory,
                                          ranks,
                                          {"train",
                                           "--topology",
                                           "ring",
                                           "--agents",
                                           "4",
                                           "--task",
                                           "logistic",
                                           "--adjacency",
                                           "record-add-remove",
                                           "--record-view",
                                           "0,1,2,3",
                                           "--noise-seed",
                                           "3",
                                           "--quiet",
                                           "--run-directory",
                                           "run"});
        ASSERT_EQ(trained.exit_code, 0) << trained.text();
        const Outcome audited =
            run_sotto(directory,
                      one_process,
                      {"audit", "--attack", "survey", "--run", "run", "--json", "out.json"});
        ASSERT_EQ(audited.exit_code, 0) << audited.text();
        const Json json = json_of(directory / "out.json");
        EXPECT_EQ(json.at("attack"), "survey");
        EXPECT_EQ(json.at("consistent"), true);
        ASSERT_EQ(json.at("survey").size(), 1U);
        const Json& norms = json.at("survey")[0];
        EXPECT_EQ(norms.at("kind"), "norms");
        EXPECT_EQ(norms.at("agents"), Json({0, 1, 2, 3}));
        for (const char* sound : {"contributions_sound", "messages_sound", "seeds_sound"})
            EXPECT_EQ(norms.at(sound), true) << sound;
        EXPECT_NEAR(norms.at("noise_ratio").get<double>(), 1, 0.4);
        EXPECT_NEAR(norms.at("share").get<double>(), 0.02, 1e-9);
        EXPECT_NEAR(norms.at("epsilon").get<double>(), 1.061, 0.001);
    }
}

}  // namespace
}  // namespace sotto::test
