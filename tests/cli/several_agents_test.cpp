// Ranks that host several agents each, as a user runs them.

#include <fmt/format.h>

#include <algorithm>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

constexpr int agents = 7;

class SeveralAgents : public ::testing::Test {
  protected:
    Outcome train(int ranks, const std::string& run, const Arguments& more) {
        Arguments arguments{"train",
                            "--data",
                            data_,
                            "--rounds",
                            "12",
                            "--batch-size",
                            "5",
                            "--quiet",
                            "--noise-seed",
                            "7",
                            "--agents",
                            std::to_string(agents),
                            "--run-directory",
                            run};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_sotto(directory_, ranks, arguments);
    }
    [[nodiscard]] std::vector<std::string> models_of(const std::string& run) const {
        std::vector<std::string> models;
        for (int u = 0; u < agents; ++u)
            models.push_back(
                content_of(directory_.path() / run / "agents" / std::to_string(u) / "model.npy"));
        return models;
    }
    [[nodiscard]] std::string statements_of(const std::string& run) const {
        std::string all;
        const Json ledger = json_of(directory_ / (run + "/ledger.json"));
        for (const Json& statement : ledger.at("statements"))
            all += statement.get<std::string>() + "\n";
        return all;
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(90));
};

class SameBits : public SeveralAgents, public ::testing::WithParamInterface<Arguments> {};

TEST_P(SameBits, AsInOneProcess) {
    const Outcome alone = train(one_process, "alone", GetParam());
    ASSERT_EQ(alone.exit_code, 0) << alone.text();
    const auto wanted = models_of("alone");
    ASSERT_GT(wanted.back().size(), 128U);
    for (const int ranks : {2, 3}) {
        const std::string run = fmt::format("on-{}", ranks);
        const Outcome outcome = train(ranks, run, GetParam());
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        EXPECT_EQ(models_of(run), wanted) << ranks << " ranks";
        const Json with = json_of(directory_ / (run + "/ledger.json"));
        EXPECT_EQ(with.at("headline"), json_of(directory_ / "alone/ledger.json").at("headline"));
    }
}
INSTANTIATE_TEST_SUITE_P(
    OfEveryWayToMix,
    SameBits,
    ::testing::Values(
        Arguments{},
        Arguments{"--link-encryption", "off"},
        Arguments{"--precision", "float32"},
        Arguments{"--precision", "nibble"},
        Arguments{"--precision", "nibble", "--link-encryption", "off", "--step-schedule", "linear"},
        Arguments{"--precision",
                  "nibble",
                  "--gossip-steps",
                  "4",
                  "--gossip",
                  "chebyshev",
                  "--momentum",
                  "0.5",
                  "--average",
                  "tail:0.25",
                  "--final-gossip",
                  "6"},
        Arguments{
            "--precision", "float32", "--link-encryption", "off", "--mixing-schedule", "random"},
        Arguments{"--precision", "float32", "--mechanism", "zip-dl", "--noise-std", "0.1"},
        Arguments{"--mechanism", "decor", "--topology", "ring"},
        Arguments{"--mechanism",
                  "mafalda",
                  "--adjacency",
                  "record",
                  "--participation",
                  "cyclic:3",
                  "--mixing-schedule",
                  "random"},
        Arguments{"--directed", "--topology", "ring", "--mechanism", "decor"},
        Arguments{
            "--directed", "--edge-probability", "0.4", "--gossip-steps", "2", "--momentum", "0.5"},
        Arguments{"--directed", "--edge-probability", "0.6", "--secure-sum", "on"},
        Arguments{"--directed", "--mixing-schedule", "random", "--precision", "float32"},
        Arguments{"--directed",
                  "--topology",
                  "exponential",
                  "--mixing-schedule",
                  "one-peer",
                  "--mixing",
                  "row-stochastic"},
        Arguments{"--mechanism", "corn", "--gossip-steps", "3"},
        Arguments{"--mechanism", "zip-dl", "--noise-std", "0.1"},
        Arguments{"--correction", "exact-diffusion", "--gossip-steps", "2"},
        Arguments{"--correction", "tracking", "--mixing-schedule", "random"},
        Arguments{"--precondition-every", "4", "--topology", "ring", "--momentum", "0.5"},
        Arguments{"--mechanism", "ldp", "--mixing-schedule", "random"},
        Arguments{"--secure-sum", "on", "--topology", "complete"},
        Arguments{
            "--participation", "poisson", "--adjacency", "record-add-remove", "--epsilon", "2"}));

