#include "sotto/privacy/privacy_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/seeded_random.hpp"
#include "core/test_support.hpp"
#include "plan/lagged_noise.hpp"
#include "privacy/ledger_fixtures.hpp"
#include "privacy/message_fixtures.hpp"
#include "privacy/sum_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::five_agents;
using test::message_of;
using test::relatively_near;

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

TEST(RoundShift, OfEveryKindOfFactorIsTheLargestSumOfOnePatternInARow) {
    constexpr long length = 9;
    SeededRandom random(3, "round shift");
    TemporalFactor dense{TemporalFactor::Kind::dense, Eigen::MatrixXd::Zero(length, length)};
    TemporalFactor banded{TemporalFactor::Kind::banded, Eigen::MatrixXd::Zero(length, 3)};
    TemporalFactor one_lag{TemporalFactor::Kind::one_lag, Eigen::MatrixXd::Zero(length, 2)};
    for (long t = 0; t < length; ++t) {
        for (long s = 0; s < t; ++s) dense.lower(t, s) = random.normal();
        dense.lower(t, t) = 1 + random.uniform();
        banded.lower.row(t) << 1 + random.uniform(), random.normal(), random.normal();
        one_lag.lower.row(t) << 1 + random.uniform(), random.normal();
    }
    for (const TemporalFactor& factor : {dense, banded, one_lag})
        for (const long rounds : {1L, 4L, 9L})
            for (const long cycle : {1L, 2L, 5L, 30L}) {
                Eigen::MatrixXd c = dense_factor(factor, rounds).cwiseAbs();
                double expected = 0;
                for (long j = 0; j < cycle; ++j)
                    for (long s = 0; s < rounds; ++s) {
                        double sum = 0;
                        for (long t = j; t < rounds; t += cycle) sum += c(s, t);
                        expected = std::max(expected, sum);
                    }
                EXPECT_TRUE(
                    relatively_near(largest_round_shift(factor, {cycle}, rounds), expected, 1e-12))
                    << rounds << " rounds, cycle " << cycle;
            }
    EXPECT_EQ(largest_round_shift({}, {3}, 100), 1);
    EXPECT_EQ(largest_round_shift(dense, {3}, 0), 0);
    EXPECT_THROW((void)largest_round_shift(banded, {3}, length + 1), PrivacyError);
}

TEST(TemporalSensitivity, OfAFactorThatEndsBeforeTheRunIsRefused) {
    const TemporalFactor factor{TemporalFactor::Kind::dense, Eigen::MatrixXd::Identity(5, 5)};
    EXPECT_EQ(temporal_sensitivity_squared(factor, {}, 5), 5.0);
    EXPECT_TRUE(contains(
        message_of<PrivacyError>([&] { (void)temporal_sensitivity_squared(factor, {}, 6); }),
        "covers 5 rounds, the run has 6"));
}

TEST(PatternSensitivities, HaveTheLargestAsThatOfTheRun) {
    TemporalFactor factor{TemporalFactor::Kind::banded, Eigen::MatrixXd::Constant(9, 2, 0.5)};
    for (const TemporalFactor& each : {TemporalFactor{}, factor})
        for (const long cycle : {1L, 2L, 4L, 20L}) {
            const Eigen::VectorXd patterns = pattern_sensitivities_squared(each, {cycle}, 9);
            EXPECT_EQ(patterns.size(), std::min(cycle, 9L));
            EXPECT_DOUBLE_EQ(patterns.maxCoeff(), temporal_sensitivity_squared(each, {cycle}, 9));
        }
    // Of independent rounds every round is counted once.
    EXPECT_EQ(pattern_sensitivities_squared({}, {4}, 9), Eigen::Vector4d(3, 2, 2, 2));
}

/// Unit columns of this many subdiagonals.
TemporalFactor unit_bands(long rounds, long band) {
    SeededRandom random(9, "unit columns");
    TemporalFactor factor{TemporalFactor::Kind::banded, Eigen::MatrixXd::Zero(rounds, band + 1)};
    for (long s = 0; s < rounds; ++s) {
        const long reach = std::min(band, rounds - 1 - s);
        Eigen::VectorXd column(reach + 1);
        column(0) = 1;
        for (long k = 1; k <= reach; ++k) column(k) = random.normal();
        column.normalize();
        for (long k = 0; k <= reach; ++k) factor.lower(s + k, k) = column(k);
    }
    return factor;
}

