#include "tasks/record_task.hpp"

#include "config/run_fixtures.hpp"
#include "fuzz/support.hpp"
#include "learn/handed_objective.hpp"
#include "tasks/task_fixtures.hpp"
#include "tasks/task_table.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;
using test::on;
using test::TemporaryFolder;

TEST(RecordTask, StartsEveryModelFromTheSeed) {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i % 3) + " " + std::to_string(i % 15 + 1) + ":1 16:0.5\n";
    for (const auto& [name, dimension] : {std::pair<std::string, Eigen::Index>{"softmax", 3 * 17},
                                          {"mlp", 128 * 17 + 3 * 129},
                                          {"cnn", 160 + 32 + 4640 + 64 + 3 * 33}}) {
        TaskConfig config = on(folder.write("data.txt", text));
        config.task = name;
        const LocalTask task = build(config, 3);
        EXPECT_EQ(task.initial.size(), dimension) << name;
        EXPECT_EQ(task.objectives[1]->dimension(), dimension);
        EXPECT_EQ(build(config, 2).initial, task.initial) << name;
        config.seed = 2;
        if (name == "softmax") {
            EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(dimension));
        } else {
            EXPECT_NE(build(config, 3).initial, task.initial) << name;
        }
    }
    TaskConfig config = on(folder.write("odd.txt", "0 1:1 15:1\n1 2:1\n0 3:1\n1 4:1\n"));
    config.task = "cnn";
    expect_contains(message_of<DataError>([&] { (void)build(config, 1); }), "15 features");
    config.hidden = 5;
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }), "hidden");
}

TEST(RecordTask, AsksForOneOutputAClassOrOneForAValue) {
    LocalData data;
    data.shape.labels = {0, 1, 2, 3, 4, 5, 6};
    EXPECT_EQ(outputs_of(on("x"), data), 7);
    data.shape.target = Target::value;
    EXPECT_EQ(outputs_of(on("x"), data), 1);
    data.shape.target = Target::label;
    data.shape.labels = {5};
    expect_contains(message_of<DataError>([&] { (void)outputs_of(on("x"), data); }),
                    "x: all records are of one class");
}

