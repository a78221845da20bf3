#include "sotto/privacy/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "privacy/noise_multiplier.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::relatively_near;

TEST(ExposureNames, GoBackAndForth) {
    for (const Adjacency adjacency : {Adjacency::agent,
                                      Adjacency::agent_zero_out,
                                      Adjacency::record,
                                      Adjacency::record_zero_out,
                                      Adjacency::record_add_remove})
        EXPECT_EQ(parse_adjacency("adjacency", name_of(adjacency)), adjacency);
    for (const char* text : {"every", "cyclic:2", "cyclic:19"})
        EXPECT_EQ(name_of(parse_participation("participation", text)), text);
    EXPECT_EQ(parse_participation("participation", "cyclic:1").cycle, 1);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([] { (void)parse_adjacency("adjacency", "recrod"); }),
                 "did you mean 'record'?"));
}

TEST(ParseParticipation, RefusesWhatIsNotACycle) {
    for (const char* text :
         {"", "always", "cyclic", "cyclic:", "cyclic:0", "cyclic:-2", "cyclic:2.5", "cyclic:x"})
        EXPECT_TRUE(contains(
            message_of<ConfigError>([&] { (void)parse_participation("participation", text); }),
            "participation"))
            << text;
}

TEST(AgentExposure, OfAnAgentIsTwiceTheClipInEveryRound) {
    const Exposure exposure = agent_exposure(Adjacency::agent, {}, 0.1, 5000, 300, 128);
    EXPECT_EQ(exposure.sensitivity, 0.2);
    EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 5000.0);
    EXPECT_EQ(exposure.batch_size, 128);
    // The number of records plays no role.
    EXPECT_EQ(agent_exposure(Adjacency::agent, {}, 0.1, 5000, 3, 128).sensitivity, 0.2);
}

TEST(AgentExposure, OfAnAgentThatMayHaveContributedNothingIsTheClip) {
    EXPECT_EQ(agent_exposure(Adjacency::agent_zero_out, {}, 0.1, 5000, 300, 128).sensitivity, 0.1);
    EXPECT_TRUE(protects_agents(Adjacency::agent_zero_out));
    EXPECT_FALSE(protects_agents(Adjacency::record_zero_out));
}

TEST(AgentExposure, OfAnAgentRefusesCyclicParticipation) {
    EXPECT_TRUE(contains(message_of<ConfigError>([] {
                             (void)agent_exposure(Adjacency::agent, {2}, 0.1, 100, 300, 10);
                         }),
                         "cyclic needs adjacency record"));
}

TEST(AgentExposure, OfARecordIsDividedByTheBatch) {
    const Exposure replaced = agent_exposure(Adjacency::record, {}, 3, 100, 300, 128);
    EXPECT_DOUBLE_EQ(replaced.sensitivity, 6.0 / 128);
    EXPECT_EQ(replaced.sensitivity_squared_over_rounds, 100.0);
    EXPECT_EQ(replaced.batch_size, 128);
    const Exposure zeroed = agent_exposure(Adjacency::record_zero_out, {}, 3, 100, 300, 128);
    EXPECT_DOUBLE_EQ(zeroed.sensitivity, 3.0 / 128);
    EXPECT_EQ(agent_exposure(Adjacency::record_add_remove, {}, 3, 100, 300, 128).sensitivity,
              zeroed.sensitivity);
}

TEST(AgentExposure, SplitsKnownRecordsIntoBatchesWithCyclicParticipation) {
    // 412 records in 19 batches: ceil(412/19) = 22, also for the short last batch.
    const Exposure exposure = agent_exposure(Adjacency::record, {19}, 1, 380, 412, 5);
    EXPECT_EQ(exposure.batch_size, 22);
    EXPECT_DOUBLE_EQ(exposure.sensitivity, 2.0 / 22);
    EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 20.0);
    EXPECT_EQ(
        agent_exposure(Adjacency::record, {19}, 1, 381, 412, 5).sensitivity_squared_over_rounds,
        21.0);
    // One record a batch is the smallest that exists.
    EXPECT_EQ(agent_exposure(Adjacency::record, {412}, 1, 380, 412, 5).batch_size, 1);
    EXPECT_EQ(agent_exposure(Adjacency::record_zero_out, {19}, 1, 380, 412, 5).sensitivity,
              1.0 / 22);
    // Unknown records: the given batch counts.
    EXPECT_EQ(agent_exposure(Adjacency::record, {19}, 1, 380, 0, 5).batch_size, 5);
}