TEST(TemporalSensitivity, OfSampledRoundsIsTheirNumber) {
    constexpr Participation sampled{.cycle = 4, .poisson = true};
    for (const long rounds : {1L, 3L, 4L, 9L, 18L}) {
        const Eigen::VectorXd plain = pattern_sensitivities_squared({}, sampled, rounds);
        // Columns that the last round cuts short count as whole ones.
        const Eigen::VectorXd found =
            pattern_sensitivities_squared(unit_bands(18, 3), sampled, rounds);
        EXPECT_TRUE(found.isApprox(plain, 1e-12)) << rounds;
        EXPECT_TRUE((found.array() >= plain.array()).all()) << "counted from above";
        EXPECT_EQ(temporal_sensitivity_squared({}, sampled, rounds), (rounds + 3) / 4);
    }
}

TEST(SeparateRounds, AreNeededOfSampledOnesOnly) {
    const auto refusal = [](const TemporalFactor& factor, const Participation& participation) {
        return message_of<ConfigError>(
            [&] { require_separate_rounds(factor, participation, factor.lower.rows()); });
    };
    const TemporalFactor bands = unit_bands(12, 3);
    for (const long cycle : {4L, 5L, 12L})
        EXPECT_NO_THROW(require_separate_rounds(bands, {.cycle = cycle, .poisson = true}, 12));
    for (const long cycle : {1L, 3L}) {
        EXPECT_TRUE(contains(refusal(bands, {.cycle = cycle, .poisson = true}), "shares some"));
        EXPECT_NO_THROW(require_separate_rounds(bands, {.cycle = cycle}, 12));
        EXPECT_THROW(
            (void)pattern_sensitivities_squared(bands, {.cycle = cycle, .poisson = true}, 12),
            ConfigError);
    }
    constexpr Participation sampled{.cycle = 4, .poisson = true};
    EXPECT_NO_THROW(require_separate_rounds({}, sampled, 12));
    // A dense factor with these entries, and one that meets nothing before its end.
    TemporalFactor dense{TemporalFactor::Kind::dense, dense_factor(bands, 12)};
    EXPECT_NO_THROW(require_separate_rounds(dense, sampled, 12));
    dense.lower(9, 4) = 1e-12;
    EXPECT_TRUE(contains(refusal(dense, sampled), "round 4 shares some with round 9"));
    EXPECT_NO_THROW(require_separate_rounds(dense, sampled, 9));
    // Longer columns.
    TemporalFactor louder = bands;
    louder.lower.row(5) *= 1.01;
    EXPECT_TRUE(contains(refusal(louder, sampled), "squared length"));
    TemporalFactor one_lag{TemporalFactor::Kind::one_lag, Eigen::MatrixXd::Ones(12, 2)};
    one_lag.lower.col(1).setConstant(-0.5);
    EXPECT_TRUE(contains(refusal(one_lag, sampled), "shares some"));
    for (const long first : {0L, 4L, 8L}) one_lag.lower(first, 1) = 0;
    EXPECT_TRUE(contains(refusal(one_lag, sampled), "not one-lag"));
}

using namespace test;

/// Largest squared sensitivity over patterns, by writing down the map from contributions to
/// messages.
double brute_force(const PlanUse& use, double lambda, long rounds, bool laplace) {
    double largest = 0;
    for (long j = 0; j < use.participation.cycle; ++j) {
        double squares = 0, sum = 0;
        for (long t = 0; t < rounds; ++t) {
            double moved = 0;
            for (long s = j; s <= t; s += use.participation.cycle)
                moved += use.steps.at(s) * std::pow(lambda, static_cast<double>(t - s));
            squares += moved * moved;
            sum += moved;
        }
        largest = std::max(largest, laplace ? sum * sum : squares);
    }
    return largest;
}

