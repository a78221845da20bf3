// Secret coins as they should be, and everything that can be wrong with them.

#include "audit/canary_record_analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audit/audit_report.hpp"
#include "audit/canary_record_fixtures.hpp"
#include "sotto/trust/secret_coins.hpp"

namespace sotto::test {
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
            EXPECT_LT(result.one_run.epsilon_lower, result.epsilon_theory);
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
    const Eigen::VectorXd scores = canary_scores(modes, contribution, q);
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
        canary_scores(modes, 1, q)(0),
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
