#include "tasks/data_words.hpp"

#include "core/temporary_folder.hpp"
#include "tasks/task_fixtures.hpp"

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

TEST(OwnFileNames, AreThoseOfThePatternHere) {
    const test::TemporaryFolder folder;
    for (const char* name : {"site10.csv", "site2.csv"}) (void)folder.write(name, "a\n");
    EXPECT_EQ(own_file_names(test::on(folder.path("site*.csv")), 3),
              (Texts{"site2.csv", "site10.csv", ""}));
    EXPECT_EQ(own_file_names(test::on("x/a%r.svm,y/b%r.svm"), 2),
              (Texts{"a0.svm and b0.svm", "a1.svm and b1.svm"}));
    EXPECT_TRUE(own_file_names(test::on("a9a.gz"), 2).empty());
}

TEST(Understood, IsSaidOfTablesInAFewLines) {
    LocalData local;
    TaskConfig config = test::on("folder/site%r.csv");
    EXPECT_TRUE(
        understood(test::on("a9a.gz"), local, Membership::everybody(1), std::vector{0}).empty());
    local.shape.target = Target::value;
    local.shape.features = 1;
    TableShape& table = local.shape.table.emplace();
    table.features = {{"rooms", ColumnShape::Kind::numbers}};
    table.label = "price";
    Dataset shard;
    shard.source = "folder/site11.csv";
    shard.target = Target::value;
    shard.labels = Eigen::Vector2d(1, 2);
    for (int a = 0; a < 14; ++a)
        local.agents.push_back({shard, std::make_shared<const Dataset>(shard)});
    std::vector<int> agents(14);
    for (int a = 0; a < 14; ++a) agents[static_cast<std::size_t>(a)] = a;
    local.file_names = own_file_names(config, 14);
    const Texts lines = understood(config, local, Membership::everybody(14), agents);
    ASSERT_EQ(lines.size(), 2 + 12 + 1U);
    EXPECT_EQ(lines[0], "predicts \"price\" (a number) from 1 column (1 feature)");
    EXPECT_EQ(lines[1], "1 of numbers: rooms");
    EXPECT_EQ(lines[13], "agent 11 is site11.csv: 2 records to train; 2 to test");
    EXPECT_EQ(lines[14], "and 2 more agents");
    const std::vector<int> here{3};
    local.agents.resize(1);
    const Texts apart = understood(config, local, Membership::everybody(5), here);
    ASSERT_EQ(apart.size(), 2 + 5U);
    EXPECT_EQ(apart[4], "agent 2 is site2.csv") << "its counts are not this process's to know";
    EXPECT_EQ(apart[5], "agent 3 is site3.csv: 2 records to train; 2 to test");
    config.data = "one.csv";
    EXPECT_EQ(understood(config, local, Membership::everybody(5), here).size(), 2U);
}

}  // namespace
}  // namespace sotto
