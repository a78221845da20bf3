#include "tasks/task_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"
#include "learn/table_fixtures.hpp"
#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::features_of;
using test::message_of;
using test::on;
using test::TemporaryFolder;
using test::tested_records;
using test::trained_records;

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
    config.standardise = Standardise::public_moments;
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
    config.standardise = Standardise::private_moments;
    EXPECT_FALSE(Scaling(config, shape).by_data());
    EXPECT_EQ(scaled(), Eigen::RowVector3d(-1, 1, 1)) << "until it is learnt";
    config.known_scaling = Standardisation{{{.mean = 5, .deviation = 10}}};
    EXPECT_EQ(scaled(), Eigen::RowVector3d(-0.5, 0.5, 1.5));
    config.known_scaling->features.clear();
    expect_contains(message_of<DataError>([&] { (void)scaled(); }), "scaling is of 0 features");
    config.known_scaling.reset();
    config.table.bounds.clear();
    config.standardise = Standardise::none;
    EXPECT_EQ(scaled(), Eigen::RowVector3d(0, 10, 20));
    EXPECT_FALSE(Scaling(config, std::nullopt).of(data, rows).has_value()) << "no table";
}

TEST(Scaling, MustBeChosenForColumnsOfNumbers) {
    TaskConfig config = on("x");
    config.table.label = "y";
    const auto refusal = [&](const std::string& text) {
        const TableShape shape = shape_of(test::table_of(text), config.table);
        return message_of<ConfigError>([&] { (void)Scaling(config, shape); });
    };
    const std::string message = refusal("a,sex,b,y\n0,m,1,no\n1,f,2,yes\n");
    for (const char* part : {"standardise: not given",
                             ": a, b (",
                             "--bounds",
                             "costs nothing",
                             "--standardise private",
                             "5% of mu^2",
                             "--standardise public",
                             "no guarantee counts",
                             "--standardise none"})
        expect_contains(message, part);
    std::string many = "y";
    for (int k = 0; k < 40; ++k) many += ",a" + std::to_string(k);
    many += "\nyes";
    for (int k = 0; k < 40; ++k) many += ",1";
    EXPECT_LT(refusal(many + "\n").size(), message.size() + 100) << "a few names";
    expect_contains(refusal("sex,y\nm,0.5\nf,1.5\n"), ": y (");
    const TableShape categories = shape_of(test::table_of("sex,y\nm,no\nf,yes\n"), config.table);
    EXPECT_NO_THROW((void)Scaling(config, categories));
    EXPECT_NO_THROW((void)Scaling(config, std::nullopt));
}

TEST(TaskData, DealsEveryRecordOnceToAnAgentOrTheTestSet) {
    const TemporaryFolder folder;
    constexpr int records = 200;
    TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(records)));
    for (const auto& partition : {PartitionSpec{PartitionSpec::Kind::iid, 0, 1},
                                  PartitionSpec{PartitionSpec::Kind::dirichlet, 0.5, 1},
                                  PartitionSpec{PartitionSpec::Kind::by_label, 0, 2}})
        for (const int agents : {1, 2, 7}) {
            config.partition = partition;
            const LocalTask task = build(config, agents);
            ASSERT_EQ(task.objectives.size(), static_cast<std::size_t>(agents));
            EXPECT_TRUE(task.has_records);
            EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(records + 1));
            std::vector<int> seen = tested_records(*task.objectives.front());
            EXPECT_EQ(seen.size(), records / 5u);
            for (std::size_t u = 0; u < task.objectives.size(); ++u) {
                EXPECT_EQ(tested_records(*task.objectives[u]),
                          tested_records(*task.objectives.front()));
                const auto own = trained_records(*task.objectives[u]);
                EXPECT_EQ(task.records[u], static_cast<Eigen::Index>(own.size()));
                EXPECT_EQ(task.objectives[u]->records(), task.records[u]);
                seen.insert(seen.end(), own.begin(), own.end());
            }
            std::ranges::sort(seen);
            std::vector<int> all(records);
            std::iota(all.begin(), all.end(), 0);
            EXPECT_EQ(seen, all) << name_of(partition) << ", " << agents << " agents";
        }
}

