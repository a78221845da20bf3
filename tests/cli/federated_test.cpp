// Federated averaging with a trusted server, as a user meets it.

#include <algorithm>
#include <cmath>
#include <csignal>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

const Arguments sampled{
    "--mechanism", "dp-fedavg", "--adjacency", "agent-zero-out", "--client-probability", "0.25"};

Arguments with(Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

/// Runs it, and reads the JSON it wrote.
Json said_by(const TempDir& directory, int ranks, const Arguments& arguments) {
    const Outcome outcome =
        run_sotto(directory, ranks, with(arguments, {"--quiet", "--json", "out.json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return outcome.exit_code == 0 ? json_of(directory / "out.json") : Json::object();
}

/// The model of agent 1 after a short training of three agents whose noise has a seed.
std::string model_of(const TempDir& directory, int ranks, const Arguments& options) {
    const Outcome outcome = run_sotto(
        directory, ranks, short_training(with(options, {"--agents", "3", "--noise-seed", "4"})));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return outcome.exit_code == 0 ? content_of(directory / "run/agents/1/model.npy")
                                  : outcome.text();
}

TEST(FederatedAveraging, OfOneStepOfAllAgentsIsThatOfATrustedAggregator) {
    const TempDir federated, central, walked;
    const std::string model =
        model_of(federated, one_process, {"--mechanism", "dp-fedavg", "--l2", "0.1"});
    EXPECT_TRUE(model == model_of(central, one_process, {"--mechanism", "cdp", "--l2", "0.1"}));
    EXPECT_FALSE(model ==
                 model_of(walked,
                          one_process,
                          {"--mechanism", "dp-fedavg", "--l2", "0.1", "--local-steps", "2"}));
}

TEST(FederatedAveraging, OfSampledAgentsCostsWhatSampledRoundsCost) {
    const TempDir directory;
    const Arguments budget{"--epsilon", "2", "--delta", "1e-5", "--rounds", "200"};
    const Json plan = said_by(
        directory,
        one_process,
        with(with({"plan", "--agents", "6", "--clip-norm", "0.4", "--out", "plan.json"}, sampled),
             budget));
    EXPECT_NEAR(plan.at("epsilon").get<double>(), 2, 2e-3);
    const Json rounds = said_by(
        directory, one_process, with({"account", "--sampling-probability", "0.25"}, budget));
    const auto multiplier = rounds.at("noise_multiplier").get<double>();
    const Json made = json_of(directory / "plan.json");
    EXPECT_NEAR(made.at("scale").get<double>(), multiplier * 0.4 / 0.25, 1e-3 * multiplier);
    const Json account =
        said_by(directory,
                one_process,
                with(with({"account", "--agents", "6", "--clip-norm", "0.4", "--plan", "plan.json"},
                          sampled),
                     {"--rounds", "200", "--view", "eavesdropper"}));
    EXPECT_FALSE(account.empty());
}

TEST(FederatedAveraging, OverMpiHasTheBitsOfOneProcessAndSaysWhoKnowsTheCoins) {
    const Arguments options = with(sampled, {"--local-steps", "2"});
    const TempDir alone, several;
    EXPECT_TRUE(model_of(alone, one_process, options) == model_of(several, 3, options));
    const std::string ledger = content_of(several / "run/ledger.json");
    EXPECT_NE(ledger.find("only the trusted aggregator and the agent itself know"),
              std::string::npos);
    EXPECT_NE(ledger.find("\"agent-zero-out\""), std::string::npos);
    EXPECT_NE(content_of(several / "run/config.ini").find("client-probability = 0.25"),
              std::string::npos);
}

TEST(FederatedAveraging, OfARunThatIsTakenUpTossesTheSameCoins) {
    const TempDir whole, cut;
    Arguments options = short_training(
        with(sampled, {"--agents", "3", "--noise-seed", "4", "--checkpoint-every", "1000"}));
    for (const char* option : {"--rounds", "--eval-every"})
        *(std::ranges::find(options, option) + 1) = "50000";
    const Outcome outcome = run_sotto(whole, one_process, options);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    Process process(sotto_command(one_process, options), cut.path());
    ASSERT_TRUE(happens([&] { return has_checkpoint(cut / "run", 0); }));
    process.signal_group(SIGINT);
    const Outcome stopped = process.wait();
    ASSERT_EQ(stopped.exit_code, 8) << stopped.text();
    const Outcome resumed = run_sotto(cut, one_process, {"train", "--resume", "run", "--quiet"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.text();
    EXPECT_TRUE(content_of(whole / "run/agents/1/model.npy") ==
                content_of(cut / "run/agents/1/model.npy"));
    EXPECT_EQ(json_of(cut / "run/ledger.json").at("rounds").at("accounted"), 50000);
}

TEST(FederatedAveraging, RefusesWhatATrustedServerCannotHave) {
    const TempDir directory;
    const auto refused = [&](const Arguments& more, const std::string& part) {
        expect_refused(directory, short_training(more), 2, part);
    };
    refused({"--mechanism", "pairs", "--local-steps", "3"}, "local-steps: 3 is not possible");
    expect_refused(
        directory,
        {"plan", "--mechanism", "dp-fedavg", "--local-steps", "3", "--adjacency", "record"},
        2,
        "with adjacency record");
    refused({"--mechanism", "dp-fedavg", "--local-steps", "3", "--clip-norm", "learnt"},
            "with --clip-norm learnt");
    refused({"--mechanism", "dp-fedavg", "--local-steps", "3", "--secure-sum", "on"},
            "trusted aggregator");
    refused({"--mechanism", "dp-fedavg", "--gossip-steps", "3"}, "gossip-steps: 3");
    refused({"--mechanism", "dp-fedavg", "--temporal", "banded:2"}, "no temporal factor");
    refused({"--mechanism", "dp-fedavg", "--client-probability", "0.5"}, "agent-zero-out");
    refused(with(sampled, {"--participation", "every"}), "allowed: poisson");
    refused(with(sampled, {"--pad-rounds"}), "pad-rounds");
    refused(with(sampled, {"--calibration", "rdp"}), "calibration");
    refused({"--mechanism", "dp-fedavg", "--coalition-size", "1"}, "coalition-size");
    expect_refused(directory, {"audit", "--mechanism", "dp-fedavg"}, 2, "trusted aggregator");
}

}  // namespace
}  // namespace sotto::test
