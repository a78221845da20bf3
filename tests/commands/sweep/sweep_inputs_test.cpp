#include "commands/sweep/sweep_inputs.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"
#include "commands/sweep/sweep_grid.hpp"

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
