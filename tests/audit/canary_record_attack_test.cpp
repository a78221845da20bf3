#include "audit/canary_record_attack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "audit/audit_job.hpp"
#include "audit/audit_options.hpp"
#include "audit/audit_run.hpp"
#include "audit/canary_record_fixtures.hpp"
#include "config/run_fixtures.hpp"
#include "trust/secret_coins.hpp"

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
        EXPECT_DOUBLE_EQ(first.secret.probability, 0.1);
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
    config.targets = {3};
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
                    "everybody would know the coins");
    expect_contains(refusal([](auto& c) { c.train.plan.adjacency = Adjacency::record; }),
                    "adjacency record");
    expect_contains(refusal([](auto& c) {
                        c.view = "node:1";
                        c.targets = {1};
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

namespace sotto {
namespace {

using test::Json;

CanaryRecordResult some_result() {
    CanaryRecordResult result;
    result.attack = "canary-records";
    result.mechanism = "pairs";
    result.view = "coalition:1";
    result.agents = 4;
    result.rounds = result.rounds_recorded = 60;
    result.delta = 1e-5;
    result.canaries = {.target = 2, .seed = 1, .trials = 400, .members = {1}};
    result.present = 203;
    result.batch_size = 160;
    result.secret.probability = 0.1;
    result.noise_multiplier = 0.75;
    result.epsilon_theory = 9.99;
    result.epsilon_lower = 1.25;
    result.one_run = {40, 38, 2.5, 4.5};
    result.rates = {{0.05, 0.04, 0.5, 0.6}};
    result.checks = {{"probability of canaries", 0.101, 0.1, 0.002, 0.6},
                     {"coins of agent 1", 0.9, 0, 0.01, 1e-12}};
    result.check_risk = 1e-3;
    return result;
}

TEST(CanaryRecordResult, SaysAllInJson) {
    const Json json = Json::parse(audit_report_json(some_result()));
    EXPECT_EQ(json["attack"], "canary-records");
    EXPECT_EQ(json["target"], 2);
    EXPECT_EQ(json["trials"], 400);
    EXPECT_EQ(json["present"], 203);
    EXPECT_EQ(json["batch_size"], 160);
    EXPECT_EQ(json["sampling_probability"], 0.1);
    EXPECT_EQ(json["noise_multiplier"], 0.75);
    EXPECT_EQ(json["epsilon_theory"], 9.99);
    EXPECT_EQ(json["epsilon_lower"], 1.25);
    EXPECT_EQ(json["one_run"],
              (Json{{"epsilon_lower", 2.5},
                    {"guesses", 40},
                    {"correct", 38},
                    {"gaussian_epsilon_lower", 4.5}}));
    EXPECT_EQ(json["rates"][0]["true_positive_rate_theory"], 0.6);
    EXPECT_EQ(json["checks"][0]["passed"], true);
    EXPECT_EQ(json["checks"][1]["check"], "coins of agent 1");
    EXPECT_EQ(json["checks"][1]["passed"], false);
    EXPECT_EQ(json["rounds_recorded"], 60);
    EXPECT_EQ(json["consistent"], true);
}

TEST(CanaryRecordResult, SaysWhichCheckFailsForPeople) {
    CanaryRecordResult result = some_result();
    result.findings = {"coins of agent 1: 0.9 instead of 0"};
    const std::string text = audit_report_text(result);
    test::expect_contains(text, "coalition:1 asks which canary records agent 2 has");
    test::expect_contains(text, "203 of 400 are in the shard");
    test::expect_contains(text, "at least 2.5 by 40 guesses, 38 of them correct");
    test::expect_contains(text, "1e-12  FAILS");
    EXPECT_EQ(text.find("0.6  FAILS"), std::string::npos);
    test::expect_contains(text, "INCONSISTENT:\n  - coins of agent 1");
}

}  // namespace
}  // namespace sotto

namespace sotto::test {
// Secret coins as they should be, and everything that can be wrong with them.

namespace {

std::string all_findings(const CanaryRecordResult& result) {
    std::string text;
    for (const auto& finding : result.findings) text += finding + "\n";
    return text;
}

TEST(HonestCoins, AreConsistentAndEpsilonIsBelowTheAccountants) {
    for (const char* mechanism : {"ldp", "pairs"})
        for (const char* view : {"eavesdropper", "coalition:1", "all-messages:1,3"}) {
            const CanaryRecordResult result = CanaryPipeline(canary_config(mechanism, view)).run();
            EXPECT_TRUE(result.consistent())
                << mechanism << " " << view << ": " << all_findings(result);
            // Noise of pairs withstands one curious agent; there are none, one and two.
            if (std::string(mechanism) == "ldp")
                EXPECT_NEAR(result.epsilon_theory, 10, 2e-2);
            else
                EXPECT_EQ(result.epsilon_theory < 9.9, result.canaries.members.empty());
            EXPECT_LT(result.epsilon_lower, result.epsilon_theory);
            EXPECT_GT(result.one_run.epsilon_lower, 0.5) << mechanism << " " << view;
            EXPECT_LT(result.one_run.epsilon_lower, result.one_run.gaussian_epsilon_lower);
            EXPECT_LT(result.one_run.gaussian_epsilon_lower, result.epsilon_theory);
            EXPECT_EQ(result.rounds_recorded, 60);

            const std::size_t members = result.canaries.members.size();
            EXPECT_EQ(result.checks.size(), 10 + members);
        }
}

TEST(HonestCoins, ReachTheRatesThatTheAccountantAllows) {
    AuditConfig config = canary_config("ldp", "eavesdropper");
    config.trials = 4000;
    config.train.plan.batch_size = 1600;
    config.train.plan.rounds = 20;
    const CanaryRecordResult result = CanaryPipeline(config).run();
    EXPECT_TRUE(result.consistent()) << all_findings(result);
    for (const CanaryRates& rates : result.rates) {
        EXPECT_NEAR(rates.false_positive, rates.aimed, 0.03);
        // At the rate measured, which moves the other one.
        EXPECT_NEAR(rates.true_positive, rates.theory, 0.08) << rates.aimed;
    }
}

TEST(HonestCoins, RaiseNoFalseAlarmBeyondTheLevel) {
    CanaryPipeline pipeline(canary_config("pairs", "all-messages:1"));
    constexpr int audits = 100;
    int alarms = 0, checks = 0, small = 0;
    for (std::uint64_t i = 0; i < audits; ++i) {
        const CanaryRecordResult result = pipeline.run({}, 1000 + i, 5000 + i);
        checks += static_cast<int>(result.checks.size());
        small += static_cast<int>(std::ranges::count_if(
            result.checks, [](const auto& one) { return one.p_value < 0.05; }));
        if (!result.consistent()) {
            ++alarms;
            RecordProperty("alarm_" + std::to_string(i), all_findings(result));
        }
    }
    // 99%: one is to be expected, four or more come up with probability 0.018.
    EXPECT_LE(alarms, 3);
    RecordProperty("alarms", alarms);
    // p-values are what they say: 5% of them are below .05, in 1100 with a deviation of 7.
    EXPECT_EQ(checks, 1100);
    EXPECT_GT(small, 30);
    EXPECT_LT(small, 80);
    RecordProperty("p_values_below_0.05", small);
}

AuditConfig allocated_config() {
    AuditConfig config = canary_config("ldp", "eavesdropper");
    config.train.plan.participation = {.rounds_an_epoch = 10};
    return config;
}

TEST(HonestPlaces, AreConsistentAndEpsilonIsBelowTheAccountants) {
    const CanaryRecordResult result = CanaryPipeline(allocated_config()).run();
    EXPECT_TRUE(result.consistent()) << all_findings(result);
    EXPECT_NEAR(result.epsilon_theory, 10, 2e-2);
    EXPECT_GT(result.one_run.epsilon_lower, 0.5);
    EXPECT_LT(result.epsilon_lower, result.epsilon_theory);
    EXPECT_EQ(result.checks.size(), 12U);
}

TEST(PlaceSabotageOf, EveryKindIsCaught) {
    const auto placed = [](const std::shared_ptr<SecretPlaces>& places,
                           Eigen::Index records,
                           std::uint64_t rounds) {
        return BatchSampler::drawn(
            records,
            [places, rounds](
                std::uint64_t round, Eigen::Index count, std::vector<Eigen::Index>& rows) {
                places->draw(round % rounds, count, rows);
            });
    };
    CoinSabotage known, same, coins;
    known.batches = [](int agent, Eigen::Index records, double) {
        return allocated_batches(records, 10, reproducible_coins(1, 0, agent), 0);
    };
    same.batches = [&](int agent, Eigen::Index records, double) {
        return placed(
            std::make_shared<SecretPlaces>(reproducible_coins(7, 0, agent), 10), records, 10);
    };
    coins.batches = [](int agent, Eigen::Index records, double probability) {
        return sampled_batches(records, probability, reproducible_coins(7, 0, agent));
    };
    for (const auto& [sabotage, finding] :
         {std::pair(known, "coins from --seed"),
          std::pair(same, "sum over epochs of a place of canaries that are there"),
          std::pair(coins, "sum over the rounds of an epoch of canaries that are there")}) {
        const CanaryRecordResult result = CanaryPipeline(allocated_config()).run(sabotage);
        EXPECT_FALSE(result.consistent()) << finding;
        expect_contains(all_findings(result), finding);
    }
}

TEST(CoinSabotageOf, CoinsFromThePublicSeedIsCaught) {
    CoinSabotage sabotage;
    sabotage.batches = [](int agent, Eigen::Index records, double probability) {
        return sampled_batches(records, probability, reproducible_coins(1, 0, agent));
    };
    const CanaryRecordResult result =
        CanaryPipeline(canary_config("ldp", "eavesdropper")).run(sabotage);
    EXPECT_FALSE(result.consistent());
    expect_contains(all_findings(result), "coins from --seed");
}

TEST(CoinSabotageOf, BatchesFromThePublicSeedIsCaught) {
    CoinSabotage sabotage;
    sabotage.batches = [](int agent, Eigen::Index records, double probability) {
        return BatchSampler::uniform(
            records,
            static_cast<Eigen::Index>(probability * static_cast<double>(records) + 0.5),
            1,
            agent);
    };
    const CanaryRecordResult result =
        CanaryPipeline(canary_config("ldp", "eavesdropper")).run(sabotage);
    EXPECT_FALSE(result.consistent());
    expect_contains(all_findings(result), "batches from --seed");
    // Their size is fixed, which coins' is not.
    expect_contains(all_findings(result), "variance of the companions of a round");
}

TEST(CoinSabotageOf, TheSameCoinsEveryRoundIsCaught) {
    CoinSabotage sabotage;
    sabotage.batches = [](int agent, Eigen::Index records, double probability) {
        const auto coins =
            std::make_shared<const SecretCoins>(reproducible_coins(7, 0, agent), probability);
        return BatchSampler::drawn(
            records, [coins](std::uint64_t, Eigen::Index count, std::vector<Eigen::Index>& rows) {
                coins->draw(0, count, rows);
            });
    };
    for (const char* view : {"eavesdropper", "coalition:1"}) {
        const CanaryRecordResult result = CanaryPipeline(canary_config("ldp", view)).run(sabotage);
        EXPECT_FALSE(result.consistent());
        expect_contains(all_findings(result), "sum over rounds of canaries that are there");
    }
}

TEST(CoinSabotageOf, ADivisorThatIsTheSizeOfTheBatchDrawnIsCaught) {
    CoinSabotage sabotage;
    sabotage.divide_by_drawn = true;
    for (const char* view : {"eavesdropper", "coalition:1"}) {
        const CanaryRecordResult result = CanaryPipeline(canary_config("ldp", view)).run(sabotage);
        EXPECT_FALSE(result.consistent()) << audit_report_text(result);
        expect_contains(all_findings(result), "variance of the companions of a round");
    }
}

TEST(CoinSabotageOf, AClipThatIsLongerThanAccountedForIsCaught) {
    CoinSabotage sabotage;
    sabotage.clip_factor = 1.5;
    const CanaryRecordResult result =
        CanaryPipeline(canary_config("ldp", "eavesdropper")).run(sabotage);
    EXPECT_FALSE(result.consistent());
    expect_contains(all_findings(result), "probability of canaries");
    expect_contains(all_findings(result), "variance of the companions of a round");
}

TEST(CoinSabotageOf, AccountingForHalfOfTheProbabilityIsCaught) {
    CoinSabotage sabotage;
    sabotage.batches = [](int agent, Eigen::Index records, double probability) {
        return sampled_batches(records, 2 * probability, reproducible_coins(7, 0, agent));
    };
    const CanaryRecordResult result =
        CanaryPipeline(canary_config("ldp", "eavesdropper")).run(sabotage);
    EXPECT_FALSE(result.consistent());
    expect_contains(all_findings(result), "probability of canaries");
    EXPECT_NEAR(result.checks.front().measured, 0.2, 0.02);
}

TEST(CoinSabotageOf, CoinsSharedWithAMemberIsCaught) {
    CoinSabotage sabotage;
    sabotage.batches = [](int agent, Eigen::Index records, double probability) {
        return sampled_batches(
            records, probability, reproducible_coins(7, 0, agent == 0 ? 1 : agent));
    };
    for (const char* view : {"coalition:1,3", "all-messages:1"}) {
        const CanaryRecordResult result =
            CanaryPipeline(canary_config("pairs", view)).run(sabotage);
        EXPECT_FALSE(result.consistent());
        expect_contains(all_findings(result), "coins of agent 1");
    }
}

TEST(CoinSabotageOf, ARoundThatIsNotCountedIsCaught) {
    CoinSabotage sabotage;
    sabotage.more_rounds = 1;
    for (const char* view : {"eavesdropper", "coalition:1"}) {
        const CanaryRecordResult result = CanaryPipeline(canary_config("ldp", view)).run(sabotage);
        EXPECT_FALSE(result.consistent());
        EXPECT_EQ(all_findings(result), "61 rounds were recorded, the accountant counts 60\n");
    }
}

TEST(CanaryScores, AreTheLikelihoodRatioOfTheMixture) {
    ContributionModes modes;
    modes.by_round = true;
    modes.response.resize(2, 2);
    modes.response.insert(0, 0) = 2;
    modes.response.insert(1, 1) = 5;
    modes.values.resize(2, 3);
    modes.values << -1, 0.5, 9, 2, 60, 9;
    const double q = 0.25, contribution = 0.3;
    const Eigen::VectorXd scores = canary_scores(modes, contribution, {q});
    ASSERT_EQ(scores.size(), 2);  // the last coordinate is that of companions
    const auto normal = [](double z, double mean) { return -(z - mean) * (z - mean) / 2; };
    for (Eigen::Index i = 0; i < 2; ++i) {
        double expected = 0;
        for (Eigen::Index t = 0; t < 2; ++t) {
            const double z = modes.values(t, i), mean = contribution * modes.response.coeff(t, t);
            expected += std::log((1 - q) * std::exp(normal(z, 0) - normal(z, mean)) + q) +
                        normal(z, mean) - normal(z, 0);
        }
        EXPECT_NEAR(scores(i), expected, 1e-9 * std::abs(expected));
    }
}

TEST(CanaryScores, OfRandomAllocationAreTheLikelihoodRatioOfEpochs) {
    ContributionModes modes;
    modes.by_round = true;
    modes.response.resize(4, 4);
    for (Eigen::Index t = 0; t < 4; ++t)
        modes.response.insert(t, t) = 2.0 + 0.5 * static_cast<double>(t);
    modes.values = Eigen::MatrixXd::Zero(4, 2);
    modes.values.col(0) << -1, 0.5, 2, 80;
    const double contribution = 0.9;
    double expected = 0;
    for (const Eigen::Index first : {0, 3}) {  // an epoch of three rounds, and one that is cut
        double ratio = first == 3 ? 2.0 / 3 : 0;
        for (Eigen::Index t = first; t < std::min<Eigen::Index>(first + 3, 4); ++t) {
            const double length = contribution * modes.response.coeff(t, t);
            ratio += std::exp(length * (modes.values(t, 0) - length / 2)) / 3;
        }
        expected += std::log(ratio);
    }
    EXPECT_NEAR(canary_scores(modes, contribution, {1.0 / 3, 3})(0), expected, 1e-9 * expected);
}

TEST(CanaryScores, OfModesThatAreNoRoundsAreThatOfNormalVariables) {
    ContributionModes modes;
    modes.response.resize(2, 1);
    modes.response.insert(0, 0) = 3;
    modes.response.insert(1, 0) = 4;
    modes.values.resize(1, 2);
    modes.values << 1.5, 9;
    const double q = 0.2;
    const double mean = 0.2 * 7, variance = 1 + 0.16 * 25;
    EXPECT_NEAR(
        canary_scores(modes, 1, {q})(0),
        -std::log(variance) / 2 - (1.5 - mean) * (1.5 - mean) / (2 * variance) + 1.5 * 1.5 / 2,
        1e-12);
}

TEST(AccountOfCanaries, IsRefusedWhereNothingProtects) {
    AuditConfig config = canary_config("corn", "coalition:1");
    expect_contains(message_of<ConfigError>([&] { CanaryPipeline pipeline(config); }),
                    "epsilon is infinite");
}

}  // namespace
}  // namespace sotto::test
