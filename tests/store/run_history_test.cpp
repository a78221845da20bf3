#include "store/run_history.hpp"

#include "sotto/plan/noise_plan.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;

/// Of two phases; agent 1 has left before the second.
struct Written {
    RunHistory history;
    std::vector<std::string> plans;
};
Written sample_history() {
    Written written;
    RunHistory& history = written.history;
    history.run.fill(5);
    history.rounds = 30;
    history.starts = 2;
    history.labels = {-1, 3, 7};
    history.features = 12;
    history.table = TableShape{.columns = {"age", "sex", "sick"},
                               .features = {{"age", ColumnShape::Kind::numbers},
                                            {"sex", ColumnShape::Kind::categories, {"f", "m"}}},
                               .label = "sick",
                               .threshold = 2.5,
                               .target = Target::label,
                               .label_names = {"no", "yes"}};
    history.scaling = no_standardisation(3);
    history.scaling->features[0] = {.mean = 40, .deviation = 0.1, .low = 0, .high = 110};
    for (const int agents : {4, 3}) {
        const auto network = make_memory_network(agents, 1);
        const PreparedRun prepared =
            test::prepare(test::quadratic_config(agents, "ldp", 30), *network);
        history.phases.push_back(prepared.history.phases.back());
        written.plans.push_back(to_json(history.phases.back().plan));
    }
    history.phases[0].rounds = 12;
    history.phases[1].members = {4, {0, 2, 3}};
    history.phases[1].use.steps.first_round = 10;
    history.phases[1].rounds = 20;
    history.phases[1].key_epoch = 1;
    return written;
}

TEST(NumberedFile, HasNoNumberTheFirstTime) {
    EXPECT_EQ(numbered_file("plan", ".json", 0), "plan.json");
    EXPECT_EQ(numbered_file("plan", ".json", 1), "plan-1.json");
    EXPECT_EQ(numbered_file("views", "", 12), "views-12");
}

TEST(RunHistory, ComesBackAsItWasWritten) {
    const auto [history, plans] = sample_history();
    const RunHistory back = history_from_json(to_json(history), plans, "history");
    EXPECT_EQ(to_json(back), to_json(history));
    EXPECT_EQ(back.run, history.run);
    EXPECT_EQ(back.starts, 2);
    EXPECT_EQ(back.scaling, history.scaling);
    EXPECT_FALSE(back.completed);
    EXPECT_EQ(back.labels, (LabelSet{-1, 3, 7}));
    EXPECT_EQ(back.features, 12);
    EXPECT_EQ(back.table, history.table);
    ASSERT_EQ(back.phases.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(back.phases[k].plan.hash(), history.phases[k].plan.hash());
        EXPECT_EQ(back.phases[k].members.all, 4);
        EXPECT_EQ(back.phases[k].members.numbers, history.phases[k].members.numbers);
        EXPECT_EQ(back.phases[k].sensitivity, history.phases[k].sensitivity);
        EXPECT_EQ(back.phases[k].rounds, history.phases[k].rounds);
        EXPECT_EQ(back.phases[k].key_epoch, history.phases[k].key_epoch);
    }
    EXPECT_EQ(back.phases[1].use.steps.first_round, 10);
}

TEST(RunHistory, IsRefusedWhereItsPartsDoNotFitTogether) {
    const auto [history, plans] = sample_history();
    const auto refusal = [&](auto&& change) {
        Json json = Json::parse(to_json(history));
        change(json);
        return message_of<DataError>(
            [&] { (void)history_from_json(json.dump(), plans, "the history"); });
    };
    expect_contains(refusal([](Json& j) { j["format"] = "sotto-plan"; }),
                    "format is \"sotto-plan\" (must be \"sotto-history\")");
    expect_contains(refusal([](Json& j) { j["run"] = "xyz"; }),
                    "run is \"xyz\" (must be a digest of 64 hexadecimal digits)");
    expect_contains(refusal([](Json& j) { j.erase("rounds"); }),
                    "the history: it is damaged (rounds is missing)");
    expect_contains(refusal([](Json& j) {
                        j["labels"] = {3, 3};
                    }),
                    "(must be labels, ascending, each once)");
    expect_contains(refusal([](Json& j) { j["phases"].erase(1); }), "2 plans for 1 phases");
    expect_contains(refusal([](Json& j) { j["phases"][1]["plan_hash"] = std::string(64, '0'); }),
                    "plan-1.json is not the plan of its phase");
    expect_contains(refusal([](Json& j) {
                        j["phases"][1]["agents"] = {0, 3, 2};
                    }),
                    "phases[1].agents");
    expect_contains(refusal([](Json& j) {
                        j["phases"][1]["agents"] = {0, 2, 4};
                    }),
                    "phases[1].agents");
    expect_contains(refusal([&](Json& j) { j["phases"][1]["first_round"] = 13; }),
                    "its phases do not fit together");
    expect_contains(refusal([&](Json& j) { j["phases"][1]["rounds"] = -1; }),
                    "phases[1].rounds is -1 (must be a whole number from 0");
    expect_contains(refusal([](Json& j) { j["phases"][0]["sensitivity"].erase(0); }),
                    "its phases do not fit together");
}

TEST(RunHistory, IsReadWithTheFilesOfItsPlans) {
    const test::TemporaryFolder folder;
    const auto [history, plans] = sample_history();
    expect_contains(message_of<DataError>([&] { (void)read_history(folder.path("")); }),
                    "there is no history.json");
    (void)folder.write("history.json", to_json(history));
    (void)folder.write("plan.json", plans[0]);
    expect_contains(message_of<DataError>([&] { (void)read_history(folder.path("")); }),
                    "1 plans for 2 phases");
    (void)folder.write("plan-1.json", plans[1]);
    // Of a phase that did not come to begin.
    (void)folder.write("plan-2.json", plans[1]);
    EXPECT_EQ(to_json(read_history(folder.path(""))), to_json(history));
}

}  // namespace
}  // namespace sotto
