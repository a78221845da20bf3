#include "commands/sweep/sweep_grid.hpp"

#include <gtest/gtest.h>

#include <set>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

/// Of all candidates of all cells that have a choice.
std::vector<SweepTraining> all_validation(const SweepConfig& config,
                                          const std::vector<SweepCell>& cells) {
    std::vector<SweepTraining> all;
    for (std::size_t c = 0; c < cells.size(); ++c)
        for (std::size_t k = 0; !cells[c].scales.empty() && k < cells[c].candidates.size(); ++k)
            for (auto& training : validation_trainings(config, cells, c, k))
                all.push_back(std::move(training));
    return all;
}

SweepConfig two_variants() {
    SweepConfig config;
    config.variants = {{"quiet", {{"mechanism", {"none"}}, {"step-size", {"0.1"}}}},
                       {"loud",
                        {{"mechanism", {"ldp"}},
                         {"epsilon", {"1", "10"}},
                         {"rounds", {"5", "7"}},
                         {"step-size", {"0.1", "0.2", "0.3"}},
                         {"graph-seed", {"seed"}},
                         {"test-data", {"a.svm"}}}}};
    config.seeds = {"1", "2"};
    return config;
}

TEST(SweepGrid, IsTheProductOfTheValuesOfEachVariant) {
    const auto cells = sweep_cells(two_variants());
    ASSERT_EQ(cells.size(), 1U + 2 * 2);
    EXPECT_EQ(cells[0].candidates.size(), 1U);
    EXPECT_TRUE(cells[0].scales.empty()) << "one value is no choice";
    ASSERT_EQ(cells[1].scales.size(), 1U);
    EXPECT_EQ(cells[1].scales[0].values.size(), 6 + 3U + 6);
    std::set<std::string> seen;
    for (std::size_t c = 1; c < cells.size(); ++c) {
        EXPECT_EQ(cells[c].variant, "loud");
        EXPECT_EQ(cells[c].candidates.size(), 3U);
        ASSERT_EQ(cells[c].varied.size(), 2U);
        seen.insert(cells[c].varied[0].second + "/" + cells[c].varied[1].second);
    }
    EXPECT_EQ(seen, (std::set<std::string>{"1/5", "1/7", "10/5", "10/7"}));
}

TEST(SweepGrid, ChoosesOnHeldOutTrainingDataAndMeasuresOnTestData) {
    const SweepConfig config = two_variants();
    const auto cells = sweep_cells(config);
    const auto validation = all_validation(config, cells);
    ASSERT_EQ(validation.size(), 4U * 3);
    for (const SweepTraining& training : validation) {
        EXPECT_EQ(training.ini.find("test-data"), std::string::npos);
        expect_contains(training.ini, "test-fraction = 0.2\n");
        expect_contains(training.ini, "\nseed = 101\n");
        expect_contains(training.ini, "graph-seed = 101\n");
    }
    const auto tests = test_trainings(config, cells, 2, 1);
    ASSERT_EQ(tests.size(), 2U);
    expect_contains(tests[1].ini, "test-data = a.svm\n");
    expect_contains(tests[1].ini, "step-size = 0.2\n");
    expect_contains(tests[1].ini, "graph-seed = 2\n");
    std::set<std::string> keys;
    for (const auto& training : validation) keys.insert(training.key);
    for (const auto& training : tests) keys.insert(training.key);
    EXPECT_EQ(keys.size(), validation.size() + tests.size());
}

TEST(SweepGrid, HasOneTrainingOfAllBudgetsWhereThereIsNoNoise) {
    const auto keys = [](const SweepSetting& mechanism, const SweepSetting& varied) {
        SweepConfig config;
        config.variants = {{"all", {mechanism, varied}}};
        config.seeds = {"1"};
        const auto cells = sweep_cells(config);
        std::set<std::string> found;
        for (std::size_t c = 0; c < cells.size(); ++c)
            found.insert(test_trainings(config, cells, c, 0).at(0).key);
        return found.size();
    };
    const SweepSetting none{"mechanism", {"none"}}, epsilon{"epsilon", {"1", "10", "20"}};
    EXPECT_EQ(keys(none, epsilon), 1U);
    EXPECT_EQ(keys(none, {"delta", {"1e-5", "1e-6"}}), 1U);
    EXPECT_EQ(keys(none, {"clip-norm", {"0.1", "1"}}), 2U);
    EXPECT_EQ(keys({"mechanism", {"ldp"}}, epsilon), 3U);
    EXPECT_EQ(keys({"mechanism", {"nothing"}}, epsilon), 3U) << "each fails by itself";
    EXPECT_EQ(keys({"rounds", {"5"}}, epsilon), 3U) << "the mechanism that is the default";
}

TEST(SweepGrid, RefusesWhatCannotBe) {
    SweepConfig config = two_variants();
    config.plot = "mechanism";
    expect_contains(message_of<ConfigError>([&] { (void)sweep_cells(config); }),
                    "plot: mechanism: 'none'");
    config.plot = "l2";
    expect_contains(message_of<ConfigError>([&] { (void)sweep_cells(config); }), "plot: 'l2'");
    config.plot = "rounds";
    EXPECT_EQ(sweep_cells(config).size(), 5U);
    config = two_variants();
    config.choose_by = "test_los";
    expect_contains(message_of<ConfigError>([&] { (void)sweep_cells(config); }), "test_loss");
    config = two_variants();
    config.validation_fraction = 1;
    expect_contains(message_of<ConfigError>([&] { (void)sweep_cells(config); }),
                    "validation-fraction");
}

TEST(SweepGrid, NamesACellByWhatTellsItApart) {
    const auto cells = sweep_cells(two_variants());
    EXPECT_EQ(cell_name(cells[0], ""), "quiet");
    EXPECT_EQ(cell_name(cells[2], ""), "loud, epsilon 1, rounds 7");
    EXPECT_EQ(cell_name(cells[2], "epsilon"), "loud, rounds 7");
    ASSERT_NE(value_of(cells[2].fixed, "rounds"), nullptr);
    EXPECT_EQ(*value_of(cells[2].fixed, "rounds"), "7");
    EXPECT_EQ(value_of(cells[2].fixed, "step-size"), nullptr);
}

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
    EXPECT_EQ(scale_values("delta", {"0.5", "0.9"}, 1), (Texts{"0.2778", "0.5", "0.9"}))
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