TEST(AgentExposure, OfAllRecordsHasTheirNumberAsDivisor) {
    for (const Eigen::Index records : {1, 7, 412}) {
        const Exposure replaced =
            agent_exposure(Adjacency::record, {}, 3, 100, records, std::nullopt);
        EXPECT_EQ(replaced.batch_size, records);
        EXPECT_DOUBLE_EQ(replaced.sensitivity, 6.0 / static_cast<double>(records));
        const Exposure agent = agent_exposure(Adjacency::agent, {}, 3, 100, records, std::nullopt);
        EXPECT_EQ(agent.batch_size, records);
        EXPECT_EQ(agent.sensitivity, 6);
    }
    EXPECT_EQ(agent_exposure(Adjacency::record, {19}, 1, 380, 412, std::nullopt).batch_size, 22);
    EXPECT_TRUE(contains(message_of<ConfigError>([] {
                             (void)agent_exposure(Adjacency::record, {}, 1, 10, 0, std::nullopt);
                         }),
                         "'all'"));
}

TEST(AgentExposure, RefusesBatchesThatTheRecordsCannotFill) {
    for (const Adjacency adjacency : {Adjacency::record, Adjacency::record_zero_out}) {
        EXPECT_TRUE(contains(
            message_of<ConfigError>([&] { (void)agent_exposure(adjacency, {}, 1, 10, 127, 128); }),
            "batch-size: 128 exceeds the 127 records"));
        EXPECT_NO_THROW((void)agent_exposure(adjacency, {}, 1, 10, 128, 128));
        EXPECT_TRUE(contains(
            message_of<ConfigError>([&] { (void)agent_exposure(adjacency, {20}, 1, 10, 19, 1); }),
            "20 batches"));
        EXPECT_THROW((void)agent_exposure(adjacency, {}, 1, 10, 100, 0), ConfigError);
        EXPECT_THROW((void)agent_exposure(adjacency, {}, 1, 10, 100, -4), ConfigError);
    }
}

TEST(AgentExposure, RefusesAClipNormOrRoundsThatBoundNothing) {
    for (const double clip_norm : {0.0, -1.0, not_a_number, infinity})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                                 (void)agent_exposure(Adjacency::agent, {}, clip_norm, 10, 0, 1);
                             }),
                             "clip-norm"));
    for (const long rounds : {0L, -5L})
        EXPECT_THROW((void)agent_exposure(Adjacency::agent, {}, 1, rounds, 0, 1), ConfigError);
}

TEST(AgentExposure, OfSecretSamplingHasTheProbabilityOfItsOwnShard) {
    constexpr Participation poisson{.cycle = 1, .poisson = true};
    EXPECT_EQ(parse_participation("participation", "poisson"), poisson);
    EXPECT_EQ(name_of(poisson), "poisson");
    const Exposure exposure =
        agent_exposure(Adjacency::record_add_remove, poisson, 3, 100, 300, 30);
    EXPECT_DOUBLE_EQ(exposure.sensitivity, 0.1);
    EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 100);
    EXPECT_EQ(exposure.batch_size, 30);
    EXPECT_EQ(exposure.sampling_probability, std::floor(0.1 * 0x1p53) * 0x1p-53);
    EXPECT_EQ(agent_exposure(Adjacency::record_zero_out, poisson, 3, 100, 30, std::nullopt)
                  .sampling_probability,
              1);
    EXPECT_EQ(agent_exposure(Adjacency::record_zero_out, poisson, 3, 100, 0, 30, 0.25)
                  .sampling_probability,
              0.25);
    EXPECT_EQ(agent_exposure(Adjacency::record, {}, 3, 100, 300, 30).sampling_probability, 1);
}

