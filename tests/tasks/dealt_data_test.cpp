#include "tasks/dealt_data.hpp"

#include <algorithm>
#include <set>

#include "learn/reader_fixtures.hpp"
#include "learn/table_fixtures.hpp"
#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::features_of;
using test::message_of;
using test::on;

/// 40 persons with one to four records.
Dataset visits(TaskConfig& config) {
    std::string text = "patient,dose,sick\n";
    for (int person = 0; person < 40; ++person)
        for (int visit = 0; visit <= person % 4; ++visit)
            text += "p" + std::to_string(person) + "," + std::to_string(person + visit) + "," +
                    std::to_string(person % 2) + "\n";
    config.table.label = "sick";
    config.table.unit = "patient";
    const Table table = test::table_of(text);
    return with_classes(encoded(table, shape_of(table, config.table), {}), {0, 1});
}

TEST(Deal, TrainsOnNobodyWhoIsTestedOn) {
    TaskConfig config = on("x");
    const Dataset data = visits(config);
    const Deal deal(data, config, Scaling(config, std::nullopt));
    const auto persons = [](const Dataset& records) {
        return std::set<int>(records.writers.begin(), records.writers.end());
    };
    const auto test = deal.test(nullptr);
    EXPECT_EQ(persons(*test).size(), 8U) << "a fifth of the persons";
    std::set<int> seen = persons(*test);
    Eigen::Index records = test->records();
    for (const auto& rows : deal_rows(data, deal.train(), config, 3)) {
        const AgentData agent = deal.agent(rows, test);
        EXPECT_EQ(agent.units.size(), persons(agent.shard).size());
        for (const auto& unit : agent.units)
            for (const Eigen::Index row : unit)
                EXPECT_EQ(agent.shard.writers[static_cast<std::size_t>(row)],
                          agent.shard.writers[static_cast<std::size_t>(unit.front())]);
        for (const int person : persons(agent.shard)) EXPECT_TRUE(seen.insert(person).second);
        records += agent.shard.records();
    }
    EXPECT_EQ(seen.size(), 40U);
    EXPECT_EQ(records, data.records());
    config.partition = PartitionSpec{.kind = PartitionSpec::Kind::by_writer};
    expect_contains(
        message_of<ConfigError>([&] { (void)deal_rows(data, deal.train(), config, 3); }),
        "by-writer");
}

TEST(Scaling, IsByTheDataOrByBounds) {
    TaskConfig config = on("x");
    config.table.label = "y";
    const Table table = test::table_of("a,y\n0,0\n10,1\n20,1\n");
    const TableShape shape = shape_of(table, config.table);
    const Dataset data = encoded(table, shape, {});
    const auto rows = test::all_rows(2);
    const auto scaled = [&] {
        return features_of(standardised(data, *Scaling(config, shape).of(data, rows)));
    };
    EXPECT_TRUE(Scaling(config, shape).by_data());
    EXPECT_EQ(scaled(), Eigen::RowVector3d(-1, 1, 3)) << "of the first two";
    config.table.bounds = parse_bounds("a=0:10");
    EXPECT_FALSE(Scaling(config, shape).by_data());
    EXPECT_EQ(scaled(), Eigen::RowVector3d(-1, 1, 1));
    config.table.bounds.clear();
    config.standardise = Standardise::none;
    EXPECT_EQ(scaled(), Eigen::RowVector3d(0, 10, 20));
    EXPECT_FALSE(Scaling(config, std::nullopt).of(data, rows).has_value()) << "no table";
}

}  // namespace
}  // namespace sotto
