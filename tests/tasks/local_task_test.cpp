#include "tasks/local_task.hpp"

#include <cmath>

#include "config/run_fixtures.hpp"
#include "tasks/task_data.hpp"
#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::on;
using test::TemporaryFolder;

TEST(TargetFacts, AreThoseOfTheMostFrequentClassOfTheTestData) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("data", "+1 1:1\n-1 2:1\n+1 3:1\n-1 1:1\n"));
    config.test_data = folder.write("test", "+1 1:1\n-1 1:1\n-1 1:1\n-1 1:1\n");
    for (const int agents : {1, 2}) {
        const TargetFacts facts = build(config, agents).targets;
        EXPECT_EQ(facts.constant_accuracy, 0.75) << "test records that all have count once";
        EXPECT_EQ(facts.test_records, 4);
        EXPECT_NEAR(facts.constant_loss, -0.75 * std::log(0.75) - 0.25 * std::log(0.25), 1e-15);
    }
}

TEST(TargetFacts, CountTestRecordsOfAllAgentsThatHaveTheirOwn) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.path("own%r"));
    for (const char* agent : {"0", "1"})
        (void)folder.write(std::string("own") + agent, "0 1:1\n1 2:1\n2 3:1\n");
    (void)folder.write("test0", "0 1:1\n1 2:1\n");
    (void)folder.write("test1", "1 1:1\n2 2:1\n");
    config.test_data = folder.path("test%r");
    config.task = "softmax";
    const TargetFacts facts = build(config, 2).targets;
    EXPECT_EQ(facts.test_records, 4);
    EXPECT_EQ(facts.constant_accuracy, 0.5);
}

TEST(TargetFacts, CountAgentsWhoseRecordsAreOfOneClass) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.path("own%r"));
    (void)folder.write("own0", "-1 1:1\n-1 2:1\n-1 1:1\n-1 3:1\n-1 3:1\n");
    (void)folder.write("own1", "-1 1:1\n+1 2:1\n-1 1:1\n+1 3:1\n+1 3:1\n");
    config.test_data = folder.write("test", "+1 1:1\n-1 1:1\n");
    EXPECT_EQ(build(config, 2).targets.one_class_agents, 1);
}

TEST(TargetFacts, OfValuesAreTheirVariance) {
    const auto network = make_memory_network(1, 1);
    Dataset records;
    records.target = Target::value;
    records.labels = Eigen::Vector4d(1, 2, 3, 6);
    LocalData data;
    data.shape.target = Target::value;
    data.agents.push_back({records, std::make_shared<const Dataset>(records)});
    const TargetFacts facts = target_facts(*network, data);
    EXPECT_TRUE(std::isnan(facts.constant_accuracy));
    EXPECT_DOUBLE_EQ(facts.constant_loss, (4 + 1 + 0 + 9) / 4.0);
}

}  // namespace
}  // namespace sotto