TEST(AgentExposure, OfASampledClientIsTheClipOverItsProbability) {
    constexpr Participation poisson{.cycle = 1, .poisson = true};
    for (const double q : {1.0, 0.25, 0.1}) {
        const Exposure exposure =
            agent_exposure(Adjacency::agent_zero_out, poisson, 3, 100, 300, 30, q);
        EXPECT_EQ(exposure.sampling_probability, std::floor(q * 0x1p53) * 0x1p-53);
        EXPECT_EQ(exposure.sensitivity, 3 / exposure.sampling_probability);
        EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 100);
        EXPECT_EQ(exposure.batch_size, 30);
    }
    const auto refusal = [&](std::optional<double> q) {
        return message_of<ConfigError>(
            [&] { (void)agent_exposure(Adjacency::agent_zero_out, poisson, 3, 100, 300, 30, q); });
    };
    for (const std::optional<double> wrong : {std::optional(0.0), {1.5}, {not_a_number}, {}})
        EXPECT_TRUE(contains(refusal(wrong), "client-probability"));
}

TEST(AgentExposure, RefusesSecretSamplingWhereNothingIsProved) {
    constexpr Participation poisson{.cycle = 1, .poisson = true};
    const auto refusal =
        [&](Adjacency adjacency, Eigen::Index records, std::optional<double> probability) {
            return message_of<ConfigError>(
                [&] { (void)agent_exposure(adjacency, poisson, 1, 10, records, 5, probability); });
        };
    EXPECT_TRUE(contains(refusal(Adjacency::agent, 100, {}), "no bound is proved"));
    EXPECT_TRUE(contains(refusal(Adjacency::record, 100, {}), "no bound is proved"));
    EXPECT_TRUE(contains(refusal(Adjacency::record_zero_out, 0, {}), "sampling-probability"));
    for (const double wrong : {0.0, -1.0, 1.5, not_a_number})
        EXPECT_TRUE(contains(refusal(Adjacency::record_zero_out, 0, wrong), "not allowed"));
    EXPECT_TRUE(contains(refusal(Adjacency::record_zero_out, 4, {}), "exceeds the 4 records"));
}

TEST(AgentExposure, OfRandomAllocationCountsWholeEpochs) {
    constexpr Participation allocated{.rounds_an_epoch = 7};
    EXPECT_EQ(parse_participation("participation", "allocation:7"), allocated);
    EXPECT_EQ(name_of(allocated), "allocation:7");
    EXPECT_TRUE(allocated.is_secret());
    for (const char* wrong :
         {"allocation", "allocation:", "allocation:1", "allocation:0", "allocation:2000000"})
        EXPECT_THROW((void)parse_participation("participation", wrong), ConfigError) << wrong;
    const Exposure exposure =
        agent_exposure(Adjacency::record_add_remove, allocated, 3, 30, 100, 64);
    EXPECT_EQ(exposure.batch_size, 15) << "ceil(100 / 7), whatever the batch size";
    EXPECT_DOUBLE_EQ(exposure.sensitivity, 0.2);
    EXPECT_EQ(exposure.sampling_probability, 1.0 / 7);
    EXPECT_EQ(exposure.rounds_an_epoch, 7);
    EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 35) << "of five epochs";
    // One epoch's record shows once, with the noise of one round.
    const PrivacyLoss loss = loss_of(StreamDistribution::gaussian, exposure, 25);
    const SampledRounds rounds = allocated_rounds(1, 7, 5);
    EXPECT_NEAR(
        loss.epsilon(1e-5).upper, PrivacyLoss::sampled({&rounds, 1}).epsilon(1e-5).upper, 1e-9);
    EXPECT_NEAR(largest_squared_distance(StreamDistribution::gaussian, loss), 35, 1e-12);
    for (const Adjacency adjacency : {Adjacency::agent, Adjacency::record})
        EXPECT_THROW((void)agent_exposure(adjacency, allocated, 3, 30, 100, 10), ConfigError);
    EXPECT_THROW((void)agent_exposure(Adjacency::agent_zero_out, allocated, 3, 30, 100, 10, 0.5),
                 ConfigError);
    EXPECT_THROW((void)agent_exposure(Adjacency::record_zero_out, allocated, 3, 30, 6, 3),
                 ConfigError);
}

