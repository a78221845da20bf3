#include "sotto/experiment/task.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "unit/experiment/experiment_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

LocalTask build(const TaskConfig& config, int agents) {
    const auto network = make_memory_network(agents, 1);
    return build_task(config, *network);
}

TaskConfig on(const std::string& data) {
    TaskConfig config;
    config.data = data;
    return config;
}

/// Records, by their own feature, that the objective trains on.
std::vector<int> trained_records(Objective& objective) {
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(objective.records()));
    std::iota(rows.begin(), rows.end(), 0);
    Eigen::VectorXd gradient(objective.dimension());
    objective.mean_gradient(Eigen::VectorXd::Zero(objective.dimension()), rows, gradient);
    std::vector<int> result;
    for (Eigen::Index i = 0; i + 1 < gradient.size(); ++i)
        if (gradient(i) != 0) result.push_back(static_cast<int>(i));
    return result;
}

/// Records, by their own feature, that it is tested on.
std::vector<int> tested_records(Objective& objective) {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(objective.dimension());
    const double base = objective.test_loss(zero, 0, 1).loss;
    std::vector<int> result;
    for (Eigen::Index i = 0; i + 1 < zero.size(); ++i) {
        Eigen::VectorXd model = zero;
        model(i) = 3;
        if (objective.test_loss(model, 0, 1).loss != base) result.push_back(static_cast<int>(i));
    }
    return result;
}

TEST(Task, DealsEveryRecordOnceToAnAgentOrTheTestSet) {
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

TEST(Task, DependsOnItsSeedOnly) {
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

TEST(Task, MakesSyntheticDataOfItsOwn) {
    const LocalTask task = build(on("synthetic"), 20);
    EXPECT_EQ(task.initial.size(), 124);
    const Eigen::Index total =
        std::accumulate(task.records.begin(), task.records.end(), Eigen::Index{0});
    EXPECT_EQ(total, 32561 - std::llround(32561 * 0.2));
    expect_contains(task.description, std::to_string(total));
    EXPECT_EQ(task.objectives[3]->test_loss(task.initial, 0, 1).records, std::llround(32561 * 0.2));
}

TEST(Task, ReadsSeveralFilesAsOne) {
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

TEST(Task, DealsAllRecordsWhenTestDataAreGiven) {
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

TEST(Task, GivesEveryAgentItsOwnFile) {
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

TEST(Task, OfQuadraticsHasNoRecords) {
    TaskConfig config;
    config.task = "quadratic";
    const LocalTask task = build(config, 6);
    EXPECT_FALSE(task.has_records);
    EXPECT_EQ(task.initial, Eigen::Vector2d::Zero());
    EXPECT_EQ(task.records, std::vector<Eigen::Index>(6, 1));
    for (int u = 0; u < 6; ++u) {
        Eigen::Vector2d wanted, got;
        make_quadratic_objective(u, 6)->mean_gradient(task.initial, {}, wanted);
        task.objectives[static_cast<std::size_t>(u)]->mean_gradient(task.initial, {}, got);
        EXPECT_EQ(got, wanted);
    }
}

TEST(Task, RefusesWhatItCannotTrainOn) {
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
    expect_contains(data_error("+1 1:1\n"), "1 record");
    expect_contains(data_error("# nothing\n"), "no records");
}

TEST(Task, SuggestsTheTaskThatWasMeant) {
    TaskConfig config;
    config.task = "logistik";
    const auto message = message_of<ConfigError>([&] { (void)build(config, 2); });
    expect_contains(message, "logistik");
    expect_contains(message, "did you mean");
    expect_contains(message, "logistic");
    EXPECT_EQ(task_names(), (std::vector<std::string>{"quadratic", "logistic"}));
}

}  // namespace
}  // namespace sotto