TEST_F(SeveralAgents, AreSaidToShareMemoryInTheLedger) {
    const std::string words = "7 agents run on 3 ranks, consecutive ones on each, up to 3 on one";
    ASSERT_EQ(train(3, "three", {}).exit_code, 0);
    EXPECT_NE(statements_of("three").find(words), std::string::npos) << statements_of("three");
    ASSERT_EQ(train(agents, "seven", {}).exit_code, 0);
    EXPECT_EQ(statements_of("seven").find("share its memory"), std::string::npos);
}

TEST_F(SeveralAgents, AreAtLeastOneARank) {
    const Outcome outcome = train(8, "run", {});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_NE(outcome.err.find("--agents: 7 given, but 8 MPI ranks were started"),
              std::string::npos)
        << outcome.text();
}

TEST_F(SeveralAgents, AreEquallyManyForEveryRank) {
    Process process(disagreeing_command({"train", "--agents", "6"}, {"train", "--agents", "9"}),
                    directory_.path());
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_NE(outcome.err.find("--agents: 9 given, but rank 0 has 6"), std::string::npos)
        << outcome.text();
}

TEST_F(SeveralAgents, OfAGraphFileAreAskedForWithTheirNumber) {
    const std::string graph =
        directory_.write("seven.edges", "0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 0\n1 5\n");
    ASSERT_EQ(train(one_process, "alone", {"--graph", graph}).exit_code, 0);
    const Outcome outcome = train(2, "two", {"--graph", graph});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(models_of("two"), models_of("alone"));
    const Outcome silent =
        run_sotto(directory_, 2, {"train", "--graph", graph, "--data", data_, "--rounds", "3"});
    EXPECT_EQ(silent.exit_code, 2) << silent.text();
    EXPECT_NE(silent.err.find("--agents"), std::string::npos) << silent.text();
}

TEST_F(SeveralAgents, AreAuditedWhateverTheRanks) {
    const auto audit = [&](int ranks, const std::string& json) {
        return run_sotto(directory_,
                         ranks,
                         {"audit",
                          "--agents",
                          "6",
                          "--mechanism",
                          "pairs",
                          "--view",
                          "node:1",
                          "--rounds",
                          "6",
                          "--trials",
                          "600",
                          "--quiet",
                          "--json",
                          json,
                          "--noise-seed",
                          "3",
                          "--run-directory",
                          json + ".run"});
    };
    ASSERT_EQ(audit(one_process, "alone.json").exit_code, 0);
    const Outcome outcome = audit(2, "two.json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(json_of(directory_ / "two.json").at("mu_empirical"),
              json_of(directory_ / "alone.json").at("mu_empirical"));
}

TEST_F(SeveralAgents, KeepTheirIdentities) {
    for (int u = 0; u < agents; ++u)
        ASSERT_EQ(run_sotto(directory_,
                            one_process,
                            {"keygen",
                             "--identity",
                             fmt::format("agent{}.id", u),
                             "--roster",
                             "roster",
                             "--quiet"})
                      .exit_code,
                  0);
    const Arguments trust{"--roster", "roster", "--identity", "agent%r.id"};
    const Outcome outcome = train(3, "run", trust);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    std::filesystem::remove(directory_ / "agent5.id");
    const Outcome without = train(3, "again", trust);
    EXPECT_NE(without.exit_code, 0);
    EXPECT_NE(without.err.find("agent5.id"), std::string::npos) << without.text();
}

TEST_F(SeveralAgents, GoOnOnOtherRanks) {
    const std::string run = directory_ / "run";
    Arguments arguments{"train",
                        "--data",
                        data_,
                        "--rounds",
                        "2000000",
                        "--batch-size",
                        "5",
                        "--optimality-gap",
                        "off",
                        "--eval-every",
                        "1000000000",
                        "--agents",
                        std::to_string(agents),
                        "--run-directory",
                        run};
    const LongerGrace grace;
    Process process(sotto_command(3, arguments), directory_.path());
    ASSERT_TRUE(happens([&] {
        return std::filesystem::exists(run + "/metrics.csv") &&
               content_of(std::filesystem::path(run) / "metrics.csv").size() > 200;
    }));
    process.signal_group(SIGINT);
    (void)process.wait();
    ASSERT_TRUE(std::filesystem::exists(run + "/history.json"));
    for (const int ranks : {2, one_process}) {
        const Outcome dry = run_sotto(directory_, ranks, {"train", "--resume", run, "--dry-run"});
        EXPECT_EQ(dry.exit_code, 0) << dry.text();
        EXPECT_EQ(dry.out.find("share its memory") != std::string::npos, ranks == 2) << dry.out;
    }
    const Outcome too_many = run_sotto(directory_, 8, {"train", "--resume", run, "--dry-run"});
    EXPECT_EQ(too_many.exit_code, 2) << too_many.text();
}

}  // namespace
}  // namespace sotto::test
