#include "run/options/default_final_gossip.hpp"

#include <gtest/gtest.h>

#include "run/options/train_options.hpp"

namespace sotto {
namespace {

/// L; nothing where it follows from the rest.
std::optional<int> final_gossip(const OptionTexts& given) {
    return read_train_config(given).plan.final_gossip;
}

TEST(DefaultFinalGossip, IsThereWhereNobodySaysOtherwise) {
    EXPECT_FALSE(final_gossip({}));
    EXPECT_FALSE(final_gossip({{"secure-sum", "off"}, {"mixing-schedule", "fixed"}}));
    EXPECT_EQ(final_gossip({{"final-gossip", "0"}}), 0);
    EXPECT_EQ(final_gossip({{"final-gossip", "3"}, {"secure-sum", "on"}}), 3);
}

TEST(DefaultFinalGossip, IsNotThereWhereItWouldMakeFiguresLessExact) {
    for (const auto& [option, text] : OptionTexts{{"secure-sum", "on"},
                                                  {"view", "node:0"},
                                                  {"record-view", "1"},
                                                  {"plan", "plan.json"},
                                                  {"mixing-schedule", "one-peer"}})
        EXPECT_EQ(final_gossip({{option, text}}), 0) << option;
}

}  // namespace
}  // namespace sotto
