#include "commands/compare/compare_job.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "commands/sweep/sweep_fixtures.hpp"
#include "config/run_fixtures.hpp"
#include "core/files.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TEST(ComparedMechanism, IsANameOrAFileWithOptionsOfItsOwn) {
    const auto all = parse_compared_mechanisms(
        "--mechanisms", "ldp,pairs+coalition-size=2+utility=horizon:50,a/R.npy");
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].options, (OptionTexts{{"mechanism", "ldp"}}));
    EXPECT_EQ(all[1].label, "pairs+coalition-size=2+utility=horizon:50");
    EXPECT_EQ(
        all[1].options,
        (OptionTexts{{"mechanism", "pairs"}, {"coalition-size", "2"}, {"utility", "horizon:50"}}));
    EXPECT_EQ(all[2].options, (OptionTexts{{"covariance", "a/R.npy"}}));
}

TEST(ComparedMechanism, ThatDoesNotExistIsRefused) {
    const auto refusal = [](const std::string& text) {
        return message_of<ConfigError>(
            [&] { (void)parse_compared_mechanisms("--mechanisms", text); });
    };
    expect_contains(refusal("ldp,cron"), "did you mean 'corn'");
    expect_contains(refusal("ldp,corn,ldp"), "'ldp' is given twice");
    expect_contains(refusal("ldp+size=2"),
                    "'size=2' of 'ldp+size=2' is not an option of a training");
    expect_contains(refusal("pairs+coalition-size"), "OPTION=VALUE");
}

CompareConfig compare_config(const std::string& mechanisms) {
    CompareConfig config;
    config.mechanisms = parse_compared_mechanisms("--mechanisms", mechanisms);
    config.common = {{"agents", "6"},
                     {"topology", "ring"},
                     {"epsilon", "2"},
                     {"rounds", "30"},
                     {"batch-size", "16"},
                     {"final-gossip", "0"}};
    return config;
}

std::vector<ComparedFigures> figures_of(const CompareConfig& config) {
    std::vector<ComparedFigures> figures;
    for (const ComparedMechanism& mechanism : config.mechanisms)
        figures.push_back(compared_figures(config, mechanism));
    return figures;
}

TEST(ComparedFigures, AreAtTheSameEpsilonAndSayWhoIsKeptOut) {
    const TemporaryFolder folder;
    Eigen::MatrixXd covariance = 3 * Eigen::MatrixXd::Identity(6, 6);
    for (int u = 0; u < 6; ++u) covariance(u, (u + 1) % 6) = covariance((u + 1) % 6, u) = -1;
    write_npy(folder.path("R.npy"), covariance);
    const auto figures = figures_of(
        compare_config("ldp,corn,pairs,none," + folder.path("R.npy") + ",pairs+coalition-size=9"));
    const ComparedFigures &ldp = figures[0], &corn = figures[1], &pairs = figures[2];
    EXPECT_NEAR(ldp.noise, 1, 1e-12);
    EXPECT_NEAR(ldp.outsider, 2, 1e-9);
    EXPECT_NEAR(ldp.curious, 2, 1e-9);
    EXPECT_LT(corn.noise, pairs.noise);
    EXPECT_LT(pairs.noise, 1);
    EXPECT_NEAR(corn.outsider, 2, 1e-6);
    EXPECT_TRUE(std::isinf(corn.curious)) << "its seed is everybody's";
    EXPECT_LT(pairs.outsider, 2);
    EXPECT_NEAR(pairs.curious, 2, 1e-3);
    EXPECT_TRUE(std::isinf(figures[3].outsider));
    EXPECT_EQ(figures[3].noise, 0);
    EXPECT_NEAR(figures[4].outsider, 2, 1e-6);
    EXPECT_TRUE(std::isfinite(figures[4].curious)) << "seeds of pairs make it";
    EXPECT_GT(figures[4].curious, 2);
    expect_contains(figures[5].problem, "coalition-size");
}

TEST(ComparedFigures, AreNotKnownWhereTheRecordsOfAgentsSayThePlan) {
    CompareConfig config = compare_config("pairs");
    config.common["adjacency"] = "record-add-remove";
    config.common["batch-size"] = "0.2";
    expect_contains(figures_of(config).front().problem, "batch-size");
    config.train = true;
    const ComparedFigures row = figures_of(config).front();
    EXPECT_EQ(row.problem, "") << "trainings have the data";
    EXPECT_TRUE(std::isnan(row.noise) && std::isnan(row.curious));
    EXPECT_EQ(compared_trainings(config, {row}).variants.size(), 1U);
}

TEST(ComparedTrainings, AreASweepOfThoseThatHaveAPlan) {
    CompareConfig config = compare_config("ldp,pairs+step-size=0.5,pairs+coalition-size=9");
    config.common["step-size"] = "0.1";
    config.step_sizes = {"0.01", "0.1"};
    config.seeds = {"3", "4"};
    auto figures = figures_of(config);
    const SweepConfig sweep = compared_trainings(config, figures);
    ASSERT_EQ(sweep.variants.size(), 2U);
    EXPECT_EQ(sweep.seeds, config.seeds);
    const auto cells = sweep_cells(sweep);
    ASSERT_EQ(cells.size(), 2U);
    EXPECT_EQ(cells[0].variant, "ldp");
    EXPECT_EQ(cells[0].candidates.size(), 2U);
    EXPECT_EQ(*value_of(cells[0].fixed, "epsilon"), "2");
    EXPECT_EQ(*value_of(cells[1].fixed, "step-size"), "0.5");

    SweepResult result;
    result.cells = cells;
    result.results.resize(2);
    result.results[0].candidate = 1;
    result.results[0].test = {test::row(1), test::row(3)};
    add_trainings(figures, result, "nowhere");
    ASSERT_TRUE(figures[0].loss.has_value());
    EXPECT_EQ(figures[0].loss->mean, 2);
    EXPECT_EQ(figures[0].step_size, "0.1");
    EXPECT_FALSE(figures[2].loss.has_value());
}

}  // namespace
}  // namespace sotto