TEST(AgentExposure, OfSampledPartsHasOneRoundInEveryCycle) {
    constexpr Participation parts{.cycle = 8, .poisson = true};
    EXPECT_EQ(parse_participation("participation", "cyclic-poisson:8"), parts);
    EXPECT_EQ(name_of(parts), "cyclic-poisson:8");
    EXPECT_EQ(name_of(parse_participation("participation", "cyclic-poisson:1")), "poisson");
    for (const char* wrong : {"cyclic-poisson", "cyclic-poisson:", "cyclic-poisson:0"})
        EXPECT_THROW((void)parse_participation("participation", wrong), ConfigError) << wrong;
    const Exposure exposure = agent_exposure(Adjacency::record_zero_out, parts, 3, 100, 310, 30);
    EXPECT_DOUBLE_EQ(exposure.sensitivity, 0.1) << "the divisor is the batch size still";
    EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 13) << "ceil(100 / 8)";
    EXPECT_EQ(exposure.batch_size, 30);
    EXPECT_EQ(exposure.sampling_probability, std::floor(8 * 30.0 / 310 * 0x1p53) * 0x1p-53);
    EXPECT_DOUBLE_EQ(
        agent_exposure(Adjacency::record_zero_out, parts, 3, 100, 0, 30, 0.1).sampling_probability,
        0.8);
    // Exactly everybody of the part.
    EXPECT_EQ(
        agent_exposure(Adjacency::record_zero_out, parts, 3, 100, 240, 30).sampling_probability, 1);
}

TEST(AgentExposure, NamesTheLongestCycleThatCanBeSampled) {
    constexpr Participation parts{.cycle = 11, .poisson = true};
    const auto refusal =
        [&](Adjacency adjacency, Eigen::Index records, std::optional<double> probability) {
            return message_of<ConfigError>(
                [&] { (void)agent_exposure(adjacency, parts, 1, 10, records, 30, probability); });
        };
    EXPECT_TRUE(contains(refusal(Adjacency::record_add_remove, 310, {}), "a cycle of 10 rounds"));
    EXPECT_TRUE(contains(refusal(Adjacency::record_add_remove, 0, 0.1), "a cycle of 10 rounds"));
    EXPECT_TRUE(contains(refusal(Adjacency::record_add_remove, 0, {}), "sampling-probability"));
    EXPECT_TRUE(contains(refusal(Adjacency::agent, 310, {}), "no bound is proved"));
    EXPECT_TRUE(contains(refusal(Adjacency::agent_zero_out, 310, {}), "cyclic needs adjacency"));
    EXPECT_TRUE(contains(refusal(Adjacency::record, 330, {}), "no bound is proved"));
    EXPECT_EQ(largest_sampled_cycle(30, 310, {}), 10);
    for (const double probability : {0.1, 1.0 / 3, 1.0 / 49, 0.0427, 1.0}) {
        const long largest = largest_sampled_cycle(1, 0, probability);
        EXPECT_LE(static_cast<double>(largest) * probability, 1);
        EXPECT_GT(static_cast<double>(largest + 1) * probability, 1);
    }
}

constexpr Calibration all_calibrations[] = {
    Calibration::exact, Calibration::rdp, Calibration::paper};

TEST(MakeBudget, ChoosesTheMuOfItsCalibration) {
    for (const double epsilon : {0.5, 3.0, 10.0, 25.0})
        for (const double delta : {1e-9, 1e-6, 1e-5}) {
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::exact).limit.mu(),
                      gdp_mu(epsilon, delta));
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::rdp).limit.mu(),
                      rdp_mu(epsilon, delta));
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::paper).limit.mu(),
                      paper_mu(epsilon, delta));
        }
}

