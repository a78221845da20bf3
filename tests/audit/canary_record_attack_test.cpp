#include "audit/canary_record_attack.hpp"

#include <gtest/gtest.h>

#include "audit/audit_options.hpp"
#include "audit/audit_report.hpp"
#include "audit/audit_run.hpp"
#include "audit/canary_record_fixtures.hpp"

namespace sotto::test {
namespace {

Json figures_of(const CanaryRecordResult& result) {
    Json json = Json::parse(audit_report_json(result));
    json.erase("seconds");
    return json;
}

TEST(CanaryRecordAudit, OfARunSaysTheSameWhenItLooksAgain) {
    for (const char* view : {"eavesdropper", "coalition:1,2"}) {
        AuditConfig config = canary_config("ldp", view);
        config.train.noise_seed.reset();  // coins of the operating system
        config.level = 1 - 1e-6;          // chance alone raises no alarm
        const TemporaryFolder folder;
        config.train.run_directory = folder.path("run");
        const CanaryRecordResult first = audit<CanaryRecordResult>(config);
        EXPECT_TRUE(first.consistent()) << audit_report_text(first);
        EXPECT_EQ(first.rounds_recorded, 60);
        EXPECT_NEAR(first.epsilon_theory, 10, 0.02);
        EXPECT_DOUBLE_EQ(first.sampling_probability, 0.1);
        config.run = config.train.run_directory;
        EXPECT_EQ(figures_of(first), figures_of(audit<CanaryRecordResult>(config)));
        EXPECT_EQ(Json::parse(read_file(folder.path("run/audit.json")))["one_run"],
                  figures_of(first)["one_run"]);
        config.view = "node:1";
        expect_contains(message_of<ConfigError>([&] { (void)audit<CanaryRecordResult>(config); }),
                        "a view with the same members");
    }
}

TEST(CanaryRecordAudit, WorksWithOtherAdjacencyNoiseStepsAndSums) {
    AuditConfig config = canary_config("decor", "secure-sum:1");
    config.train.plan.adjacency = Adjacency::record_zero_out;
    config.train.plan.noise_std = 4e-4;
    config.train.plan.gossip_steps = 2;
    config.train.graph.topology.topology = Topology::complete;
    config.target = 3;
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("sums");
    const CanaryRecordResult sums = audit<CanaryRecordResult>(config);
    EXPECT_TRUE(sums.consistent()) << audit_report_text(sums);
    EXPECT_EQ(sums.canaries.target, 3);
    config.view = "eavesdropper";
    config.train.run_directory = folder.path("all");
    const CanaryRecordResult all = audit<CanaryRecordResult>(config);
    EXPECT_TRUE(all.consistent()) << audit_report_text(all);
    // S = 4e-4 where a record contributes 0.1 / 160.
    EXPECT_NEAR(all.noise_multiplier, 4e-4 / (0.1 / 160), 1e-6);
}

TEST(CanaryRecordAudit, IsRefusedWhereItMeansNothing) {
    const auto refusal = [](auto&& change) {
        AuditConfig config = canary_config("ldp", "eavesdropper");
        change(config);
        return message_of<ConfigError>([&] { (void)audit<CanaryRecordResult>(config); });
    };
    expect_contains(refusal([](auto& c) { c.train.plan.participation = {}; }),
                    "--participation: every is not possible with --attack canary-records");
    expect_contains(refusal([](auto& c) { c.attack = "likelihood"; }),
                    "or --attack canary-records");
    expect_contains(refusal([](auto& c) { c.trials = 100; }), "--trials");
    expect_contains(refusal([](auto& c) { c.train.plan.batch_size = 1600; }),
                    "--batch-size: 1600 samples nothing");
    expect_contains(refusal([](auto& c) { c.train.plan.batch_size = std::nullopt; }),
                    "--batch-size: all");
    expect_contains(refusal([](auto& c) { c.train.plan.batch_size = 2; }), "too few to judge by");
    expect_contains(refusal([](auto& c) { c.train.plan.sampling_probability = 0.1; }),
                    "--sampling-probability");
    expect_contains(refusal([](auto& c) { c.train.task.seed = *c.train.noise_seed; }),
                    "everybody knows the coins");
    expect_contains(refusal([](auto& c) { c.train.plan.adjacency = Adjacency::record; }),
                    "adjacency record");
    expect_contains(refusal([](auto& c) {
                        c.view = "node:1";
                        c.target = 1;
                    }),
                    "knows its own data");
    expect_contains(refusal([](auto& c) { c.train.plan.mechanism = "none"; }), "infinite");
}

TEST(AuditOptions, ChooseTheAttackByTheParticipation) {
    const auto attack_of = [](const OptionTexts& given) { return read_audit_config(given).attack; };
    EXPECT_EQ(attack_of({}), "likelihood");
    EXPECT_EQ(attack_of({{"participation", "poisson"}}), "canary-records");
    EXPECT_EQ(attack_of({{"adjacency", "record-zero-out"}}), "canary-records");
    EXPECT_EQ(attack_of({{"adjacency", "record-zero-out"}, {"participation", "every"}}),
              "likelihood");
    EXPECT_EQ(attack_of({{"adjacency", "record"}}), "likelihood");
    const AuditConfig config = read_audit_config({{"attack", "canary-records"}});
    EXPECT_TRUE(config.train.plan.participation.poisson);
    EXPECT_EQ(config.train.plan.adjacency, Adjacency::record_add_remove);
    EXPECT_EQ(config.train.plan.batch_size, 400);
    EXPECT_EQ(config.train.plan.rounds, 100);
    EXPECT_EQ(canary_records_of(config), 4000);
    const AuditConfig likelihood =
        read_audit_config({{"attack", "likelihood"}, {"adjacency", "record-add-remove"}});
    EXPECT_FALSE(likelihood.train.plan.participation.poisson);
}

}  // namespace
}  // namespace sotto::test