TEST(TaskData, DependsOnItsSeedOnly) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(100)));
    const auto shards = [&] {
        const LocalTask task = build(config, 4);
        std::vector<std::vector<int>> result;
        for (const auto& objective : task.objectives) result.push_back(trained_records(*objective));
        return result;
    };
    const auto first = shards();
    EXPECT_EQ(shards(), first);
    config.seed = 2;
    EXPECT_NE(shards(), first);
}

TEST(TaskData, MakesSyntheticDataOfItsOwn) {
    const LocalTask task = build(on("synthetic"), 20);
    EXPECT_EQ(task.initial.size(), 124);
    const Eigen::Index total =
        std::accumulate(task.records.begin(), task.records.end(), Eigen::Index{0});
    EXPECT_EQ(total, 32561 - std::llround(32561 * 0.2));
    expect_contains(task.description, std::to_string(total));
    EXPECT_EQ(task.objectives[3]->test_loss(task.initial, 0, 1).records, std::llround(32561 * 0.2));
}

TEST(TaskData, ReadsSeveralFilesAsOne) {
    const TemporaryFolder folder;
    const std::string first = folder.write("a.txt", "+1 1:1\n-1 2:1\n+1 3:1\n");
    const std::string second = folder.write("b.txt", "-1 4:1\n+1 5:1\n");
    TaskConfig config = on(first + "," + second);
    config.test_fraction = 0.4;
    const LocalTask task = build(config, 1);
    auto seen = trained_records(*task.objectives[0]);
    const auto tested = tested_records(*task.objectives[0]);
    EXPECT_EQ(tested.size(), 2u);
    seen.insert(seen.end(), tested.begin(), tested.end());
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(TaskData, DealsAllRecordsWhenTestDataAreGiven) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(30)));
    config.test_data = folder.write("test.txt", "+1 2:1\n-1 5:1\n+1 5:1\n");
    const LocalTask task = build(config, 3);
    EXPECT_EQ(std::accumulate(task.records.begin(), task.records.end(), Eigen::Index{0}), 30);
    EXPECT_EQ(tested_records(*task.objectives[2]), (std::vector<int>{1, 4}));
    EXPECT_EQ(task.objectives[2]->test_loss(task.initial, 0, 1).records, 3);

    config.test_data = folder.write("wide.txt", "+1 31:1\n-1 1:1\n");
    const auto message = message_of<DataError>([&] { (void)build(config, 3); });
    expect_contains(message, "wide.txt");
    expect_contains(message, "31");
}

/// Records of these labels, each with the feature of its label.
std::string records_of(const std::vector<int>& labels, int each) {
    std::string text;
    for (int i = 0; i < each; ++i)
        for (const int label : labels)
            text += std::to_string(label) + " " + std::to_string(label) + ":1\n";
    return text;
}

/// Of one agent in the order of its records.
Eigen::VectorXd labels_of_agent(const LocalData& data, std::size_t a) {
    return data.agents.at(a).shard.labels;
}

LocalData read(const TaskConfig& config, int agents) {
    const auto network = make_memory_network(agents, 1);
    return read_local_data(config, *network, Membership::everybody(agents));
}

