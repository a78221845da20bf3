#include "options/run_options.hpp"

#include <gtest/gtest.h>

#include "options/option_set.hpp"

namespace sotto {
namespace {

OptionSet<TrainConfig> run_option_set() { return OptionSet<TrainConfig>().add(run_options()); }

TEST(RecordedViews, FillTwoMembersAndComeBackAsOneText) {
    const TrainConfig config = run_option_set().read({{"record-view", "eavesdropper,3"}});
    EXPECT_EQ(config.record_views, (std::vector<int>{3}));
    EXPECT_TRUE(config.record_wire);
    EXPECT_EQ(find_option(run_option_set().written(config), "record-view")->text, "3,eavesdropper");
    EXPECT_EQ(find_option(run_option_set().written(), "record-view")->text, std::nullopt);
}

TEST(ResumedRun, IsADirectoryAndAgentsThatLeave) {
    const TrainConfig config = run_option_set().read({{"resume", "runs/a"}, {"without", "4,1"}});
    ASSERT_TRUE(config.resume);
    EXPECT_EQ(config.resume->directory, "runs/a");
    EXPECT_EQ(config.resume->without, (std::vector<int>{1, 4}));
    EXPECT_EQ(find_option(run_option_set().written(config), "without")->text, "1,4");
    EXPECT_FALSE(run_option_set().read({}).resume);
    EXPECT_EQ(find_option(run_option_set().written(), "resume")->text, std::nullopt);
}

TEST(OptimalityGap, IsLeftOpenUnlessItIsGiven) {
    EXPECT_EQ(run_option_set().read({}).optimality_gap, std::nullopt);
    EXPECT_EQ(run_option_set().read({{"optimality-gap", "off"}}).optimality_gap, false);
}

}  // namespace
}  // namespace sotto
