#include "audit/membership_attack.hpp"

#include <algorithm>

#include "audit/audit_report.hpp"
#include "audit/audit_run.hpp"
#include "audit/membership_result.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::TemporaryFolder;

constexpr int agents_on_path = 5;

/// Records of 20 random features out of many, and labels that have nothing to do with them: what a
/// model knows about them it has learnt by heart.
std::string random_records(int records, std::uint64_t seed) {
    SeededRandom random(seed, "membership test");
    std::string text;
    for (int i = 0; i < records; ++i) {
        std::vector<int> features(1000);
        for (std::size_t j = 0; j < features.size(); ++j) features[j] = static_cast<int>(j) + 1;
        random.shuffle(features);
        std::sort(features.begin(), features.begin() + 20);
        text += random.below(2) == 0 ? "+1" : "-1";
        for (std::size_t j = 0; j < 20; ++j) text += " " + std::to_string(features[j]) + ":1";
        text += "\n";
    }
    return text;
}

AuditConfig membership_config(const TemporaryFolder& folder,
                              const std::string& mechanism,
                              const std::string& view) {
    AuditConfig config;
    config.attack = "membership";
    config.view = view;
    config.train.graph.topology.topology = Topology::path;
    config.train.graph.topology.agents = agents_on_path;
    config.train.plan.mechanism = mechanism;
    config.train.plan.adjacency = Adjacency::record;
    config.train.plan.rounds = 300;
    config.train.plan.batch_size = 30;
    config.train.plan.clip_norm = 5;
    config.train.plan.steps.step_size = 1;
    config.train.plan.utility = {Utility::Kind::horizon, 10};
    config.train.task.data = folder.write("train.txt", random_records(60 * agents_on_path, 1));
    config.train.task.test_data = folder.write("test.txt", random_records(400, 2));
    config.train.task.partition = {PartitionSpec::Kind::iid, 0, 1};
    config.train.noise_seed = 5;
    config.train.run_directory = folder.path("run");
    return config;
}

MembershipResult attack_membership(const AuditConfig& config) {
    return test::audit<MembershipResult>(config);
}

TEST(Membership, FindsRecordsThatWereLearntByHeart) {
    const TemporaryFolder folder;
    AuditConfig config = membership_config(folder, "none", "node:0");
    config.train.plan.rounds = 1000;
    const MembershipResult result = attack_membership(config);
    ASSERT_EQ(result.targets.size(), 4U);
    for (std::size_t k = 0; k < result.targets.size(); ++k) {
        const MembershipFigures& figures = result.targets[k];
        EXPECT_EQ(figures.target, static_cast<int>(k) + 1);
        EXPECT_EQ(figures.distance, static_cast<int>(k) + 1);
        EXPECT_EQ(figures.heard, k == 0);
        EXPECT_GE(figures.records, 50);
        EXPECT_GT(figures.ranking.lower, 0.5);
        EXPECT_TRUE(std::isinf(figures.claim_epsilon));
    }
    EXPECT_GT(result.targets.front().ranking.auc, 0.9);
    EXPECT_GT(result.targets.front().ranking.advantage, 0.5);
    EXPECT_GT(result.targets.front().epsilon_lower, 0.5);
    EXPECT_TRUE(result.consistent());
}

TEST(Membership, FindsNothingUnderNoiseAndSaysWhatIsClaimed) {
    const TemporaryFolder folder;
    AuditConfig config = membership_config(folder, "pairs", "eavesdropper");
    config.train.plan.epsilon = 1;
    const MembershipResult result = attack_membership(config);
    ASSERT_EQ(result.targets.size(), 5U);
    for (const MembershipFigures& figures : result.targets) {
        EXPECT_TRUE(figures.heard);
        EXPECT_EQ(figures.distance, -1);
        // Five agents at 99.9%.
        EXPECT_LT(figures.ranking.lower, 0.5 + 0.05);
        EXPECT_GT(figures.ranking.upper, 0.5 - 0.05);
        EXPECT_LE(figures.claim_epsilon, 1 + 1e-6);
        EXPECT_LE(figures.epsilon_certain, figures.claim_epsilon);
    }
    EXPECT_TRUE(result.consistent());
    const Json report = test::read_json(std::filesystem::path(result.run_directory) / "audit.json");
    EXPECT_EQ(report["attack"], "membership");
    EXPECT_EQ(report["targets"].size(), 5U);
}

TEST(Membership, IsInconsistentWhereRecordsWereClippedLessThanClaimed) {
    const TemporaryFolder folder;
    AuditConfig config = membership_config(folder, "ldp", "node:1");
    config.train.plan.noise_std = 1e-3;
    const MembershipResult honest = attack_membership(config);
    EXPECT_TRUE(honest.consistent());
    EXPECT_GT(honest.targets.front().epsilon_certain, 0);
    config.run = honest.run_directory;
    config.train.plan.clip_norm = 1e-6;
    const MembershipResult leaky = attack_membership(config);
    EXPECT_FALSE(leaky.consistent());
    EXPECT_TRUE(leaky.targets.front().exceeds());
    EXPECT_EQ(leaky.targets.front().ranking.auc, honest.targets.front().ranking.auc);
    expect_contains(audit_report_text(leaky), "INCONSISTENT");
}

TEST(Membership, AsksAboutAsManyRecordsOfEveryLabel) {
    // Labels of the agents' records and of the test set differ; a model of the label alone must not
    // look like membership.
    const TemporaryFolder folder;
    const auto constant_features = [](int records, int positive) {
        std::string text;
        for (int i = 0; i < records; ++i) text += i % 10 < positive ? "+1 1:1\n" : "-1 1:1\n";
        return text;
    };
    AuditConfig config = membership_config(folder, "none", "node:0");
    config.train.task.data = folder.write("train.txt", constant_features(60 * agents_on_path, 9));
    config.train.task.test_data = folder.write("test.txt", constant_features(400, 5));
    config.train.plan.clip_norm = 1;
    config.train.plan.rounds = 50;
    for (const MembershipFigures& figures : attack_membership(config).targets)
        EXPECT_DOUBLE_EQ(figures.ranking.auc, 0.5);
}

TEST(Membership, RefusesTasksWithoutRecordsHeldOut) {
    const TemporaryFolder folder;
    for (const char* task : {"quadratic", "averaging", "./own.so"}) {
        AuditConfig config = membership_config(folder, "none", "node:0");
        config.train.task.task = task;
        expect_contains(message_of<ConfigError>([&] { (void)attack_membership(config); }),
                        "held out");
    }
}

TEST(Membership, RefusesRecordingsOfAnotherRun) {
    const TemporaryFolder folder;
    AuditConfig config = membership_config(folder, "none", "node:0");
    config.train.plan.rounds = 5;
    config.run = attack_membership(config).run_directory;
    config.train.plan.rounds = 6;
    expect_contains(message_of<DataError>([&] { (void)attack_membership(config); }),
                    "not a recording of this");
    config.train.plan.rounds = 5;
    config.view = "node:2";
    EXPECT_NE(message_of<DataError>([&] { (void)attack_membership(config); }), "");
}

}  // namespace
}  // namespace sotto
