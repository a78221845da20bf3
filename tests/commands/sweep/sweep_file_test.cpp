#include "commands/sweep/sweep_file.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"
#include "commands/sweep/sweep_grid.hpp"
#include "config/run_fixtures.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;
using test::message_of;

const std::string file =
    "data = a.svm\nepsilon = 1 2\nseed = 1 2 3\nchoose = step-size l2\nvalidation-fraction = 0.3\n"
    "keep-runs = off\nthreads = 4\n[one]\nmechanism = ldp\nepsilon = 5\n[two, loud]\n"
    "mechanism = corn\nutility = \"horizon:20\"\n";

TEST(SweepFile, GivesEverySectionItsSettings) {
    const SweepConfig config = read_sweep({}, file, "x.ini");
    ASSERT_EQ(config.variants.size(), 2U);
    EXPECT_EQ(config.variants[0].name, "one");
    EXPECT_EQ(config.variants[1].name, "two, loud");
    const auto values = [&](std::size_t variant, const std::string& option) {
        for (const SweepSetting& setting : config.variants[variant].settings)
            if (setting.option == option) return setting.values;
        return std::vector<std::string>();
    };
    EXPECT_EQ(values(0, "epsilon"), (std::vector<std::string>{"5"}));
    EXPECT_EQ(values(1, "epsilon"), (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(values(1, "utility"), (std::vector<std::string>{"horizon:20"}));
    EXPECT_TRUE(values(0, "seed").empty());
}

TEST(SweepFile, SetsWhatIsOfTheSweepItself) {
    const SweepConfig config = read_sweep({}, file, "x.ini");
    EXPECT_EQ(config.seeds, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(config.choose, (std::vector<std::string>{"step-size", "l2"}));
    EXPECT_EQ(config.validation_fraction, 0.3);
    EXPECT_FALSE(config.keep_runs);
    EXPECT_EQ(config.threads, 4);
    const SweepConfig plain = read_sweep({}, "epsilon = 1\n", "x.ini");
    EXPECT_EQ(plain.variants.at(0).name, "all");
    EXPECT_EQ(plain.choose, SweepConfig{}.choose);
    EXPECT_EQ(plain.threads, 0);
    EXPECT_EQ(plain.choose_further, 6);
    EXPECT_EQ(read_sweep({}, "choose-further = 0\n", "x.ini").choose_further, 0);
}

TEST(SweepFile, GivesWayToTheCommandLine) {
    const SweepConfig config = read_sweep({{"epsilon", "7"},
                                           {"seed", "9 10"},
                                           {"keep-runs", "on"},
                                           {"threads", "2"},
                                           {"choose-by", "epsilon"}},
                                          file,
                                          "x.ini");
    EXPECT_EQ(config.seeds, (std::vector<std::string>{"9", "10"}));
    EXPECT_TRUE(config.keep_runs);
    EXPECT_EQ(config.threads, 2);
    EXPECT_EQ(config.choose_by, "epsilon");
    for (const SweepVariant& variant : config.variants)
        for (const SweepSetting& setting : variant.settings)
            if (setting.option == "epsilon") {
                EXPECT_EQ(setting.values, (std::vector<std::string>{"7"}));
            }
}

TEST(SweepFile, RefusesWhatDoesNotBelongThere) {
    const auto refusal = [](const std::string& text, const OptionTexts& given = {}) {
        return message_of<ConfigError>([&] { (void)read_sweep(given, text, "x.ini"); });
    };
    expect_contains(refusal("epsilom = 1\n"), "x.ini: 'epsilom' is not an option of a sweep");
    expect_contains(refusal("epsilom = 1\n"), "did you mean 'epsilon'?");
    expect_contains(refusal("resume = a\n"), "(it belongs to a single run)");
    expect_contains(refusal("json = a\n"), "(it belongs to a single run)");
    expect_contains(refusal("epsilon = 1 1\n"), "x.ini: epsilon: the value 1 is given twice");
    expect_contains(refusal("epsilon =\n"), "a value is needed");
    expect_contains(refusal("[a]\nthreads = 2\n"), "before the first [section]");
    expect_contains(refusal("keep-runs = maybe\n"), "keep-runs");
    expect_contains(refusal("choose-further = -1\n"), "choose-further");
    expect_contains(refusal("plot = a b\n"), "plot: one value is needed, not 2");
    expect_contains(refusal("choose = seed\n"), "choose: 'seed' is not an option of the trainings");
    expect_contains(refusal("epsilon = 1\n", {{"threads", "5000"}}), "--threads");
}

}  // namespace
}  // namespace sotto::cli

namespace sotto {
namespace {

TEST(SweepInputs, OfTrainingsThatDependOnAChangedFileAreOthers) {
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

TEST(SweepInputs, DoNotDependOnWhatDoesNotChangeResults) {
    const test::TemporaryFolder directory;
    const auto key_with = [](const std::vector<SweepSetting>& settings) {
        SweepConfig config;
        config.variants = {{"all", settings}};
        config.files = file_digests(config);
        EXPECT_TRUE(config.files.empty());
        return test_trainings(config, sweep_cells(config), 0, 0).at(0).key;
    };
    // An account that changes with every training.
    const std::string account = directory.write("account", "3 of 10");
    EXPECT_EQ(key_with({{"rounds", {"5"}}, {"budget-account", {account}}}),
              key_with({{"rounds", {"5"}}}));
}

}  // namespace
}  // namespace sotto