TEST(RunSensitivity, PilesUpWhatAnAgentsOwnCopyKeeps) {
    for (const double beta : {-2.0, -0.5, 0.0, 1.0})
        for (const double own_weight : {0.25, 0.5, 1.0})
            for (const long cycle : {1L, 4L})
                for (const auto distribution :
                     {StreamDistribution::gaussian, StreamDistribution::laplace})
                    for (const auto kind :
                         {StepSchedule::Kind::constant, StepSchedule::Kind::inverse_sqrt}) {
                        Eigen::MatrixXd q(3, 1);
                        q << beta, 1, 1;
                        const PlanUse use{
                            {cycle}, {kind, 0.3, {}}, Eigen::VectorXd::Constant(3, own_weight), 1};
                        const double expected =
                            brute_force(use,
                                        own_weight * (1 - beta),
                                        11,
                                        distribution == StreamDistribution::laplace);
                        EXPECT_TRUE(relatively_near(
                            run_sensitivity_squared(one_sender(q, distribution), use, 11)(0),
                            expected,
                            1e-9));
                    }
}

TEST(RoundShifts, AreTheLargestOfARoundWhereContributionsPileUp) {
    Eigen::MatrixXd q(3, 1);
    q << 0, 1, 1;
    for (const auto distribution : {StreamDistribution::gaussian, StreamDistribution::laplace})
        for (const double own_weight : {0.25, 1.0}) {
            const PlanUse use{{2},
                              {StepSchedule::Kind::constant, 0.3, {}},
                              Eigen::VectorXd::Constant(3, own_weight),
                              1};
            // Unit changes in rounds 0, 2, 4, ... of 11, each kept with the weight's power.
            double expected = 0;
            for (int t = 0; t < 11; t += 2) expected += 0.3 * std::pow(own_weight, t);
            EXPECT_TRUE(relatively_near(
                largest_round_shifts(one_sender(q, distribution), use, 11)(0), expected, 1e-9));
        }
    const NoisePlan plan = private_plan({1, 2});
    EXPECT_EQ(largest_round_shifts(plan, {}, 5), Eigen::Vector2d(1, 1));
}

TEST(RunSensitivity, RefusesWhereNoBoundIsKnown) {
    Eigen::MatrixXd q(2, 2);
    q << 1, 1, 1, 0;  // the own copy carries a stream nobody else sees
    const PlanUse use{{}, {}, Eigen::VectorXd::Constant(2, 0.5), 1};
    EXPECT_THROW((void)run_sensitivity_squared(one_sender(q, StreamDistribution::gaussian), use, 3),
                 PrivacyError);
    q << 1, 0, 1, 0;
    NoisePlan plan = one_sender(q, StreamDistribution::gaussian);
    PlanUse twice = use;
    twice.gossip_steps = 2;
    plan.mechanism = "zip-dl";
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)run_sensitivity_squared(plan, twice, 3); }),
                 "gossip-steps: 2 is not possible with mechanism zip-dl"));
    plan.temporal = {TemporalFactor::Kind::dense, Eigen::MatrixXd::Identity(3, 3)};
    EXPECT_THROW((void)run_sensitivity_squared(plan, use, 3), PrivacyError);
}

TEST(RunSensitivity, OfNoiseOnGradientsIsThatOfTheTemporalFactor) {
    NoisePlan plan = private_plan({1, 2, 4});
    plan.temporal = {TemporalFactor::Kind::banded, Eigen::MatrixXd::Constant(8, 2, 0.5)};
    for (const long cycle : {1L, 3L})
        EXPECT_EQ(
            run_sensitivity_squared(plan, {{cycle}, {}, {}}, 8),
            Eigen::Vector3d::Constant(temporal_sensitivity_squared(plan.temporal, {cycle}, 8)));
    EXPECT_EQ(run_sensitivity_squared(plan, {}, 0), Eigen::Vector3d::Zero());
}