TEST(MakeBudget, NeverExceedsItsEpsilon) {
    for (const Calibration calibration : all_calibrations)
        for (const double epsilon : {0.01, 0.5, 3.0, 10.0, 25.0}) {
            const PrivacyBudget budget = make_budget(epsilon, 1e-5, calibration);
            EXPECT_EQ(budget.epsilon, epsilon);
            EXPECT_EQ(budget.delta, 1e-5);
            EXPECT_EQ(budget.calibration, calibration);
            EXPECT_LE(budget.limit.epsilon(1e-5).upper, epsilon * (1 + 1e-12));
        }
}

TEST(MakeBudget, RefusesPaperExactlyWhereItMissesItsTarget) {
    bool accepted_before = true;
    for (double epsilon = 20; epsilon <= 50; epsilon += 0.25) {
        const bool meets = gdp_epsilon(paper_mu(epsilon, 1e-5), 1e-5) <= epsilon;
        if (meets) {
            EXPECT_NO_THROW((void)make_budget(epsilon, 1e-5, Calibration::paper)) << epsilon;
        } else {
            const std::string message = message_of<ConfigError>(
                [&] { (void)make_budget(epsilon, 1e-5, Calibration::paper); });
            EXPECT_TRUE(contains(message, "paper"));
            EXPECT_TRUE(contains(message, "exact"));
        }
        EXPECT_TRUE(accepted_before || !meets) << "accepted again at " << epsilon;
        accepted_before = meets;
    }
    // The crossing is at 36.1; already above 27.0 the papers' own Theorem 2 disagrees.
    EXPECT_NO_THROW((void)make_budget(36.0, 1e-5, Calibration::paper));
    EXPECT_THROW((void)make_budget(36.2, 1e-5, Calibration::paper), ConfigError);
    EXPECT_THROW((void)make_budget(40.0, 1e-5, Calibration::paper), ConfigError);
    EXPECT_LE(rdp_epsilon(paper_mu(26.9, 1e-5), 1e-5), 26.9);
    EXPECT_GT(rdp_epsilon(paper_mu(27.1, 1e-5), 1e-5), 27.1);
    EXPECT_NO_THROW((void)make_budget(40.0, 1e-6, Calibration::paper));
}

TEST(MakeBudget, RefusesAnEpsilonThatIsNotFiniteAndPositive) {
    for (const Calibration calibration : all_calibrations)
        for (const double epsilon : {0.0, -0.0, -1.0, not_a_number, infinity, -infinity})
            EXPECT_TRUE(contains(
                message_of<ConfigError>([&] { (void)make_budget(epsilon, 1e-5, calibration); }),
                "epsilon"))
                << epsilon;
}

TEST(MakeBudget, RefusesADeltaThatIsNotBetweenZeroAndOne) {
    for (const Calibration calibration : all_calibrations)
        for (const double delta : {0.0, 1.0, -1e-5, 2.0, not_a_number, infinity})
            EXPECT_TRUE(
                contains(message_of<ConfigError>([&] { (void)make_budget(1, delta, calibration); }),
                         "delta"))
                << delta;
}

TEST(CalibrationNames, GoBackAndForth) {
    for (const Calibration calibration : all_calibrations)
        EXPECT_EQ(parse_calibration("calibration", name_of(calibration)), calibration);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([] { (void)parse_calibration("calibration", "exat"); }),
                 "did you mean 'exact'?"));
}

TEST(MakeBudget, AgainstLaplaceNoiseIsTheEpsilonItself) {
    for (const double epsilon : {0.01, 3.0, 40.0}) {
        const PrivacyBudget budget = make_pure_budget(epsilon);
        EXPECT_EQ(budget.limit, PrivacyLoss::pure(epsilon));
        EXPECT_EQ(budget.delta, 0);
        EXPECT_EQ(budget.limit.epsilon(budget.delta).upper, epsilon);
        const PrivacyBudget chosen =
            make_budget(StreamDistribution::laplace, epsilon, 1e-5, Calibration::rdp);
        EXPECT_EQ(chosen.limit, budget.limit);
        EXPECT_EQ(chosen.delta, 0);
    }
    EXPECT_THROW((void)make_pure_budget(0), ConfigError);
    EXPECT_THROW((void)make_pure_budget(not_a_number), ConfigError);
}

