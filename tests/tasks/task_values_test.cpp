#include "tasks/task_values.hpp"

#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::on;

LocalValues values_of(const TaskConfig& config, const Membership& members) {
    const auto network = make_memory_network(members.size(), 1);
    return read_local_values(config, *network, members);
}

TEST(TaskValues, TakeEveryColumnAndDealEveryRowOnce) {
    const test::TemporaryFolder folder;
    TaskConfig config = on(folder.write("table.csv", "1,2\n3,4\n5,6\n7,8\n"));
    config.partition = PartitionSpec{PartitionSpec::Kind::iid};
    const LocalValues values = values_of(config, Membership::everybody(2));
    Eigen::RowVector2d sum = Eigen::RowVector2d::Zero();
    Eigen::Index records = 0;
    for (const Dataset& shard : values.shards) {
        EXPECT_EQ(shard.feature_count(), 2);
        records += shard.records();
        sum += static_cast<double>(shard.records()) *
               mean_features(shard, test::all_rows(shard.records())).transpose();
    }
    EXPECT_EQ(records, 4);
    EXPECT_EQ(sum, Eigen::RowVector2d(16, 20));
    ASSERT_TRUE(values.mean);
    EXPECT_EQ(*values.mean, Eigen::Vector2d(4, 5));
    expect_contains(values.description, "4 records to average");
}

TEST(TaskValues, GoByTheNumbersOfAgentsThatAreThere) {
    TaskConfig config = on("synthetic");
    const LocalValues all = values_of(config, Membership::everybody(5));
    const LocalValues some = values_of(config, Membership{5, {1, 4}});
    ASSERT_EQ(some.shards.size(), 2U);
    const auto mean_of = [](const Dataset& shard) {
        return mean_features(shard, test::all_rows(shard.records()));
    };
    EXPECT_EQ(mean_of(some.shards[0]), mean_of(all.shards[1]));
    EXPECT_EQ(mean_of(some.shards[1]), mean_of(all.shards[4]));
    ASSERT_TRUE(some.mean);
    EXPECT_LE((*some.mean - (mean_of(all.shards[1]) + mean_of(all.shards[4])) / 2).norm(), 1e-15);
}

TEST(TaskValues, OfOneFileAnAgentAreAsWideAsTheWidest) {
    const test::TemporaryFolder folder;
    (void)folder.write("own0", "+1 1:2\n");
    (void)folder.write("own1", "+1 3:6\n");
    const LocalValues values = values_of(on(folder.path("own%r")), Membership::everybody(2));
    for (const Dataset& shard : values.shards) EXPECT_EQ(shard.feature_count(), 3);
    ASSERT_TRUE(values.mean);
    EXPECT_EQ(*values.mean, Eigen::Vector3d(1, 0, 3));
}

TEST(TaskValues, HaveNothingToTestOn) {
    TaskConfig config = on("synthetic");
    config.test_data = "x.csv";
    expect_contains(
        message_of<ConfigError>([&] { (void)values_of(config, Membership::everybody(2)); }),
        "test-data: x.csv is given");
}

}  // namespace
}  // namespace sotto
