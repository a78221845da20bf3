#include "commands/sweep/sweep_scale.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"

namespace sotto {
namespace {

using Texts = std::vector<std::string>;

Texts scale_values(const std::string& option, const Texts& given, long further) {
    return sweep_scale({option, given}, further).values;
}

TEST(SweepScale, GoesOnByTheRatioOfTheTwoOutermostValues) {
    EXPECT_EQ(scale_values("step-size", {"0.1", "0.05", "0.02"}, 2),
              (Texts{"0.0032", "0.008", "0.02", "0.05", "0.1", "0.2", "0.4"}));
    EXPECT_EQ(scale_values("step-size", {"1", "2", "8"}, 1), (Texts{"0.5", "1", "2", "8", "32"}))
        << "a real number may be below 1";
    EXPECT_EQ(scale_values("step-size", {"0.3", "0.1"}, 1),
              (Texts{"0.03333", "0.1", "0.3", "0.9"}));
}

TEST(SweepScale, KeepsGivenValuesAsTheyAreWritten) {
    EXPECT_EQ(scale_values("step-size", {"5e-2", "0.10"}, 0), (Texts{"5e-2", "0.10"}));
    EXPECT_EQ(scale_values("step-size", {"1e-1", "0.1", "0.2"}, 1),
              (Texts{"0.05", "1e-1", "0.2", "0.4"}))
        << "a number that is there twice";
}

TEST(SweepScale, OfWholeNumbersHasWholeNumbers) {
    EXPECT_EQ(scale_values("hidden", {"2", "3"}, 3), (Texts{"1", "2", "3", "5", "7", "10"}));
    EXPECT_EQ(scale_values("batch-size", {"8", "16", "all"}, 1), (Texts{"4", "8", "16", "32"}));
    EXPECT_EQ(scale_values("local-steps", {"10", "11"}, 2),
              (Texts{"8", "9", "10", "11", "12", "13"}));
    EXPECT_EQ(scale_values("final-gossip", {"1", "2"}, 2), (Texts{"0", "1", "2", "4", "8"}));
}

TEST(SweepScale, EndsWhereTheOptionEnds) {
    EXPECT_EQ(scale_values("client-probability", {"0.3", "0.6"}, 3),
              (Texts{"0.0375", "0.075", "0.15", "0.3", "0.6", "1"}));
    EXPECT_EQ(scale_values("momentum", {"0.5", "0.9"}, 1),
              (Texts{"0.2778", "0.5", "0.9", "0.9999"}));
    EXPECT_EQ(scale_values("clip-quantile", {"0.5", "0.9"}, 1), (Texts{"0.2778", "0.5", "0.9"}))
        << "1 is not allowed";
}

TEST(SweepScale, HasNoRatioBesideZeroAndBelowIt) {
    EXPECT_EQ(scale_values("l2", {"0", "0.001", "0.01"}, 1), (Texts{"0", "0.001", "0.01", "0.1"}));
    EXPECT_EQ(scale_values("l2", {"0", "0.01"}, 1), (Texts{"0", "0.01"}));
    EXPECT_EQ(scale_values("l2", {"-2", "-1"}, 1), (Texts{"-2", "-1"}));
}

TEST(SweepScale, NeedsTwoNumbers) {
    EXPECT_EQ(scale_values("step-size", {"0.1"}, 3), Texts());
    EXPECT_EQ(scale_values("mechanism", {"ldp", "corn"}, 3), Texts());
    EXPECT_EQ(scale_values("clip-norm", {"auto", "0.1"}, 3), Texts());
}

TEST(SweepScale, EndsWhereNumbersEnd) {
    EXPECT_EQ(scale_values("max-bytes", {"1e300", "1e305"}, 5).back(), "1e305");
}

TEST(SweepNeighbours, AreBesideACandidateInEveryOptionByItself) {
    SweepCell cell;
    cell.candidates = {{{"step-size", "0.1"}, {"l2", "0"}}, {{"step-size", "0.2"}, {"l2", "1"}}};
    cell.scales = {{"step-size", {"0.1", "0.2", "0.4"}}, {"l2", {"0", "1"}}};
    const auto beside = neighbours_of(cell, 1);
    ASSERT_EQ(beside.size(), 4U);
    EXPECT_EQ(beside[0], (OptionValues{{"step-size", "0.1"}, {"l2", "1"}}));
    EXPECT_EQ(beside[1], (OptionValues{{"step-size", "0.4"}, {"l2", "1"}}));
    EXPECT_EQ(beside[2], (OptionValues{{"step-size", "0.2"}, {"l2", "0"}}));
    EXPECT_EQ(beside[3], std::nullopt) << "the scale ends";
    EXPECT_EQ(candidate_with(cell, cell.candidates[1]), 1U);
    EXPECT_EQ(candidate_with(cell, *beside[1]), std::nullopt);
    EXPECT_TRUE(has_untried_values(cell)) << "0.4";
    cell.candidates.push_back(*beside[1]);
    EXPECT_FALSE(has_untried_values(cell));
}

TEST(SweepNeighbours, AWordHasNone) {
    SweepCell cell;
    cell.candidates = {{{"clip-norm", "auto"}}, {{"clip-norm", "1"}}, {{"clip-norm", "2"}}};
    cell.scales = {{"clip-norm", {"1", "2"}}};
    EXPECT_TRUE(neighbours_of(cell, 0).empty());
    EXPECT_EQ(neighbours_of(cell, 1).size(), 2U);
}

}  // namespace
}  // namespace sotto