TEST(BudgetAgainst, KeepsWhatIsLeftOfABudgetForTheSameNoise) {
    PrivacyBudget left = make_budget(3, 1e-5, Calibration::exact);
    left.limit = left.limit.with_amount(left.limit.amount().value / 4);
    const PrivacyBudget same =
        budget_against(StreamDistribution::gaussian, left, 1e-5, Calibration::rdp);
    EXPECT_EQ(same.limit, left.limit);
    EXPECT_EQ(same.calibration, Calibration::exact);
    const PrivacyBudget pure =
        budget_against(StreamDistribution::laplace, left, 1e-5, Calibration::rdp);
    EXPECT_EQ(pure.limit, PrivacyLoss::pure(3));
    const PrivacyBudget back =
        budget_against(StreamDistribution::gaussian, pure, 1e-5, Calibration::rdp);
    EXPECT_EQ(back.limit.mu(), rdp_mu(3, 1e-5));
    EXPECT_EQ(back.delta, 1e-5);
}

TEST(BudgetSpentBy, IsMetExactlyByTheLoss) {
    for (const auto noise : {StreamDistribution::gaussian, StreamDistribution::laplace}) {
        const PrivacyLoss loss = loss_of_distance(noise, 1.5);
        const PrivacyBudget budget = budget_spent_by(loss, noise, 1e-6);
        EXPECT_EQ(budget.limit, loss);
        EXPECT_EQ(budget.noise, noise);
        EXPECT_EQ(budget.epsilon, loss.epsilon(budget.delta).upper);
        EXPECT_EQ(budget.delta, noise == StreamDistribution::laplace ? 0 : 1e-6);
    }
}

TEST(NoBudget, AllowsNoLoss) {
    const PrivacyBudget budget = no_budget(1e-5, Calibration::rdp);
    EXPECT_EQ(budget.limit, PrivacyLoss());
    EXPECT_EQ(budget.epsilon, 0);
    EXPECT_EQ(precision_limit(budget, {1, 10, 1}), 0);
}

TEST(BudgetText, SaysWhatIsAllowedAndWhatIsLeft) {
    PrivacyBudget budget = make_budget(10, 1e-5, Calibration::exact);
    EXPECT_EQ(text_of(budget), "epsilon 10 at delta 1e-05, exact calibration: mu 2.00045");
    budget.limit = PrivacyLoss::gaussian(1.25);
    EXPECT_EQ(text_of(budget),
              "epsilon 10 at delta 1e-05, exact calibration: mu 2.00045, of which 1.25 is left");
    EXPECT_EQ(text_of(make_pure_budget(2.5)), "epsilon 2.5, pure");
}

TEST(PrecisionLimit, GivesBackMuThroughTheDefinitionOfTheGuarantee) {
    const PrivacyBudget budget = make_budget(10, 1e-5, Calibration::exact);
    for (const double sensitivity : {0.2, 2.0 / 22, 14.0})
        for (const double squared : {1.0, 20.0, 5000.0}) {
            const double kappa = precision_limit(budget, {sensitivity, squared, 1});
            EXPECT_TRUE(relatively_near(
                sensitivity * std::sqrt(squared * kappa), budget.limit.mu().value(), 1e-14));
        }
}

TEST(PrecisionLimit, GivesBackEpsilonUnderLaplaceNoise) {
    const double kappa = precision_limit(make_pure_budget(3), {0.2, 400, 1});
    EXPECT_TRUE(relatively_near(0.2 * std::sqrt(400 * kappa), 3, 1e-14));
}