TEST(PatternSensitivity, HasTheLargestAsThatOfTheRun) {
    for (const auto distribution : {StreamDistribution::gaussian, StreamDistribution::laplace})
        for (const long cycle : {1L, 4L}) {
            const NoisePlan plan = one_sender(Eigen::Vector3d(-0.5, 1, 1), distribution);
            const PlanUse use{{cycle},
                              {StepSchedule::Kind::inverse_sqrt, 0.3, {}},
                              Eigen::Vector3d::Constant(0.5),
                              1};
            const Eigen::MatrixXd patterns = pattern_sensitivity_squared(plan, use, 11);
            EXPECT_EQ(patterns.cols(), cycle);
            EXPECT_EQ(patterns.rowwise().maxCoeff(), run_sensitivity_squared(plan, use, 11));
        }
}

TEST(LargestMessageVariance, IsThatOfTheLoudestMessage) {
    Eigen::MatrixXd q(3, 2);
    q << 9, 9, 1, 2, 3, 0.5;
    NoisePlan plan = one_sender(q, StreamDistribution::gaussian);
    plan.scale = 2;
    EXPECT_DOUBLE_EQ(largest_message_variance(plan)(0), 4 * 162);
    // A Laplace variable of scale 1 has variance 2.
    EXPECT_DOUBLE_EQ(largest_message_variance(
                         one_sender(Eigen::Vector3d(1, 3, 3), StreamDistribution::laplace))(0),
                     2 * 9);
}

TEST(SumHiding, IsSaidOfEveryNumberOfColluders) {
    const auto lines = statements_of(five_agents());
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_TRUE(contains(lines[0], "only the weighted sum of its neighbours' messages"));
    EXPECT_EQ(lines[1],
              "Secure sums, 1 colluder: nobody's message is learnt; at least 81% of each stays "
              "hidden, in sums of 3 or more messages.");
    EXPECT_EQ(lines[2],
              "Secure sums, 2 colluders: agents 0, 2 have the message of agent 1; agents 0, 1 (2 "
              "of 5) can lose their message this way in some of 2 rounds, 1 in every one.");
    EXPECT_EQ(lines[3], "Secure sums, 3 colluders or more: not computed.");
}

TEST(SumHiding, NamesACoalitionThatIsKnownToHaveAMessage) {
    SumHiding hiding = five_agents();
    hiding.against.resize(1);
    hiding.known = SumExample{{0, 1, 2, 3, 4, 5, 6, 7, 8}, {9, 10}, 0};
    const auto lines = statements_of(hiding);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[2],
              "Secure sums, 9 colluders: agents 0, 1, 2, 3, 4, 5, 6, 7, ... have the messages of "
              "agents 9, 10.");
}

TEST(SumHiding, SaysNothingMoreOnceEverybodyIsExposed) {
    SumHiding hiding = five_agents();
    hiding.against[1].rounds_exposed = {2, 2, 2, 2, 2};
    EXPECT_EQ(statements_of(hiding).size(), 3U);
}

TEST(SumHiding, OfNothingIsRefusedWithWhatToChange) {
    SumHiding hiding = five_agents();
    EXPECT_NO_THROW(require_hiding(hiding));
    hiding.asked = 2;
    EXPECT_NO_THROW(require_hiding(hiding));  // some in one round only, others never
    hiding.against[1].rounds_exposed = {2, 2, 2, 2, 1};
    EXPECT_NO_THROW(require_hiding(hiding));
    hiding.against[1].rounds_exposed = {2, 2, 2, 2, 2};
    const std::string text = message_of<ConfigError>([&] { require_hiding(hiding); });
    for (const char* part : {"secure-sum: on hides nothing",
                             "it must withstand 2 colluders",
                             "agents 0, 2 have the message of agent 1",
                             "--topology",
                             "--mixing-schedule",
                             "a smaller --coalition-size",
                             "--secure-sum off"})
        EXPECT_TRUE(contains(text, part));
    hiding.asked = 1;
    EXPECT_NO_THROW(require_hiding(hiding));
}

