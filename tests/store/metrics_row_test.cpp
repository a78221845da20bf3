#include "store/metrics_row.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace sotto {
namespace {

TEST(MetricsRow, IsALineUnderTheHead) {
    MetricsRow row{.round = 7, .epsilon = 1.5, .elapsed_seconds = 0.5};
    row.evaluation.consensus_distance = 0.25;
    row.evaluation.records = {std::nullopt, 1000};
    EXPECT_EQ(metrics_head(),
              "round,epsilon,test_loss,test_loss_worst,test_loss_mean_model,test_accuracy,"
              "test_accuracy_mean_model,train_loss_mean_model,optimality_gap,"
              "optimality_gap_agents,consensus_distance,elapsed_seconds,gradient_seconds,"
              "noise_seconds,exchange_seconds,mix_seconds,models,test_records,train_records");
    EXPECT_EQ(metrics_line(row), "7,1.5,,,,,,,,,0.25,0.5,,,,,last,all,1000");
    row.phases = RoundSeconds{1, 2, 3, 4};
    row.epsilon = infinity;
    row.stage = ModelStage::averaged;
    EXPECT_EQ(metrics_line(row), "7,,,,,,,,,,0.25,0.5,1,2,3,4,averaged,all,1000");
}

TEST(MetricColumns, HaveNamesOfTheirOwn) {
    std::set<std::string> names;
    for (const MetricColumn& column : metric_columns()) {
        EXPECT_TRUE(names.insert(column.name).second) << column.name;
        EXPECT_FALSE(std::string(column.chart).empty()) << column.name;
    }
    EXPECT_EQ(std::ranges::count(metrics_head(), ','), std::ssize(names) + 3);
}

TEST(ModelStages, HaveNames) {
    EXPECT_EQ(name_of(ModelStage::last), "last");
    EXPECT_EQ(name_of(ModelStage::averaged), "averaged");
    EXPECT_EQ(name_of(ModelStage::consensus), "consensus");
}

}  // namespace
}  // namespace sotto