TEST(TaskData, CodesLabelsOverAllAgentsFilesAndNotFileByFile) {
    const TemporaryFolder folder;
    (void)folder.write("own0", records_of({1, 2}, 5));
    (void)folder.write("own1", records_of({3, 4}, 5));
    (void)folder.write("own2", records_of({5, 6}, 5));
    TaskConfig config = on(folder.path("own%r"));
    config.test_data = folder.write("test", records_of({3, 4}, 2));
    const LocalData data = read(config, 3);
    EXPECT_EQ(data.shape.labels, (LabelSet{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(data.classes(), 6);
    EXPECT_EQ(labels_of_agent(data, 0).head(2), Eigen::Vector2d(0, 1));
    EXPECT_EQ(labels_of_agent(data, 1).head(2), Eigen::Vector2d(2, 3));
    EXPECT_EQ(labels_of_agent(data, 2).head(2), Eigen::Vector2d(4, 5));
    EXPECT_EQ(data.agents[0].test->labels, Eigen::Vector4d(2, 3, 2, 3));
    ASSERT_EQ(data.statements.size(), 1U);
    expect_contains(data.statements[0], "labels occur");

    // The same of files that are joined.
    TaskConfig joined = on(folder.path("own0") + "," + folder.path("own1"));
    joined.test_data = folder.path("test");
    joined.partition = PartitionSpec{PartitionSpec::Kind::iid};
    const LocalData both = read(joined, 1);
    EXPECT_EQ(both.shape.labels, (LabelSet{1, 2, 3, 4}));
    EXPECT_EQ(labels_of_agent(both, 0).maxCoeff(), 3);
    EXPECT_EQ(both.agents[0].test->labels, Eigen::Vector4d(2, 3, 2, 3));
}

TEST(TaskData, TakesAnAgentOfOneClassWhereOthersHaveTwo) {
    const TemporaryFolder folder;
    for (const auto& labels : {std::vector<int>{1, 2}, {0, 1}, {-1, 1}}) {
        (void)folder.write("own0", "# all of one class\n" + std::string("1 1:1\n1 2:1\n"));
        (void)folder.write(
            "own1", std::to_string(labels[0]) + " 1:1\n" + std::to_string(labels[1]) + " 2:1\n");
        TaskConfig config = on(folder.path("own%r"));
        config.test_data = folder.path("own1");
        const LocalData data = read(config, 2);
        EXPECT_EQ(data.classes(), 2);
        const double first = labels[0] == 1 ? -1 : 1;
        EXPECT_EQ(labels_of_agent(data, 0), Eigen::Vector2d(first, first));
        EXPECT_EQ(labels_of_agent(data, 1), Eigen::Vector2d(-1, 1));
        EXPECT_NO_THROW((void)build(config, 2));
    }
}

TEST(TaskData, RefusesDataOfOneClassAltogether) {
    const TemporaryFolder folder;
    for (const int u : {0, 1}) (void)folder.write("own" + std::to_string(u), records_of({7}, 5));
    for (const char* task : {"logistic", "softmax", "mlp"}) {
        TaskConfig config = on(folder.path("own%r"));
        config.task = task;
        expect_contains(message_of<DataError>([&] { (void)build(config, 2); }),
                        "all records are of one class, label 7");
    }
}

TEST(TaskData, RefusesATestLabelThatNoTrainingDataHave) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("train", records_of({1, 2, 3}, 5)));
    config.task = "softmax";
    config.test_data = folder.write("unseen", "1 1:1\n4 2:1\n");
    const auto message = message_of<DataError>([&] { (void)build(config, 2); });
    expect_contains(message, "unseen: record 2 has label 4, which no training data have");
    expect_contains(message, "(allowed: 1, 2, 3)");
}

TEST(TaskData, KeepsTheClassesOfARunThatIsTakenUp) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("train", records_of({1, 3}, 5)));
    config.known_labels = {1, 2, 3};
    config.known_features = 9;
    const LocalData data = read(config, 1);
    EXPECT_EQ(data.classes(), 3);
    EXPECT_EQ(data.shape.features, 9);
    EXPECT_EQ(data.agents[0].shard.labels.maxCoeff(), 2) << "label 3 is still class 2";
    config.known_labels = {1, 2};
    expect_contains(message_of<DataError>([&] { (void)read(config, 1); }), "has label 3");
}

