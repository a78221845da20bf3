#include "sotto/privacy/exposure.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

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

}  // namespace
}  // namespace sotto
