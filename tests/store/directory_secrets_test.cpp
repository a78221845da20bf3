#include "store/directory_secrets.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "sotto/agent/round_observer.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/noise/noise_source.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "training/open_run.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