TEST(TaskData, ComparesColumnsOfAllAgentsByName) {
    const TemporaryFolder folder;
    (void)folder.write("own0", "age,dose,effect\n50,2,10\n60,3,20\n");
    (void)folder.write("own1", "effect,age,dose\n30,70,4\n40,80,5\n");
    TaskConfig config = on(folder.path("own%r"));
    config.task = "mlp";
    config.table.label = "effect";
    config.table.target = TargetKind::value;
    config.standardise = Standardise::none;
    config.test_data = folder.write("test", "dose,effect,age\n6,50,90\n7,60,95\n");
    const LocalData data = read(config, 2);
    Eigen::Matrix2d expected;
    expected << 70, 80, 4, 5;
    EXPECT_EQ(test::features_of(data.agents[1].shard), expected);
    EXPECT_EQ(labels_of_agent(data, 1), Eigen::Vector2d(30, 40));
    expected << 90, 95, 6, 7;
    EXPECT_EQ(test::features_of(*data.agents[0].test), expected);
    EXPECT_EQ(data.agents[1].test->labels, Eigen::Vector2d(50, 60));

    (void)folder.write("own1", "effect,weight,dose\n30,70,4\n40,80,5\n");
    const auto message = message_of<DataError>([&] { (void)read(config, 2); });
    expect_contains(message, "own1");
    expect_contains(message, "it alone has \"weight\"; it lacks \"age\"");
    (void)folder.write("own1", "70,4,30\n80,5,40\n");
    expect_contains(message_of<DataError>([&] { (void)read(config, 2); }), "header");
    TaskConfig averaged = on(folder.path("own%r"));
    averaged.task = "averaging";
    expect_contains(message_of<DataError>([&] { (void)build(averaged, 2); }), "header");
}

TEST(TaskData, KnowsWhetherAgentsHaveTestRecordsOfTheirOwn) {
    const TemporaryFolder folder;
    for (const int u : {0, 1}) {
        (void)folder.write("own" + std::to_string(u), records_of({1, 2}, 5 + u));
        (void)folder.write("test" + std::to_string(u), records_of({1, 2}, 1 + u));
    }
    TaskConfig config = on(folder.path("own%r"));
    EXPECT_TRUE(build(config, 2).own_tests);
    config.test_data = folder.path("own0");
    EXPECT_FALSE(build(config, 2).own_tests);
    config.test_data = folder.path("test%r");
    const LocalData own = read(config, 2);
    EXPECT_TRUE(own.own_tests);
    EXPECT_EQ(own.agents[0].test->records(), 2);
    EXPECT_EQ(own.agents[1].test->records(), 4) << "not agent 0's file for everybody";
    config.data = folder.path("own0");
    const LocalData shared = read(config, 2);
    EXPECT_TRUE(shared.own_tests);
    EXPECT_EQ(shared.agents[1].test->records(), 4);
    EXPECT_FALSE(build(on(folder.path("own0")), 2).own_tests);
}

TEST(TaskData, GivesEveryAgentItsOwnFile) {
    const TemporaryFolder folder;
    // Agent u: 10 (u+1) records in features from 1 to 10 (u+1).
    for (int u = 0; u < 3; ++u)
        (void)folder.write("agent" + std::to_string(u) + ".txt",
                           test::records_with_own_feature(10 * (u + 1)));
    TaskConfig config = on(folder.path("agent%r.txt"));
    const LocalTask task = build(config, 3);
    EXPECT_EQ(task.records, (std::vector<Eigen::Index>{8, 16, 24}));
    EXPECT_EQ(task.initial.size(), 31);
    for (std::size_t u = 0; u < 3; ++u) {
        auto seen = trained_records(*task.objectives[u]);
        const auto tested = tested_records(*task.objectives[u]);
        EXPECT_EQ(tested.size(), 2 * (u + 1));
        seen.insert(seen.end(), tested.begin(), tested.end());
        std::ranges::sort(seen);
        std::vector<int> all(10 * (u + 1));
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(seen, all);
        EXPECT_EQ(task.objectives[u]->dimension(), 31);
    }
    config.test_data = folder.write("test.txt", "+1 1:1\n-1 30:1\n");
    const LocalTask tested = build(config, 3);
    EXPECT_EQ(tested.records, (std::vector<Eigen::Index>{10, 20, 30}));
    EXPECT_EQ(tested_records(*tested.objectives[0]), (std::vector<int>{0, 29}));
    // The fourth agent has no file.
    expect_contains(message_of<DataError>([&] { (void)build(config, 4); }), "agent3.txt");
}

