#include "audit/membership_attack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "audit/audit_job.hpp"
#include "audit/audit_run.hpp"
#include "config/run_fixtures.hpp"
#include "core/seeded_random.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::random_real_data;
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

TEST(Membership, RefusesAScalingThatTheTrainingLearns) {
    const TemporaryFolder folder;
    AuditConfig config = membership_config(folder, "none", "node:0");
    config.train.task.standardise = Standardise::private_moments;
    expect_contains(message_of<ConfigError>([&] { (void)attack_membership(config); }),
                    "--standardise: private");
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

MembershipResult result_of(int targets) {
    MembershipResult result;
    result.attack = "membership";
    result.mechanism = "ldp";
    result.task = "logistic";
    result.view = "node:0";
    result.agents = targets + 1;
    for (int u = 1; u <= targets; ++u) {
        MembershipFigures figures;
        figures.target = u;
        figures.distance = 1 + u / 3;
        figures.ranking.auc = 0.5 + 0.01 * u;
        figures.ranking.advantage = 0.1 * u;
        figures.claim_epsilon = 2;
        result.targets.push_back(figures);
    }
    return result;
}

TEST(MembershipResult, AveragesOverAgentsThatAreAsFarAway) {
    const Json json = Json::parse(audit_report_json(result_of(5)));
    const Json& distances = json.at("by_distance");
    ASSERT_EQ(distances.size(), 2U);
    EXPECT_EQ(distances[0].at("targets"), 2);
    EXPECT_NEAR(distances[0].at("auc_mean").get<double>(), 0.515, 1e-12);
    EXPECT_NEAR(distances[0].at("auc_max").get<double>(), 0.52, 1e-12);
    EXPECT_NEAR(distances[1].at("advantage_mean").get<double>(), 0.4, 1e-12);
    EXPECT_EQ(json.at("task"), "logistic");
    EXPECT_EQ(json.at("targets").size(), 5U);
    EXPECT_EQ(json.at("targets")[0].at("heard"), false);
}

TEST(MembershipResult, ShowsTheAgentsThatAreTakenForMembersMost) {
    const std::string text = audit_report_text(result_of(12));
    expect_contains(text, "rounds of logistic; node:0 asks which records 12 agents trained on");
    expect_contains(text, "and 2 agents with a smaller AUC");
    EXPECT_LT(text.find("0.6200"), text.find("0.5300"));
    EXPECT_EQ(text.find("EXCEEDS"), std::string::npos);
}

TEST(MembershipResult, SaysWhatTheClaimIsAbout) {
    MembershipResult result = result_of(1);
    expect_contains(audit_report_text(result),
                    "adjacency agent: the accountant's epsilon is about "
                    "all records");
    result.adjacency = Adjacency::record;
    expect_contains(audit_report_text(result), "is about one record");
    result.targets.front().epsilon_certain = 2.5;
    EXPECT_TRUE(result.targets.front().exceeds());
    expect_contains(audit_report_text(result), "EXCEEDS");
    result.targets.front().epsilon_certain = std::nan("");
    EXPECT_FALSE(result.targets.front().exceeds());
}

std::map<double, long> labels_of(const Dataset& data, const std::vector<Eigen::Index>& rows) {
    std::map<double, long> counts;
    for (const Eigen::Index row : rows) ++counts[data.labels(row)];
    return counts;
}

TEST(MatchedRows, HaveTheSameLabelsInsideAndOutside) {
    const Dataset shard = random_real_data(80, 5, 1), test = random_real_data(50, 5, 2);
    const MatchedRows rows = match_rows(shard, test, 7, 3);
    EXPECT_EQ(labels_of(shard, rows.inside), labels_of(test, rows.outside));
    // No row twice, and as many of a label as the smaller set has.
    for (const auto* list : {&rows.inside, &rows.outside}) {
        std::vector<Eigen::Index> sorted = *list;
        std::ranges::sort(sorted);
        EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
    }
    for (const auto& [label, count] : labels_of(shard, rows.inside)) {
        const auto have = [&](const Dataset& data) {
            return static_cast<long>((data.labels.array() == label).count());
        };
        EXPECT_EQ(count, std::min(have(shard), have(test)));
    }
    EXPECT_EQ(rows.inside, match_rows(shard, test, 7, 3).inside);
    EXPECT_NE(rows.inside, match_rows(shard, test, 7, 4).inside);
}

/// Logistic models of one feature a record: data that no model knows but by heart.
struct Known {
    AgentData own;
    LocalData data;
    AuditConfig config;
};
Known known_records(Eigen::Index records) {
    Known known;
    const auto one_feature = [&](Eigen::Index first) {
        Dataset data;
        data.features.resize(records, 2 * records);
        data.labels = Eigen::VectorXd::Ones(records);
        for (Eigen::Index i = 0; i < records; ++i) {
            data.features.insert(i, first + i) = 1;
            if (i % 2 == 0) data.labels(i) = -1;
        }
        data.features.makeCompressed();
        data.source = "test";
        return data;
    };
    known.own.shard = one_feature(0);
    known.own.test = std::make_shared<const Dataset>(one_feature(records));
    known.data.shape.features = 2 * records;
    known.data.shape.labels = {-1, 1};
    return known;
}

TEST(MembershipFigures, TellRecordsThatAModelKnowsByHeart) {
    const Known known = known_records(100);
    Eigen::VectorXd model = Eigen::VectorXd::Zero(201);
    const auto measure = [&] {
        return measure_membership(2, known.own, known.data, known.config, model, 0.01);
    };
    const MembershipFigures nothing = measure();
    EXPECT_EQ(nothing.target, 2);
    EXPECT_EQ(nothing.records, 100);
    EXPECT_EQ(nothing.ranking.auc, 0.5);
    EXPECT_EQ(nothing.epsilon_lower, 0);
    model.head(100) = 3 * known.own.shard.labels;
    const MembershipFigures everything = measure();
    EXPECT_EQ(everything.ranking.auc, 1);
    EXPECT_EQ(everything.ranking.advantage, 1);
    EXPECT_GT(everything.epsilon_lower, 1);
    EXPECT_LE(everything.epsilon_certain, everything.epsilon_lower);
}

TEST(MembershipFigures, OfFewRecordsBoundNothing) {
    const Known known = known_records(12);
    const MembershipFigures figures =
        measure_membership(0, known.own, known.data, known.config, Eigen::VectorXd::Zero(25), 0.01);
    EXPECT_EQ(figures.records, 12);
    EXPECT_TRUE(std::isnan(figures.epsilon_lower));
    EXPECT_TRUE(std::isnan(figures.epsilon_certain));
    EXPECT_FALSE(figures.exceeds());
    test::expect_contains(
        message_of<DataError>([&] {
            (void)measure_membership(
                0, known.own, known.data, known.config, Eigen::VectorXd::Zero(26), 0.01);
        }),
        "models of 26 parameters");
}

TEST(MembershipFigures, SurviveTheirWayToOtherProcesses) {
    const auto network = make_memory_network(3, 1);
    std::vector<AskedAgent> own(3);
    for (int u = 0; u < 3; ++u) {
        own[static_cast<std::size_t>(u)].records = 10 + u;
        own[static_cast<std::size_t>(u)].figures.target = u;
    }
    MembershipFigures& last = own.back().figures;
    last.records = 7;
    last.ranking = {0.8, 0.7, 0.9, 0.3};
    last.epsilon_lower = 1.5;
    last.epsilon_certain = std::nan("");
    const std::vector<AskedAgent> all = share_figures(own, *network);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1].records, 11);
    EXPECT_EQ(all[2].figures.target, 2);
    EXPECT_EQ(all[2].figures.records, 7);
    EXPECT_EQ(all[2].figures.ranking.auc, 0.8);
    EXPECT_EQ(all[2].figures.ranking.lower, 0.7);
    EXPECT_EQ(all[2].figures.ranking.upper, 0.9);
    EXPECT_EQ(all[2].figures.ranking.advantage, 0.3);
    EXPECT_EQ(all[2].figures.epsilon_lower, 1.5);
    EXPECT_TRUE(std::isnan(all[2].figures.epsilon_certain));

    std::swap(own[0], own[1]);
    EXPECT_THROW((void)share_figures(own, *network), NetworkError);
    own.pop_back();
    EXPECT_THROW((void)share_figures(own, *network), NetworkError);
}

}  // namespace
}  // namespace sotto