TEST(RecordTask, RefusesOptionsOfOtherTasks) {
    const auto refusal = [](const std::string& name, auto&& change) {
        TaskConfig config;
        config.task = name;
        change(config);
        try {
            require_options_fit(config);
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const std::string& name : tasks().names()) {
        EXPECT_EQ(refusal(name, [](TaskConfig&) {}), "");
        const std::string hidden = refusal(name, [](TaskConfig& c) { c.hidden = 9; });
        if (name != "mlp")
            expect_contains(
                hidden,
                "hidden: 9 is given, but task '" + name + "' has no hidden layer (allowed: mlp)");
        else
            EXPECT_EQ(hidden, "");
        const bool reads = name != "quadratic" && name != "python";
        const bool holds_out = reads && name != "averaging";
        EXPECT_EQ(refusal(name, [](TaskConfig& c) { c.data = "x"; }).empty(), reads) << name;
        EXPECT_EQ(refusal(name, [](TaskConfig& c) { c.partition = PartitionSpec{}; }).empty(),
                  reads)
            << name;
        EXPECT_EQ(refusal(name, [](TaskConfig& c) { c.test_fraction = 0.3; }).empty(), holds_out)
            << name;
        EXPECT_EQ(refusal(name, [](TaskConfig& c) { c.standardise = Standardise::none; }).empty(),
                  holds_out)
            << name;
        EXPECT_EQ(refusal(name, [](TaskConfig& c) { c.table.label = "x"; }).empty(), holds_out)
            << name;
    }
    expect_contains(refusal("quadratic", [](TaskConfig& c) { c.data = "/nonexistent"; }),
                    "data: /nonexistent is given, but task 'quadratic' has no data to read "
                    "(allowed: logistic, softmax, mlp, cnn, averaging)");
}

TEST(RecordTask, RefusesOptionsThatOthersLeaveWithoutAMeaning) {
    TaskConfig config = on("x");
    config.test_data = "y";
    config.test_fraction = 0.3;
    expect_contains(message_of<ConfigError>([&] { require_options_fit(config); }),
                    "test-fraction: 0.3 is given, but --test-data");
    config = on("x");
    config.table.bounds = parse_bounds("age=0:1");
    config.standardise = Standardise::none;
    expect_contains(message_of<ConfigError>([&] { require_options_fit(config); }),
                    "standardise: none is given, but --bounds");
    config.standardise = Standardise::private_moments;
    EXPECT_NO_THROW(require_options_fit(config));
    config.table.bounds.clear();
    expect_contains(message_of<ConfigError>([&] { require_options_fit(config); }),
                    "standardise: private is given without --bounds");
    config = on("x-%r");
    config.partition = PartitionSpec{.kind = PartitionSpec::Kind::iid};
    expect_contains(message_of<ConfigError>([&] { require_options_fit(config); }),
                    "partition: iid is given, but with %r in --data");
}

/// 12 persons with one to three visits each; doses from 0 to 10.
TaskConfig private_scaling(const TemporaryFolder& folder) {
    std::string text = "patient,sex,dose,effect\n";
    for (int person = 0; person < 12; ++person)
        for (int visit = 0; visit <= person % 3; ++visit)
            text += fmt::format("p{},{},{},{}\n",
                                person,
                                person % 2 == 0 ? "f" : "m",
                                (3 * person + visit) % 11,
                                100 + 10 * person + 5 * visit + 0.5);
    TaskConfig config = on(folder.write("doses.csv", text));
    config.task = "mlp";
    config.table.label = "effect";
    config.table.unit = "patient";
    config.table.bounds = parse_bounds("dose=0:10,effect=0:400");
    config.standardise = Standardise::private_moments;
    return config;
}

/// Means of z and z^2 over all records of all agents.
Eigen::VectorXd moments_of_all(LocalTask& task) {
    const Eigen::VectorXd model = Eigen::VectorXd::Zero(task.moments[0]->dimension());
    Eigen::VectorXd sum = model, mean = model;
    double records = 0;
    for (const auto& moments : task.moments) {
        moments->mean_gradient(model, test::all_rows(moments->records()), mean);
        sum += static_cast<double>(moments->records()) * mean;
        records += static_cast<double>(moments->records());
    }
    return sum / records;
}

TEST(RecordTask, HasMomentsOfTheRecordsOrUnitsThatItTrainsOn) {
    const TemporaryFolder folder;
    TaskConfig config = private_scaling(folder);
    for (const char* unit : {"patient", ""}) {
        config.table.unit = unit;
        if (*unit == '\0') config.table.ignore = {"patient"};
        LocalTask task = build(config, 3);
        ASSERT_EQ(task.moments.size(), 3U);
        for (std::size_t a = 0; a < 3; ++a) {
            EXPECT_EQ(task.moments[a]->records(), task.objectives[a]->records());
            EXPECT_EQ(task.moments[a]->dimension(), 4);
        }
        const Eigen::VectorXd moments = moments_of_all(task);
        EXPECT_LE(moments.cwiseAbs().maxCoeff(), 1);
        config.known_scaling = scaling_by_moments(*task.shape.table, config.table, moments);
        EXPECT_TRUE(build(config, 3).moments.empty());
        EXPECT_EQ(build(config, 3).scaling.at(2), config.known_scaling);
        config.known_scaling.reset();
    }
    config.standardise.reset();
    EXPECT_TRUE(build(config, 3).moments.empty());
}

TEST(RecordTask, MakesNoObjectiveOfATaskThatHasNoRecords) {
    for (const char* name : {"quadratic", "own.so"}) {
        TaskConfig config = on("x");
        config.task = name;
        expect_contains(message_of<ConfigError>(
                            [&] { (void)make_record_objective(config, LocalData{}, {}, nullptr); }),
                        "has no records");
    }
}

TEST(RecordTask, MakesTheObjectiveOfOneAgentOfTheDataOfAll) {
    const TemporaryFolder folder;
    const TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(40)));
    const auto network = make_memory_network(4, 1);
    const Membership members = Membership::everybody(4);
    const LocalData data = read_local_data(config, *network, members);
    const LocalTask task = build_record_task(config, *network, members);
    EXPECT_EQ(task.description, data.description);
    const Eigen::VectorXd model = Eigen::VectorXd::LinSpaced(data.shape.features + 1, -1, 1);
    for (std::size_t a = 0; a < 4; ++a) {
        const auto alone =
            make_record_objective(config, data, data.agents[a].shard, data.agents[a].test);
        EXPECT_EQ(alone->train_loss(model).loss, task.objectives[a]->train_loss(model).loss);
        EXPECT_EQ(alone->test_loss(model, 0, 1).loss,
                  task.objectives[a]->test_loss(model, 0, 1).loss);
    }
}

HandedInputs inputs(const Eigen::VectorXd& initial = Eigen::VectorXd(),
                    Eigen::Index dimension = 3,
                    Eigen::Index records = 40) {
    HandedInputs handed{.objectives = {}, .initial = initial, .description = "a program"};
    handed.objectives.push_back(std::make_unique<HandedObjective>(dimension, records, 8));
    return handed;
}

