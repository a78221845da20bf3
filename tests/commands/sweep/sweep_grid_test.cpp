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

}  // namespace
}  // namespace sotto