/// LEAF JSON: user u has u+1 records, all of them with feature u only.
std::string leaf_text(int users) {
    std::string names, samples, data;
    for (int u = 0; u < users; ++u) {
        const std::string comma = u > 0 ? "," : "";
        names += comma + "\"w" + std::to_string(u) + "\"";
        samples += comma + std::to_string(u + 1);
        std::string x, y;
        for (int i = 0; i <= u; ++i) {
            x += i > 0 ? ",[" : "[";
            for (int k = 0; k < users; ++k) x += (k > 0 ? "," : "") + std::to_string(k == u);
            x += "]";
            y += (i > 0 ? "," : "") + std::to_string((u + i) % 2);
        }
        data += comma + "\"w" + std::to_string(u) + "\":{\"x\":[" + x + "],\"y\":[" + y + "]}";
    }
    return "{\"users\":[" + names + "],\"num_samples\":[" + samples + "],\"user_data\":{" + data +
           "}}";
}

TEST(TaskData, ByWriterKeepsWritersTogether) {
    const TemporaryFolder folder;
    constexpr int users = 12;
    for (const std::string task : {"softmax", "mlp", "logistic"}) {
        TaskConfig config = on(folder.write("all.json", leaf_text(users)));
        config.task = task;
        config.test_data = folder.path("all.json");
        for (const int each : {1, 2, 3}) {
            config.partition = {.kind = PartitionSpec::Kind::by_writer, .writers_per_agent = each};
            const LocalTask built = build(config, 4);
            // Writer u has u+1 records: shards are unequal, and every agent's number is known.
            for (std::size_t u = 0; u < 4; ++u)
                EXPECT_EQ(built.records[u], built.objectives[u]->records());
            EXPECT_NE(*std::ranges::min_element(built.records),
                      *std::ranges::max_element(built.records));
            if (each == 3) {
                EXPECT_EQ(
                    std::accumulate(built.records.begin(), built.records.end(), Eigen::Index{0}),
                    users * (users + 1) / 2);
            }
            expect_contains(built.description, name_of(*config.partition));
        }
        config.partition = {.kind = PartitionSpec::Kind::by_writer, .writers_per_agent = 4};
        expect_contains(message_of<DataError>([&] { (void)build(config, 4); }), "12 writers");
    }
}

TEST(TaskData, EveryAgentsSensitivityIsThatOfItsOwnShard) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("all.json", leaf_text(16)));
    config.task = "softmax";
    config.test_data = folder.path("all.json");
    config.partition = {.kind = PartitionSpec::Kind::by_writer, .writers_per_agent = 4};
    const auto records = build(config, 4).records;
    const Eigen::Index smallest = *std::ranges::min_element(records);
    ASSERT_NE(smallest, *std::ranges::max_element(records));
    PlanConfig plan;
    plan.adjacency = Adjacency::record;
    plan.clip_norm = 0.5;
    plan.rounds = 100;

    // Cyclic: agent u divides by B_u = ceil(N_u / b), and a record is in ceil(T / b) rounds.
    plan.participation = {3};
    const auto cyclic = build_exposures(plan, 4, records);
    for (std::size_t u = 0; u < 4; ++u) {
        const Eigen::Index batch = (records[u] + 2) / 3;
        EXPECT_EQ(cyclic[u].batch_size, batch);
        EXPECT_EQ(cyclic[u].sensitivity, 2 * 0.5 / static_cast<double>(batch));
        EXPECT_EQ(cyclic[u].sensitivity_squared_over_rounds, 34);
    }
    // Random batches: a record counts as part of every round, however small its chance: nothing is
    // gained by subsampling. A shard below the batch is refused.
    plan.participation = {1};
    plan.batch_size = smallest;
    for (const Exposure& exposure : build_exposures(plan, 4, records)) {
        EXPECT_EQ(exposure.sensitivity, 2 * 0.5 / static_cast<double>(smallest));
        EXPECT_EQ(exposure.sensitivity_squared_over_rounds, 100);
    }
    plan.batch_size = smallest + 1;
    expect_contains(message_of<ConfigError>([&] { (void)build_exposures(plan, 4, records); }),
                    "exceeds the " + std::to_string(smallest) + " records");
    // Adjacency agent: 2C whatever the shard.
    plan.adjacency = Adjacency::agent;
    for (const Exposure& exposure : build_exposures(plan, 4, records))
        EXPECT_EQ(exposure.sensitivity, 1.0);
}

