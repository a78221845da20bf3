#include "commands/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "run/run_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

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
    const auto validation = validation_trainings(config, cells);
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

TEST(SweepGrid, TakesWhatDependsOnAChangedFileForAnother) {
    const test::TemporaryFolder directory;
    const auto keys_with = [&](const std::string& content) {
        SweepConfig config;
        config.variants = {
            {"files", {{"data", {"absent," + directory.write("data.svm", content)}}}},
            {"none", {{"rounds", {"5"}}}}};
        config.files = file_digests(config);
        EXPECT_EQ(config.files.size(), 1U);
        const auto cells = sweep_cells(config);
        return std::pair{test_trainings(config, cells, 0, 0).at(0).key,
                         test_trainings(config, cells, 1, 0).at(0).key};
    };
    // More than is read at once.
    const std::string content(3'000'000, 'a');
    const auto before = keys_with(content), again = keys_with(content),
               changed = keys_with(content.substr(1) + "b");
    EXPECT_EQ(before, again);
    EXPECT_NE(before.first, changed.first);
    EXPECT_EQ(before.second, changed.second);
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

SweepRow row(double loss) {
    SweepOutcome outcome;
    for (const std::string& metric : sweep_metrics()) outcome.metrics[metric] = loss;
    return {{}, outcome};
}

TEST(SweepTables, ShowTheDrawnOptionAlways) {
    SweepConfig config;
    config.variants = {{"all", {{"epsilon", {"3"}}}}};
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(1);
    EXPECT_EQ(cells_csv(config, result).find("variant,epsilon,"), std::string::npos);
    config.plot = "epsilon";
    result.cells = sweep_cells(config);
    EXPECT_EQ(cells_csv(config, result).find("variant,epsilon,"), 0U);
}

TEST(SweepMeans, HaveStudentsIntervals) {
    CellResult cell;
    cell.test = {row(1), row(2), row(4)};
    const auto mean = mean_of(cell, "test_loss");
    ASSERT_TRUE(mean);
    EXPECT_NEAR(mean->mean, 7.0 / 3, 1e-15);
    // With two degrees of freedom t = (2p - 1) sqrt(2 / (4 p (1 - p))); standard deviation
    // sqrt(7/3).
    const double t = 0.95 * std::sqrt(2 / 0.0975);
    EXPECT_NEAR(mean->half_width, t * std::sqrt(7.0 / 9), 1e-12);
}

TEST(SweepMeans, AreMissingWhereATrainingIs) {
    CellResult cell;
    cell.test = {row(1), row(2)};
    cell.test[1].outcome->status = SweepOutcome::Status::diverged;
    EXPECT_FALSE(mean_of(cell, "test_loss"));
    cell.test[1].outcome.reset();
    EXPECT_FALSE(mean_of(cell, "test_loss"));
    cell.test = {row(not_a_number)};
    EXPECT_FALSE(mean_of(cell, "test_loss"));
    cell.test = {row(3)};
    ASSERT_TRUE(mean_of(cell, "test_loss"));
    EXPECT_TRUE(std::isnan(mean_of(cell, "test_loss")->half_width));
}

TEST(SweepTables, QuoteWhatCommasWouldCut) {
    SweepConfig config;
    config.variants = {{"corn, horizon \"200\"", {{"mechanism", {"corn"}}}}};
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(1);
    result.results[0].candidate = 0;
    result.results[0].test = {row(0.5)};
    expect_contains(cells_csv(config, result), "\n\"corn, horizon \"\"200\"\"\",no,1,1,0,0,0.5,,");
    expect_contains(trainings_csv(config, result),
                    "\n\"corn, horizon \"\"200\"\"\",,test,done,0.5");
}

}  // namespace
}  // namespace sotto
