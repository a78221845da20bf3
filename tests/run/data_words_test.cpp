#include "run/data_words.hpp"

#include "run/task_fixtures.hpp"

namespace sotto {
namespace {

using Texts = std::vector<std::string>;

TEST(LabelTexts, AreThoseOfTheTableOrNumbers) {
    EXPECT_EQ(label_texts(std::nullopt, {-1, 3}), (Texts{"-1", "3"}));
    TableShape table;
    EXPECT_EQ(label_texts(table, {0, 5}), (Texts{"0", "5"}));
    table.label_names = {"no", "yes"};
    EXPECT_EQ(label_texts(table, {0, 1}), table.label_names);
}

TEST(Understood, IsSaidOfTablesInAFewLines) {
    LocalData local;
    TaskConfig config = test::on("site*.csv");
    EXPECT_TRUE(understood(config, local, Membership::everybody(1), std::vector{0}).empty());
    local.shape.target = Target::value;
    local.shape.features = 1;
    TableShape& table = local.shape.table.emplace();
    table.features = {{"rooms", ColumnShape::Kind::numbers}};
    table.label = "price";
    Dataset shard;
    shard.source = "folder/site1.csv";
    shard.target = Target::value;
    shard.labels = Eigen::Vector2d(1, 2);
    for (int a = 0; a < 14; ++a)
        local.agents.push_back({shard, std::make_shared<const Dataset>(shard)});
    std::vector<int> agents(14);
    for (int a = 0; a < 14; ++a) agents[static_cast<std::size_t>(a)] = a;
    const Texts lines = understood(config, local, Membership::everybody(14), agents);
    ASSERT_EQ(lines.size(), 2 + 12 + 1U);
    EXPECT_EQ(lines[0], "predicts \"price\" (a number) from 1 column (1 feature)");
    EXPECT_EQ(lines[1], "1 of numbers: rooms");
    EXPECT_EQ(lines[13], "agent 11 is site1.csv: 2 records to train; 2 to test");
    EXPECT_EQ(lines[14], "and 2 more agents");
    config.data = "one.csv";
    EXPECT_EQ(understood(config, local, Membership::everybody(14), agents).size(), 2U);
}

}  // namespace
}  // namespace sotto