TEST(TaskData, StandardisesValuesAndSaysThatThisIsNotCounted) {
    const TemporaryFolder folder;
    std::string text = "a,b,price\n";
    for (int i = 0; i < 50; ++i)
        text += std::to_string(i % 7) + "," + std::to_string(1000 * (i % 5)) + "," +
                std::to_string(100000 + 10 * i) + "\n";
    TaskConfig config = on(folder.write("houses.csv", text));
    config.task = "mlp";
    config.table.label = "price";
    config.standardise = Standardise::public_moments;
    const LocalTask task = build(config, 2);
    expect_contains(task.description, "partition iid");
    // d = 64 (2 + 1) + 64 + 1. A model that says 0 has the training data's variance, 1, as its
    // loss.
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(64 * 3 + 65);
    EXPECT_EQ(task.initial.size(), zero.size());
    EXPECT_NE(task.initial, zero);
    LossSum loss;
    for (const auto& objective : task.objectives) loss += objective->train_loss(zero);
    EXPECT_NEAR(loss.loss, 40, 1e-10);
    EXPECT_EQ(loss.records, 40);
    EXPECT_FALSE(loss.has_accuracy);
    ASSERT_EQ(task.statements.size(), 1U);
    expect_contains(task.statements[0], "all training records");
    expect_contains(task.statements[0], "not counted");

    config.standardise = Standardise::none;
    const LocalTask raw = build(config, 2);
    EXPECT_TRUE(raw.statements.empty());
    EXPECT_GT(raw.objectives[0]->train_loss(zero).loss, 1e10) << "prices as they are";

    for (const int u : {0, 1}) (void)folder.write("own" + std::to_string(u), text);
    config = on(folder.path("own%r"));
    config.task = "mlp";
    config.table.label = "price";
    config.hidden = 3;
    config.standardise = Standardise::public_moments;
    const LocalTask own = build(config, 2);
    EXPECT_EQ(own.initial.size(), 3 * 3 + 4);
    ASSERT_EQ(own.statements.size(), 2U);
    expect_contains(own.statements[0], "which texts occur");
    expect_contains(own.statements[1], "its own");
    expect_contains(own.statements[1], "not counted");
    config.table.bounds = parse_bounds("a=0:10,b=0:5000,price=0:200000");
    config.standardise.reset();
    expect_contains(build(config, 2).statements.at(1), "costs no privacy");
    config.standardise = Standardise::private_moments;
    EXPECT_EQ(build(config, 2).statements.size(), 1U) << "the training says what came of it";
    EXPECT_TRUE(build(on("synthetic"), 2).statements.empty());
}