TEST(HandedTask, IsThatOfTheProgram) {
    const auto network = make_memory_network(1, 1);
    HandedInputs handed = inputs(Eigen::Vector3d(1, 2, 3));
    handed.data = {Digest{9}};
    const LocalTask task = make_handed_task(std::move(handed), {}, *network);
    EXPECT_EQ(task.initial, Eigen::Vector3d(1, 2, 3));
    EXPECT_EQ(task.records, std::vector<Eigen::Index>{40});
    EXPECT_EQ(task.description, "a program");
    EXPECT_TRUE(task.has_records);
    EXPECT_TRUE(task.resumable);
    EXPECT_FALSE(task.fixed_inputs);
}

TEST(HandedTask, SaysWhatARecordIs) {
    const auto network = make_memory_network(1, 1);
    EXPECT_TRUE(make_handed_task(inputs(), {}, *network).person.empty());
    HandedInputs handed = inputs();
    handed.person = "patient";
    const LocalTask task = make_handed_task(std::move(handed), {}, *network);
    EXPECT_EQ(task.person, "patient");
    ASSERT_EQ(task.statements.size(), 2U);
    expect_contains(task.statements[1], "everything that an agent has of one patient");
}

TEST(HandedTask, SaysWhichDataItsAgentsHaveAsFarAsItIsKnown) {
    const auto digest_of = [](Eigen::Index records, std::optional<Digest> data) {
        const auto network = make_memory_network(1, 1);
        HandedInputs handed = inputs({}, 3, records);
        if (data) handed.data = {*data};
        return make_handed_task(std::move(handed), {}, *network).digests.own.at(0).at(0).digest;
    };
    EXPECT_EQ(digest_of(40, std::nullopt), digest_of(40, std::nullopt));
    EXPECT_NE(digest_of(40, std::nullopt), digest_of(41, std::nullopt));
    EXPECT_NE(digest_of(40, std::nullopt), digest_of(40, Digest{9}));
    EXPECT_NE(digest_of(40, Digest{8}), digest_of(40, Digest{9}));
}

TEST(HandedTask, MayBeOfSeveralAgents) {
    const auto network = make_memory_network(2, 1);
    HandedInputs handed = inputs();
    handed.objectives.push_back(std::make_unique<HandedObjective>(3, 50, 8));
    handed.data = {Digest{8}, Digest{9}};
    const LocalTask task = make_handed_task(std::move(handed), {}, *network);
    EXPECT_EQ(task.records, (std::vector<Eigen::Index>{40, 50}));
    ASSERT_EQ(task.digests.own.size(), 2U);
    EXPECT_NE(task.digests.own[0].at(0).digest, task.digests.own[1].at(0).digest);
}

TEST(HandedTask, BeginsWithZeroUnlessToldOtherwise) {
    const auto network = make_memory_network(1, 1);
    EXPECT_EQ(make_handed_task(inputs(), {}, *network).initial, Eigen::Vector3d::Zero());
}

TEST(HandedTask, RefusesAModelThatCannotBeBegunWith) {
    const auto network = make_memory_network(1, 1);
    expect_contains(message_of<ConfigError>([&] {
                        (void)make_handed_task(inputs(Eigen::Vector2d(1, 2)), {}, *network);
                    }),
                    "initial: 2 values are not allowed (3");
    const Eigen::Vector3d bad(1, not_a_number, 0);
    expect_contains(
        message_of<ConfigError>([&] { (void)make_handed_task(inputs(bad), {}, *network); }),
        "not finite");
}

TEST(HandedTask, RefusesAModelThatNoMemoryHolds) {
    const auto network = make_memory_network(1, 1);
    HandedInputs huge = inputs({}, 1000000000000000);
    const auto message =
        message_of<DataError>([&] { (void)make_handed_task(std::move(huge), {}, *network); });
    expect_contains(message, "dimension: 1000000000000000 is too large here");
    expect_contains(message, "GiB");
}

TEST(HandedTask, RefusesAgentsThatBeginWithDifferentModels) {
    // Dimensions and records are alike; digests of models come last.
    int gathers = 0;
    fuzz::ScriptedNetwork network(2, 0, "", [&](int) {
        const std::string number = ++gathers == 1 ? "3 " : "40 ";
        return gathers <= 2 ? std::vector<std::string>(2, number)
                            : std::vector<std::string>{std::string(32, 'a'), std::string(32, 'b')};
    });
    expect_contains(message_of<DataError>([&] { (void)make_handed_task(inputs(), {}, network); }),
                    "the initial model of rank 1 is not that of rank 0");
}

}  // namespace
}  // namespace sotto