TEST(SumHiding, CallsAgentsByNumbers) {
    const std::vector<int> numbers{1, 2, 4, 5, 8};
    const SumHiding hiding = renumbered(five_agents(), numbers, 9);
    EXPECT_EQ(hiding.against[1].worst->colluders, (std::vector<int>{1, 4}));
    EXPECT_EQ(hiding.against[1].worst->exposed, std::vector<int>{2});
    EXPECT_EQ(hiding.against[1].rounds_exposed, (std::vector<long>{0, 2, 1, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(hiding.against[1].exposed_in(1), (std::vector<int>{1, 2}));
    EXPECT_EQ(hiding.against[1].exposed_in(2), std::vector<int>{1});
    EXPECT_TRUE(hiding.against[2].rounds_exposed.empty());
    EXPECT_FALSE(hiding.nothing());
}

using namespace test;

std::vector<std::string> statements_about(const NoisePlan& plan) {
    return statements_of(make_record(plan));
}

bool any_contains(const std::vector<std::string>& lines, const std::string& part) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

TEST(FirstPhase, IsOfEverybodyFromTheFirstRoundOn) {
    const PrivacyPhase phase =
        first_phase(private_plan({1, 2, 4}), std::vector<Exposure>{{0.1}, {0.2}, {0.3}}, {}, 12);
    EXPECT_EQ(phase.members.numbers, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(phase.sensitivity, (std::vector<double>{0.1, 0.2, 0.3}));
    EXPECT_EQ(phase.use.steps.first_round, 0);
    EXPECT_EQ(phase.rounds, 12);
    EXPECT_EQ(phase.key_epoch, 0U);
}

TEST(Statements, SayThatAllAgentsShareOneSeed) {
    EXPECT_TRUE(any_contains(statements_about(shared_seed_plan(4)), "All agents share one seed"));
    EXPECT_FALSE(any_contains(statements_about(private_plan({1, 1})), "share"));
    // One agent shares its seed with nobody.
    EXPECT_FALSE(any_contains(statements_about(shared_seed_plan(1)), "All agents share"));
}

TEST(Statements, NameNoRankThatKnowsMoreThanItsOwnGroups) {
    for (const NoisePlan& plan :
         {random_plan(make_graph(Topology::ring, 6), 4), private_plan({1, 1}), shared_seed_plan(4)})
        EXPECT_FALSE(any_contains(statements_about(plan), "ank 0"));
}

TEST(Statements, SayThatPeersAreUnauthenticatedOnlyWhereTheyAre) {
    PrivacyRecord record = make_record(private_plan({1, 1}));
    // Who does not say otherwise gets the warning.
    EXPECT_TRUE(any_contains(statements_of(record), "unauthenticated"));
    for (const char* authentication : {"roster 00ff", ""}) {
        record.authentication = authentication;
        EXPECT_FALSE(any_contains(statements_of(record), "unauthenticated"));
    }
}

TEST(Statements, SayThatReproducibleNoiseIsInsecure) {
    EXPECT_TRUE(
        any_contains(statements_of(make_record(private_plan({1, 1}), {Adjacency::agent, {}, true})),
                     "INSECURE"));
    EXPECT_FALSE(any_contains(statements_about(private_plan({1, 1})), "INSECURE"));
}

TEST(Statements, NameTheTrustedAggregator) {
    NoisePlan plan = blank_plan(3);
    plan.aggregation = Aggregation::trusted_mean;
    add_stream(plan, {0}, {1.0});
    EXPECT_TRUE(any_contains(statements_about(plan), "Trusted aggregator"));
}

TEST(Statements, SayThatNoNoiseIsNoPrivacy) {
    EXPECT_TRUE(any_contains(statements_about(no_noise(2)), "Epsilon is infinite"));
}

TEST(Statements, SayWhatLaplaceNoiseProtects) {
    NoisePlan plan = private_plan({1, 1});
    EXPECT_FALSE(any_contains(statements_about(plan), "Laplace"));
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_TRUE(any_contains(statements_about(plan), "clipped in L1 norm"));
}

TEST(Statements, CountTheRoundsThatWereDoneTwice) {
    PrivacyRecord record = resumed_record();
    EXPECT_TRUE(any_contains(statements_of(record), "2 phases with noise of their own"));
    EXPECT_TRUE(any_contains(statements_of(record), "; 10 rounds whose messages"));
    record.phases.back().use.steps.first_round = 39;
    EXPECT_TRUE(any_contains(statements_of(record), "; 1 round whose messages"));
    EXPECT_TRUE(any_contains(statements_of(record), "a failure counts in addition"));
    record.phases.back().use.steps.first_round = 40;
    EXPECT_TRUE(any_contains(statements_of(record), "whose losses add up."));
}

TEST(Statements, EndWithThoseAboutTheRun) {
    PrivacyRecord record = make_record(private_plan({1, 1}));
    record.more_statements = {"One.", "Two."};
    const auto lines = statements_of(record);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_EQ(lines[lines.size() - 2], "One.");
    EXPECT_EQ(lines.back(), "Two.");
}

TEST(Statements, AlwaysSayWhatIsNotCovered) {
    for (const NoisePlan& plan : {private_plan({1, 1}), shared_seed_plan(3), no_noise(2)}) {
        const auto lines = statements_about(plan);
        EXPECT_TRUE(any_contains(lines, "unauthenticated"));
        EXPECT_TRUE(any_contains(lines, "not private outputs"));
        EXPECT_TRUE(any_contains(lines, "step size"));
        EXPECT_FALSE(any_contains(lines, "one record"));
    }
    EXPECT_TRUE(any_contains(
        statements_of(make_record(private_plan({1, 1}), {Adjacency::record, {}, false})),
        "no amplification"));
}

TemporalFactor diagonal_factor(const std::vector<double>& diagonal) {
    TemporalFactor factor{TemporalFactor::Kind::banded,
                          Eigen::MatrixXd(std::ssize(diagonal), Eigen::Index{1})};
    for (std::size_t t = 0; t < diagonal.size(); ++t)
        factor.lower(static_cast<Eigen::Index>(t), 0) = diagonal[t];
    return factor;
}

TEST(RoundLevels, AreTheSizesOfNoiseOfTheRoundsSoFar) {
    const TemporalFactor factor = diagonal_factor({0.5, 2, 0.5, 1});
    EXPECT_EQ(round_levels(factor, {}, 4), (std::vector<RoundLevel>{{4, 1}, {1, 1}, {0.25, 2}}));
    EXPECT_EQ(round_levels(factor, {}, 1), (std::vector<RoundLevel>{{0.25, 1}}));
    EXPECT_TRUE(round_levels({}, {}, 4).empty());
    EXPECT_TRUE(round_levels(factor, {.cycle = 2}, 4).empty());
    EXPECT_TRUE(round_levels(diagonal_factor({1, 1 + 1e-12}), {}, 2).empty());
    EXPECT_THROW((void)round_levels(factor, {}, 5), PrivacyError);
    // What these rounds reveal together, with and without secret batches.
    for (const bool poisson : {false, true}) {
        const Participation participation{.cycle = 1, .poisson = poisson};
        EXPECT_DOUBLE_EQ(temporal_sensitivity_squared(factor, participation, 4), 5.5);
        EXPECT_DOUBLE_EQ(temporal_sensitivity_squared(factor, participation, 2), 4.25);
    }
    EXPECT_EQ(largest_round_shift(factor, {}, 4), 2);
}

TEST(RoundLevels, OfSecretBatchesAreFewAndInNoCycle) {
    std::vector<double> all;
    for (long t = 0; t <= most_round_levels; ++t) all.push_back(1 + static_cast<double>(t));
    const Participation poisson{.cycle = 1, .poisson = true};
    EXPECT_THROW(require_separate_rounds(diagonal_factor(all), poisson, std::ssize(all)),
                 ConfigError);
    all.pop_back();
    EXPECT_NO_THROW(require_separate_rounds(diagonal_factor(all), poisson, std::ssize(all)));
    const Participation in_turn{.cycle = 2, .poisson = true};
    EXPECT_THROW(require_separate_rounds(diagonal_factor(all), in_turn, std::ssize(all)),
                 ConfigError);
}

}  // namespace
}  // namespace sotto
