#include "audit/recorded_steps.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_run.hpp"
#include "audit/likelihood_attack.hpp"
#include "config/run_fixtures.hpp"
#include "core/files.hpp"

namespace sotto::test {
namespace {

AuditConfig audit_with(const TemporaryFolder& folder, const char* faults, const char* robust) {
    AuditConfig config = audit_config("pairs", 8, 12);
    config.train.graph.topology.topology = Topology::complete;
    config.train.faults = parse_round_faults("faults", faults);
    config.train.robust = parse_robust_rule("robust", robust);
    config.train.run_directory = folder.path("run");
    return config;
}

TEST(RecordedSteps, ShowLessWhereMessagesAreMissing) {
    for (const char* mechanism : {"ldp", "pairs"}) {
        const TemporaryFolder folder;
        AuditConfig config = audit_with(folder, "silent:0.4", "off");
        config.train.plan.mechanism = mechanism;
        const auto result = audit<LikelihoodResult>(config);
        EXPECT_TRUE(result.consistent()) << audit_report_text(result);
        EXPECT_TRUE(result.noise_as_accounted);
        EXPECT_GT(result.messages_missed, 15);
        ASSERT_EQ(result.mu_of_run.size(), result.verdicts.size());
        for (std::size_t h = 0; h < result.verdicts.size(); ++h) {
            const double theory = result.design.hypotheses[h].mu_theory;
            // Where some were silent, what agents share does not cancel in the sum of messages, and
            // contributions of rounds with different signs do.
            EXPECT_LT(result.mu_of_run[h], 0.99 * theory);
            EXPECT_GT(result.mu_of_run[h], mechanism == std::string("ldp") ? 0.2 * theory : 0);
            // What was measured is what these messages show.
            EXPECT_LE(result.verdicts[h].figures.lower, result.mu_of_run[h]);
            EXPECT_GE(result.verdicts[h].figures.upper, result.mu_of_run[h]);
        }
    }
}

TEST(RecordedSteps, ShowTheSameWhateverLiarsSendAndRulesMix) {
    for (const auto& [attack, robust] :
         std::vector<std::pair<const char*, const char*>>{{"poison:wrong-sign", "clip"},
                                                          {"poison:inner-product", "off"},
                                                          {"likelihood", "trimmed:2"}}) {
        const TemporaryFolder folder;
        AuditConfig config = audit_with(folder, "", robust);
        config.attack = attack;
        config.view = "all-messages:2,5";
        const auto result = audit<LikelihoodResult>(config);
        EXPECT_TRUE(result.consistent()) << audit_report_text(result);
        EXPECT_EQ(result.messages_missed, 0);
        for (std::size_t h = 0; h < result.verdicts.size(); ++h) {
            const double theory = result.design.hypotheses[h].mu_theory;
            EXPECT_NEAR(result.mu_of_run[h] / theory, 1, 1e-6);
            EXPECT_LE(result.verdicts[h].figures.lower, theory);
            EXPECT_GE(result.verdicts[h].figures.upper, theory);
        }
    }
}

TEST(RecordedSteps, AreAskedForWithAllMessagesAndLiarsThatAttack) {
    const TemporaryFolder folder;
    const auto refusal = [&](auto&& change, const char* faults = "silent:.2") {
        AuditConfig config = audit_with(folder, faults, "off");
        change(config);
        return message_of<ConfigError>([&] { (void)audit<LikelihoodResult>(config); });
    };
    expect_contains(refusal([](AuditConfig& c) { c.view = "node:3"; }),
                    "--view: node:3 is not possible where messages may be missing");
    expect_contains(refusal([](AuditConfig&) {}, "lie:noise:1"), "--faults: agent 1 is to lie");
    expect_contains(refusal([](AuditConfig& c) { c.attack = "poison:noise"; }, ""),
                    "--view: eavesdropper names no agents");
    expect_contains(refusal([](AuditConfig& c) { c.attack = "poison:nothing"; }, ""),
                    "poison:noise");
    expect_contains(refusal([](AuditConfig& c) { c.train.plan.momentum = 0.5; }), "--momentum 0");
    expect_contains(refusal([](AuditConfig& c) { c.attack = "reconstruction"; }),
                    "--attack: reconstruction is not possible with --faults");
}

TEST(RecordedSteps, OfOtherRoundsAreRefused) {
    const TemporaryFolder folder;
    const auto result = audit<LikelihoodResult>(audit_with(folder, "silent:0.2", "off"));
    const std::filesystem::path file =
        std::filesystem::path(result.run_directory) / "views/wire/3/messages.bin";
    const std::string whole = read_file(file.string());
    AuditConfig again = audit_with(folder, "silent:0.2", "off");
    again.run = result.run_directory;
    EXPECT_TRUE(audit<LikelihoodResult>(again).consistent());
    // Records begin after the header's line.
    const std::size_t records = whole.find('\n', whole.find("values_per_record")) + 1;
    const auto error_of = [&](std::size_t value, double number) {
        std::string changed = whole;
        std::memcpy(changed.data() + records + value * sizeof number, &number, sizeof number);
        std::ofstream(file, std::ios::binary) << changed;
        return message_of<DataError>([&] { (void)audit<LikelihoodResult>(again); });
    };
    expect_contains(error_of(3, 1.5), "says 1.5 of round 0, which cannot be");
    expect_contains(error_of(3 + 5, 2), "says 2 of round 5, which cannot be");
    // All rounds one later than they are.
    std::string later = whole;
    const std::size_t record = (3 + 12 + static_cast<std::size_t>(result.design.trials)) * 8;
    for (std::size_t t = 0; t < 12; ++t) {
        const double round = static_cast<double>(t) + 1;
        std::memcpy(later.data() + records + t * record, &round, sizeof round);
    }
    std::ofstream(file, std::ios::binary) << later;
    expect_contains(message_of<DataError>([&] { (void)audit<LikelihoodResult>(again); }),
                    "a record of round 1 of 12, where round 0 of 12 is due");
}

}  // namespace
}  // namespace sotto::test