TEST(SampledBudget, KeepsEveryPatternWithinIt) {
    const PrivacyBudget whole = make_budget(3, 1e-5, Calibration::exact);
    const SampledRounds before{1.4, 0.2, 6};
    const PrivacyLoss spent = PrivacyLoss::sampled({&before, 1});
    const std::vector<SampledPattern> patterns{
        {5, spent}, {6, {}}, {4, spent}, {0, spent}, {6, {}}};
    const PrivacyBudget budget =
        sampled_budget(whole, SampledRounds{.sampling_probability = 0.2}, patterns);
    const auto limit = budget.limit.parts().sampled;
    ASSERT_EQ(limit.size(), 1U);
    EXPECT_EQ(limit[0].count, 6) << "of the longest pattern";
    const SampledPhase rest{0.2, 5}, fresh{0.2, 6};
    EXPECT_EQ(limit[0].noise_multiplier,
              std::max(noise_multiplier_for(3, 1e-5, {&rest, 1}, spent),
                       noise_multiplier_for(3, 1e-5, {&fresh, 1})));
    for (const auto& [rounds, so_far] : patterns) {
        const SampledRounds mine{limit[0].noise_multiplier, 0.2, rounds};
        EXPECT_LE(compose(so_far, PrivacyLoss::sampled({&mine, 1})).epsilon(1e-5).upper, 3);
    }
    // Nothing to come does not make good what is too much.
    const SampledRounds much{0.5, 0.2, 20};
    const SampledPattern gone{0, PrivacyLoss::sampled({&much, 1})};
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] {
                             (void)sampled_budget(whole,
                                                  SampledRounds{.sampling_probability = 0.2},
                                                  std::vector{patterns[1], gone});
                         }),
                         "already spent"));
}

TEST(StepSchedule, IsConstantOrFallsWithTheSquareRootOrTheRound) {
    const StepSchedule constant{StepSchedule::Kind::constant, 0.3, {}};
    const StepSchedule falling{StepSchedule::Kind::inverse_sqrt, 0.3, {}};
    const StepSchedule averaging{StepSchedule::Kind::inverse, 0.3, {}};
    for (const long t : {0L, 1L, 8L, 99L, 1000000L}) {
        EXPECT_DOUBLE_EQ(averaging.at(t) * (static_cast<double>(t) + 1), 0.3);
        EXPECT_EQ(constant.at(t), 0.3);
        EXPECT_DOUBLE_EQ(falling.at(t) * std::sqrt(static_cast<double>(t) + 1), 0.3);
    }
    EXPECT_EQ(falling.at(0), 0.3);
    EXPECT_EQ(constant.over(2), (std::vector<double>{0.3, 0.3}));
    EXPECT_EQ(falling.over(3), (std::vector<double>{falling.at(0), falling.at(1), falling.at(2)}));
}

TEST(StepSchedule, ChangesAtTheRoundsOfItsPieces) {
    const StepSchedule schedule =
        parse_step_schedule("step-schedule", "piecewise:100:0.1,200:0.02", 0.5);
    EXPECT_EQ(schedule.at(0), 0.5);
    EXPECT_EQ(schedule.at(99), 0.5);
    EXPECT_EQ(schedule.at(100), 0.5 * 0.1);
    EXPECT_EQ(schedule.at(199), 0.5 * 0.1);
    EXPECT_EQ(schedule.at(200), 0.5 * 0.02);
    EXPECT_EQ(schedule.at(100000), 0.5 * 0.02);
}

TEST(StepSchedule, IsReadBackFromItsName) {
    for (const char* text :
         {"constant", "inverse-sqrt", "inverse", "piecewise:7:0.5", "piecewise:1:2,9:0.25"}) {
        const StepSchedule schedule = parse_step_schedule("step-schedule", text, 0.1);
        EXPECT_EQ(name_of(schedule), text);
        EXPECT_EQ(schedule.step_size, 0.1);
    }
}

