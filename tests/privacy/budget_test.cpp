#include "sotto/privacy/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;
using test::relatively_near;

constexpr Calibration all_calibrations[] = {
    Calibration::exact, Calibration::rdp, Calibration::paper};

TEST(MakeBudget, ChoosesTheMuOfItsCalibration) {
    for (const double epsilon : {0.5, 3.0, 10.0, 25.0})
        for (const double delta : {1e-9, 1e-6, 1e-5}) {
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::exact).mu, gdp_mu(epsilon, delta));
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::rdp).mu, rdp_mu(epsilon, delta));
            EXPECT_EQ(make_budget(epsilon, delta, Calibration::paper).mu, paper_mu(epsilon, delta));
        }
}

TEST(MakeBudget, NeverExceedsItsEpsilon) {
    for (const Calibration calibration : all_calibrations)
        for (const double epsilon : {0.01, 0.5, 3.0, 10.0, 25.0}) {
            const PrivacyBudget budget = make_budget(epsilon, 1e-5, calibration);
            EXPECT_EQ(budget.epsilon, epsilon);
            EXPECT_EQ(budget.delta, 1e-5);
            EXPECT_EQ(budget.calibration, calibration);
            EXPECT_LE(gdp_epsilon(budget.mu, 1e-5), epsilon * (1 + 1e-12));
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

TEST(BudgetNames, GoBackAndForth) {
    for (const Calibration calibration : all_calibrations)
        EXPECT_EQ(parse_calibration("calibration", name_of(calibration)), calibration);
    for (const Adjacency adjacency : {Adjacency::agent,
                                      Adjacency::record,
                                      Adjacency::record_zero_out,
                                      Adjacency::record_add_remove})
        EXPECT_EQ(parse_adjacency("adjacency", name_of(adjacency)), adjacency);
    for (const char* text : {"every", "cyclic:2", "cyclic:19"})
        EXPECT_EQ(name_of(parse_participation("participation", text)), text);
    EXPECT_EQ(parse_participation("participation", "cyclic:1").cycle, 1);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([] { (void)parse_calibration("calibration", "exat"); }),
                 "did you mean 'exact'?"));
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
    EXPECT_EQ(exposure.temporal_sensitivity, 5000.0);
    EXPECT_EQ(exposure.batch_size, 128);
    // The number of records plays no role.
    EXPECT_EQ(agent_exposure(Adjacency::agent, {}, 0.1, 5000, 3, 128).sensitivity, 0.2);
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
    EXPECT_EQ(replaced.temporal_sensitivity, 100.0);
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
    EXPECT_EQ(exposure.temporal_sensitivity, 20.0);
    EXPECT_EQ(agent_exposure(Adjacency::record, {19}, 1, 381, 412, 5).temporal_sensitivity, 21.0);
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

/// The definition, with C_time given entry by entry.
template <class Entry>
double brute_force_sensitivity(Entry&& c, long cycle, long rounds) {
    double largest = 0;
    for (long first = 0; first < cycle; ++first) {
        double sum = 0;
        for (long s = 0; s < rounds; ++s)
            for (long t = 0; t < rounds; ++t) {
                if (s % cycle != first || t % cycle != first) continue;
                double gram = 0;
                for (long r = 0; r < rounds; ++r) gram += c(r, s) * c(r, t);
                sum += std::abs(gram);
            }
        largest = std::max(largest, sum);
    }
    return largest;
}

TEST(TemporalSensitivity, OfIndependentNoiseCountsParticipations) {
    for (const long rounds : {1L, 2L, 7L, 12L, 100L})
        for (const long cycle : {1L, 2L, 3L, 7L, 12L, 1000L}) {
            const double found = temporal_sensitivity_squared({}, {cycle}, rounds);
            EXPECT_EQ(found, std::ceil(static_cast<double>(rounds) / static_cast<double>(cycle)));
            EXPECT_EQ(found,
                      brute_force_sensitivity(
                          [](long s, long t) { return s == t ? 1.0 : 0.0; }, cycle, rounds));
        }
}

TEST(TemporalSensitivity, OfEveryKindOfFactorIsTheDefinition) {
    constexpr std::uint64_t seed = 5;
    constexpr long length = 12;
    SeededRandom random(seed, "temporal factor");
    TemporalFactor dense{TemporalFactor::Kind::dense, Eigen::MatrixXd::Zero(length, length)};
    TemporalFactor banded{TemporalFactor::Kind::banded, Eigen::MatrixXd::Zero(length, 3)};
    for (long t = 0; t < length; ++t) {
        for (long s = 0; s < t; ++s) dense.lower(t, s) = random.normal();
        dense.lower(t, t) = 1 + random.uniform();
        banded.lower.row(t) << 1 + random.uniform(), random.normal(), random.normal();
    }
    TemporalFactor one_lag{TemporalFactor::Kind::one_lag, Eigen::MatrixXd::Zero(length, 2)};
    for (long t = 0; t < length; ++t)
        one_lag.lower.row(t) << 1 + random.uniform(), t == 5 ? 0.0 : random.normal();
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(length, length);
    inverse.diagonal() = one_lag.lower.col(0);
    inverse.diagonal(-1) = one_lag.lower.col(1).tail(length - 1);
    const Eigen::MatrixXd inverted = inverse.inverse();
    for (const long rounds : {1L, 2L, 5L, 11L, 12L})
        for (const long cycle : {1L, 2L, 4L, 12L, 50L}) {
            SCOPED_TRACE(testing::Message() << rounds << " rounds, cycle " << cycle);
            EXPECT_TRUE(relatively_near(
                temporal_sensitivity_squared(one_lag, {cycle}, rounds),
                brute_force_sensitivity(
                    [&](long t, long s) { return t >= s ? inverted(t, s) : 0.0; }, cycle, rounds),
                1e-12));
            EXPECT_TRUE(relatively_near(
                temporal_sensitivity_squared(dense, {cycle}, rounds),
                brute_force_sensitivity(
                    [&](long t, long s) { return dense.lower(t, s); }, cycle, rounds),
                1e-13));
            EXPECT_TRUE(relatively_near(temporal_sensitivity_squared(banded, {cycle}, rounds),
                                        brute_force_sensitivity(
                                            [&](long t, long s) {
                                                return t >= s && t - s < 3 ? banded.lower(t, t - s)
                                                                           : 0.0;
                                            },
                                            cycle,
                                            rounds),
                                        1e-13));
        }
}

TEST(TemporalSensitivity, OfAFactorThatEndsBeforeTheRunIsRefused) {
    const TemporalFactor factor{TemporalFactor::Kind::dense, Eigen::MatrixXd::Identity(5, 5)};
    EXPECT_EQ(temporal_sensitivity_squared(factor, {}, 5), 5.0);
    EXPECT_TRUE(contains(
        message_of<PrivacyError>([&] { (void)temporal_sensitivity_squared(factor, {}, 6); }),
        "covers 5 rounds, the run has 6"));
}

TEST(PrecisionLimit, GivesBackMuThroughTheDefinitionOfTheGuarantee) {
    const PrivacyBudget budget = make_budget(10, 1e-5, Calibration::exact);
    for (const double sensitivity : {0.2, 2.0 / 22, 14.0})
        for (const double squared : {1.0, 20.0, 5000.0}) {
            const double kappa = precision_limit(budget, {sensitivity, squared, 1});
            EXPECT_TRUE(
                relatively_near(sensitivity * std::sqrt(squared * kappa), budget.mu, 1e-14));
        }
}

}  // namespace
}  // namespace sotto
