#include "options/default_final_gossip.hpp"

#include "options/train_options.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;

/// As settled by one process; nothing where L follows from the rest.
std::optional<int> settled(const OptionTexts& given) {
    TrainConfig config = read_train_config(given);
    const auto network = make_memory_network(3, 1);
    settle_final_gossip(config, *network);
    EXPECT_FALSE(config.plan.default_final_gossip);
    return config.plan.final_gossip;
}

TEST(DefaultFinalGossip, IsThereWhereNobodySaysOtherwise) {
    EXPECT_FALSE(settled({}));
    EXPECT_FALSE(settled({{"secure-sum", "off"}}));
    EXPECT_FALSE(settled({{"final-gossip", "auto"}, {"secure-sum", "on"}}));
    EXPECT_EQ(settled({{"final-gossip", "0"}}), 0);
    EXPECT_EQ(settled({{"final-gossip", "3"}, {"view", "node:0"}}), 3);
}

TEST(DefaultFinalGossip, IsNotThereWhereItWouldMakeFiguresLessExact) {
    for (const auto& [option, text] : OptionTexts{{"secure-sum", "on"}, {"view", "node:0"}})
        EXPECT_EQ(settled({{option, text}}), 0) << option;
    EXPECT_FALSE(settled({{"record-view", "1"}})) << "recording changes nothing";
}

TEST(DefaultFinalGossip, IsOneForEveryCommandThatPlans) {
    for (const OptionTexts& given :
         {OptionTexts{}, {{"final-gossip", "auto"}}, {{"final-gossip", "4"}}}) {
        PlanConfig config = read_train_config(given).plan;
        settle_final_gossip(config, given, false);
        EXPECT_EQ(config.final_gossip, settled(given));
        EXPECT_FALSE(config.default_final_gossip);
    }
    PlanConfig config;
    settle_final_gossip(config, {}, true);
    EXPECT_EQ(config.final_gossip, 0);
}

TEST(DefaultFinalGossip, IsInTheConfigurationThatARunLeaves) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::logistic_config(folder, 6, "pairs", 30);
    config.plan.default_final_gossip = true;
    config.run_directory = folder.path("run");
    const TrainResult result = test::train(config);
    EXPECT_GT(result.final_gossip, 0);
    expect_contains(read_file(folder.path("run/config.ini")), "final-gossip = auto\n");
    EXPECT_LT(result.evaluation.consensus_distance, result.last.consensus_distance);
}

TEST(DefaultFinalGossip, IsNoOptionThatRanksCouldDisagreeOn) {
    // What rank 0 alone is asked for settles it for all.
    const std::string plain = agreement_lines(read_train_config({}));
    EXPECT_EQ(agreement_lines(read_train_config({{"view", "node:0"}})), plain);
    EXPECT_NE(agreement_lines(read_train_config({{"final-gossip", "0"}})), plain);
}

}  // namespace
}  // namespace sotto