TEST(StepSchedule, RefusesWhatIsNotOne) {
    for (const char* text : {"inverse-sqr",
                             "invers",
                             "piecewise:",
                             "piecewise:10",
                             "piecewise:0:0.5",
                             "piecewise:10:0",
                             "piecewise:10:-1",
                             "piecewise:10:nan",
                             "piecewise:10:0.5,10:0.1",
                             "piecewise:10:0.5,5:0.1",
                             "piecewise:10:0.5,",
                             "piecewise:1.5:0.5"})
        EXPECT_THROW((void)parse_step_schedule("step-schedule", text, 0.1), ConfigError) << text;
}

using namespace test;

TEST(GuaranteeOf, GivesEpsilonAtTheDelta) {
    const Guarantee guarantee = guarantee_of(PrivacyLoss::gaussian(1.5), 1e-6);
    EXPECT_EQ(guarantee.loss.mu(), 1.5);
    EXPECT_EQ(guarantee.delta, 1e-6);
    EXPECT_EQ(guarantee.epsilon, gdp_epsilon(1.5, 1e-6));
    EXPECT_FALSE(guarantee.infinite());
    EXPECT_TRUE(guarantee_of(PrivacyLoss::gaussian(infinity), 1e-6).infinite());
}

TEST(GuaranteeOf, FollowsTheNoiseOfThePlan) {
    NoisePlan plan = private_plan({1, 1});
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).epsilon, gdp_epsilon(0.8, 1e-5));
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).delta, 1e-5);
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).epsilon, 0.8) << "pure, whatever the delta";
    EXPECT_EQ(guarantee_of(plan, 0.8, 1e-5).delta, 0);
    EXPECT_TRUE(guarantee_of(plan, infinity, 1e-5).infinite());
}

TEST(Largest, IsTheFirstOfTheWorst) {
    std::vector<Guarantee> all;
    for (const double mu : {1e-8, 2.0, 0.5, 2.0}) all.push_back({PrivacyLoss::gaussian(mu), 1e-5});
    EXPECT_EQ(&largest(all), &all[1]);
    // Where epsilon is 0 for all of them mu decides.
    all = {guarantee_of(PrivacyLoss::gaussian(1e-8), 1e-5),
           guarantee_of(PrivacyLoss::gaussian(2e-8), 1e-5)};
    EXPECT_EQ(&largest(all), &all[1]);
    EXPECT_EQ(largest(all).epsilon, 0);
}

TEST(SampledBudget, OfRoundsWithDifferentNoiseIsMetByTheirComposition) {
    const std::vector<RoundLevel> levels{{1.44, 50}, {0.16, 25}};  // 76 rounds of precision 1
    const PrivacyBudget asked = make_budget(2, 1e-5, Calibration::exact);
    const PrivacyBudget budget = sampled_budget(asked, 0.05, levels);
    EXPECT_LE(budget.limit.epsilon(1e-5).upper, 2);
    EXPECT_GT(budget.limit.scaled(1.003).epsilon(1e-5).upper, 2);
    const auto rounds = budget.limit.parts().sampled;
    ASSERT_EQ(rounds.size(), 2U);
    EXPECT_EQ(rounds[0].count, 50);
    EXPECT_NEAR(rounds[1].noise_multiplier, 3 * rounds[0].noise_multiplier, 1e-12);
    // The plan's precision at this limit gives the loss back.
    Exposure exposure{.sensitivity = 0.5,
                      .sensitivity_squared_over_rounds = 76,
                      .sampling_probability = 0.05,
                      .levels = levels};
    const double precision = precision_limit(budget, exposure);
    EXPECT_TRUE(
        loss_of(StreamDistribution::gaussian, exposure, precision).within(budget.limit, 1e-12));
    EXPECT_FALSE(loss_of(StreamDistribution::gaussian, exposure, 1.01 * precision)
                     .within(budget.limit, 1e-12));
    EXPECT_NE(text_of(budget).find(" to "), std::string::npos) << text_of(budget);
    EXPECT_THROW((void)sampled_budget(make_budget(2, 1e-5, Calibration::rdp), 0.05, levels),
                 ConfigError);
}

}  // namespace
}  // namespace sotto
