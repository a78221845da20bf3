#include "planning/temporal_choice.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "fuzz/support.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::random_topography;

constexpr long large = 10'000'000;

TEST(TemporalChoice, IsWhatAgentsCanAfford) {
    const Topography topography = random_topography(6);
    for (const std::string mechanism : {"mafalda", "space-time"}) {
        PlanConfig config = config_of(mechanism);
        EXPECT_EQ(with_temporal(config, choose_temporal(config, topography, {}, 1)).temporal.kind,
                  TemporalShape::Kind::dense);
        config.batch_size = 1;
        const ShapeChoice choice = choose_temporal(config, topography, {}, large);
        EXPECT_FALSE(choice.keeps_all());
        ASSERT_EQ(choice.candidates.size(), 2U);
        EXPECT_EQ(choice.candidates[0].shape.band, (1L << 28) / 6 / large);
        const PlanConfig settled = with_temporal(config, choice);
        EXPECT_FALSE(settled.choose_temporal);
        EXPECT_EQ(settled.temporal, choice.best());
    }
}

TEST(TemporalChoice, CountsAllRecordsWhereBatchesAreAllOfThem) {
    const Topography topography = random_topography(6);
    PlanConfig config = config_of("mafalda");
    config.rounds = 100;
    config.batch_size = std::nullopt;
    EXPECT_FALSE(choose_temporal(config, topography, {}, 200'000).keeps_all());
    EXPECT_FALSE(choose_temporal(config, topography, {1, 2, 3, 4, 5, 40}, 200'000).keeps_all());
    EXPECT_TRUE(choose_temporal(config, topography, {1, 2, 3, 4, 5, 60}, 200'000).keeps_all());
}

TEST(TemporalChoice, IsNotAskedWhereNothingIsOpen) {
    const Topography topography = random_topography(6);
    EXPECT_TRUE(choose_temporal(config_of("ldp"), topography, {}, large).candidates.empty());
    PlanConfig config = config_of("mafalda");
    config.choose_temporal = false;
    config.temporal = {TemporalShape::Kind::banded, 3, 7};
    EXPECT_TRUE(choose_temporal(config, topography, {}, large).candidates.empty());
    EXPECT_EQ(with_temporal(config, {}).temporal, config.temporal);
    config = config_of("mafalda");
    config.plan_file = "plan.json";
    EXPECT_TRUE(choose_temporal(config, topography, {}, large).candidates.empty());
}

TEST(TemporalChoice, BoundsTheBandsOfAnOpenCycle) {
    const Topography topography = random_topography(6);
    PlanConfig config = config_of("mafalda");
    config.adjacency = Adjacency::record_add_remove;
    config.participation = {.cycle = 1, .poisson = true};
    config.choose_cycle = true;
    config.rounds = 200;
    config.batch_size = 1;
    const ShapeChoice choice = choose_temporal(config, topography, {}, large);
    ASSERT_EQ(choice.candidates.size(), 1U);
    EXPECT_EQ(choice.best(), (TemporalShape{TemporalShape::Kind::banded, 4, 0}));
    EXPECT_EQ(choose_temporal(config, topography, {}, 1).best().band, 200);
}

TEST(TemporalChoice, IsThatOfProcessZeroForAllWhoLeaveItOpen) {
    const auto network = make_memory_network(6, 1);
    const Topography topography = random_topography(6);
    PlanConfig open = config_of("mafalda");
    open.batch_size = 1;
    open.temporal.restart = 15;
    const AgreedTemporal agreed = agree_on_temporal(open, *network, topography, {}, large, true);
    EXPECT_FALSE(agreed.config.choose_temporal);
    EXPECT_EQ(agreed.config.temporal, agreed.choice.best());
    EXPECT_EQ(agreed.config.temporal.restart, 15);
    PlanConfig said = open;
    said.choose_temporal = false;
    said.temporal = {TemporalShape::Kind::banded, 2, 0};
    const AgreedTemporal same = agree_on_temporal(said, *network, topography, {}, large, true);
    EXPECT_TRUE(same.choice.candidates.empty());
    EXPECT_EQ(same.config.temporal, said.temporal);
    expect_contains(message_of<NetworkError>([&] {
                        (void)agree_on_temporal(open, *network, topography, {}, large, false);
                    }),
                    "rank 0, which says none");
}

/// What process 1, which solves no plans, makes of process 0's word.
AgreedTemporal heard(const std::string& said) {
    fuzz::ScriptedNetwork network(2, 1, said, [](int) { return std::vector<std::string>(2); });
    return agree_on_temporal(config_of("mafalda"), network, random_topography(2), {}, large, false);
}

TEST(TemporalChoice, OfAPeerIsAShapeOrRefused) {
    EXPECT_EQ(heard("banded:3").config.temporal,
              (TemporalShape{TemporalShape::Kind::banded, 3, 0}));
    EXPECT_FALSE(heard("one-lag").config.choose_temporal);
    for (const std::string said : {"auto",
                                   "banded:",
                                   "banded:-1",
                                   "banded:1e9",
                                   "banded:9999999999999999999",
                                   "dense, begun anew every 3 rounds",
                                   "\n"})
        EXPECT_THROW((void)heard(said), ConfigError) << said;
    EXPECT_THROW((void)heard(std::string(100, 'x')), NetworkError);
}

}  // namespace
}  // namespace sotto