TEST(TaskData, LearnsClassesOfTablesThatSitesHave) {
    const TemporaryFolder folder;
    (void)folder.write("site2.csv",
                       "age,sex,sick\n50,m,yes\n60,f,no\n70,m,no\n40,m,yes\n90,f,no\n");
    (void)folder.write("site10.csv", "sick,sex,age\nno,x,55\nyes,f,\nno,m,65\nno,f,75\nyes,m,45\n");
    TaskConfig config = on(folder.path("site*.csv"));
    config.table.label = "sick";
    config.table.missing = parse_missing("indicator");
    config.table.bounds = parse_bounds("age=0:110");
    const LocalData data = read(config, 2);
    EXPECT_EQ(data.shape.features, 2 + 3 + 1);
    EXPECT_EQ(data.classes(), 2);
    ASSERT_EQ(data.understood.size(), 4U);
    EXPECT_EQ(data.understood[0],
              "predicts \"sick\" (2 classes: no, yes) from 2 columns (6 features)");
    EXPECT_EQ(data.understood[1], "1 of numbers: age; 1 of categories: sex (3)");
    expect_contains(data.understood[2], "agent 0 is site2.csv: 4 records to train, ");
    expect_contains(data.understood[3], "agent 1 is site10.csv: 4 records to train, ");
    EXPECT_TRUE(test::features_of(data.agents[1].shard).allFinite());
    EXPECT_TRUE(data.own_tests);
    expect_contains(message_of<DataError>([&] { (void)read(config, 3); }), "agent 2 has none");
    const auto files = message_of<ConfigError>([&] { (void)read(config, 1); });
    expect_contains(files, "2 files");
    expect_contains(files, "--agents 2");
    expect_contains(message_of<DataError>([&] { (void)read(on(folder.path("none*")), 2); }),
                    "no file matches");

    config.known_table = data.shape.table;
    config.known_table->label_names = {"no", "perhaps", "yes"};
    config.known_labels = {0, 1, 2};
    EXPECT_EQ(read(config, 2).agents[0].shard.labels.maxCoeff(), 2)
        << "as when the run began, whoever is there now";
    // A history that says of whom records are, against the agent's own word.
    config.known_table->unit = "age";
    expect_contains(message_of<ConfigError>([&] { (void)read(config, 2); }), "unit-column");
    config.known_table->unit.clear();
    config.table.unit = "sex";
    expect_contains(message_of<ConfigError>([&] { (void)read(config, 2); }), "unit-column");
    config = on(folder.write("a.svm", "+1 1:1\n-1 2:1\n+1 1:1\n"));
    config.known_table = data.shape.table;
    expect_contains(message_of<ConfigError>([&] { (void)read(config, 1); }), "history.json");
    config.known_table.reset();
    config.table.label = "sick";
    expect_contains(message_of<ConfigError>([&] { (void)read(config, 1); }), "CSV");
    config.table.label.clear();
    config.standardise = Standardise::public_moments;
    expect_contains(message_of<ConfigError>([&] { (void)read(config, 1); }), "CSV");
}

TEST(TaskData, RefusesWhatDoesNotFitTogether) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("a.csv", "1,2,3\n4,5,6\n7,8,9\n1,1,1\n"));
    config.standardise = Standardise::none;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }), "needs classes");
    config.partition = {PartitionSpec::Kind::dirichlet, 10, 1};
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }), "dirichlet:10");
    config.partition = {PartitionSpec::Kind::by_writer, 10, 1, 1};
    expect_contains(message_of<DataError>([&] { (void)build(config, 1); }), "by-writer:1");
    config.test_data = folder.write("test.txt", "+1 1:1\n-1 2:1\n");
    expect_contains(message_of<DataError>([&] { (void)build(config, 1); }), "different formats");
    config = on(folder.path("own%r"));
    (void)folder.write("own0", "+1 1:1\n-1 2:1\n");
    (void)folder.write("own1", "1,2\n3,4\n");
    expect_contains(message_of<DataError>([&] { (void)build(config, 2); }), "different formats");
}

TEST(TaskData, RefusesWhatItCannotTrainOn) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("few.txt", test::records_with_own_feature(10)));
    // 8 records are left for training.
    EXPECT_NO_THROW((void)build(config, 8));
    const auto few = message_of<DataError>([&] { (void)build(config, 9); });
    expect_contains(few, "8 records");
    expect_contains(few, "9 agents");

    for (const double fraction : {0.0, 1.0, -0.1, 1.5, std::nan("")}) {
        config.test_fraction = fraction;
        expect_contains(message_of<ConfigError>([&] { (void)build(config, 2); }), "test-fraction");
    }
    expect_contains(message_of<DataError>([&] { (void)build(on(folder.path("no.txt")), 2); }),
                    "no.txt");
    const auto data_error = [&](const std::string& text) {
        const std::string path = folder.write("bad.txt", text);
        return message_of<DataError>([&] { (void)build(on(path), 1); });
    };
    const auto nan = data_error("+1 1:1\n-1 2:nan\n+1 3:1\n");
    expect_contains(nan, "bad.txt, line 2");
    expect_contains(nan, "finite");
    expect_contains(data_error("+1 1:inf\n-1 2:1\n"), "line 1");
    expect_contains(data_error("1 1:1\n2 2:1\n3 3:1\n1 4:1\n"), "two classes");
    expect_contains(data_error("+1 1:1\n"), "one class");
    expect_contains(data_error("# nothing\n"), "no records");
}

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
