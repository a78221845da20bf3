#include "tasks/predictions.hpp"

#include <cmath>

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::TemporaryFolder;

ModelCard card_of_a_table() {
    ModelCard card;
    card.task = "mlp";
    card.hidden = 5;
    card.missing = parse_missing("indicator");
    TableShape table{.columns = {"age", "sex", "y"},
                     .features = {{"age", ColumnShape::Kind::numbers},
                                  {"sex", ColumnShape::Kind::categories, {"f", "m"}}},
                     .label = "y",
                     .target = Target::label,
                     .label_names = {"no", "yes"}};
    card.shape = {.target = Target::label, .features = 5, .labels = {0, 1}, .table = table};
    card.scaling = no_standardisation(5);
    card.scaling->features[0] = {.mean = 50, .deviation = 12.5, .low = 0, .high = 110};
    return card;
}

TEST(ModelCard, ComesBackAsItWasWritten) {
    ModelCard images;
    images.task = "softmax";
    images.shape = {.features = 6, .image_rows = 2, .labels = {0, 3, 7}};
    for (const ModelCard& card : {card_of_a_table(), images}) {
        const ModelCard back = model_card_from_json(to_json(card), "model.json");
        EXPECT_EQ(to_json(back), to_json(card));
        EXPECT_EQ(back.task, card.task);
        EXPECT_EQ(back.hidden, card.hidden);
        EXPECT_EQ(back.shape.table, card.shape.table);
        EXPECT_EQ(back.shape.labels, card.shape.labels);
        EXPECT_EQ(back.missing, card.missing);
        EXPECT_EQ(back.scaling, card.scaling);
    }
}

TEST(ModelCard, TellsEveryInputToReadersInOtherLanguages) {
    const Json json = Json::parse(to_json(card_of_a_table()));
    ASSERT_EQ(json["inputs"].size(), 5U);
    EXPECT_EQ(json["inputs"][0],
              (Json{{"name", "age"},
                    {"column", "age"},
                    {"offset", 50},
                    {"scale", 12.5},
                    {"low", 0},
                    {"high", 110}}));
    EXPECT_EQ(json["inputs"][1]["missing"], true);
    EXPECT_EQ(json["inputs"][3]["category"], "m");
    EXPECT_EQ(json["classes"], (Json{"no", "yes"}));
}

TEST(ModelCard, IsReadInItsFirstVersionToo) {
    Json json = Json::parse(to_json(card_of_a_table()));
    json["version"] = 1;
    json["inputs"][0].erase("low");
    json["inputs"][0].erase("high");
    const auto age = [&] {
        return model_card_from_json(json.dump(), "model.json").scaling.value().features[0];
    };
    json["limit"] = Json();
    EXPECT_EQ(age(), (ColumnScaling{.mean = 50, .deviation = 12.5}));
    json["limit"] = 1;
    EXPECT_EQ(age(), (ColumnScaling{.mean = 50, .deviation = 12.5, .low = 37.5, .high = 62.5}));
    json["limit"] = -1;
    expect_contains(message_of<DataError>([&] { (void)age(); }), "limit");
}

TEST(Scaling, ComesBackFromItsJson) {
    Standardisation scaling = no_standardisation(2);
    scaling.features[1] = {.mean = 0.1, .deviation = 1.0 / 3, .low = -2, .high = 1e9};
    scaling.target = {.mean = -7, .deviation = 1e-9};
    const Json json = Json::parse(json_of(scaling).dump());
    const auto back = [](const Json& text) {
        return scaling_from(JsonDocument(text.dump()).root());
    };
    EXPECT_EQ(back(json), scaling);
    for (const auto& [name, value] : {std::pair{"scale", 0.0}, {"scale", -1}, {"low", 1e9}}) {
        Json wrong = json;
        wrong["features"][1][name] = value;
        EXPECT_NE(message_of<DataError>([&] { (void)back(wrong); }), "") << name << value;
    }
}

TEST(ModelCard, NamesWhatIsWrong) {
    const Json good = Json::parse(to_json(card_of_a_table()));
    const auto refusal = [&](const auto& change) {
        Json json = good;
        change(json);
        return message_of<DataError>(
            [&] { (void)model_card_from_json(json.dump(), "some/model.json"); });
    };
    expect_contains(refusal([](Json& j) { j["version"] = 3; }), "some/model.json");
    expect_contains(refusal([](Json& j) { j["table"]["features"] = Json::array(); }), "feature");
    expect_contains(refusal([](Json& j) { j["table"]["features"][0]["categories"] = {"x"}; }),
                    "categories");
    expect_contains(refusal([](Json& j) { j["table"]["target"] = "both"; }), "target");
    expect_contains(refusal([](Json& j) { j["inputs"].erase(0); }), "inputs");
    expect_contains(refusal([](Json& j) { j["inputs"][0]["name"] = "sex"; }), "inputs");
    expect_contains(refusal([](Json& j) { j["labels"] = {1, 0}; }), "ascending");
    expect_contains(refusal([](Json& j) { j["missing"] = "mean"; }), "missing");
}

/// Two sites; whoever is above 60 or smokes is sick.
std::string site(int first) {
    std::string text = "smokes,age,sick\n";
    for (int i = 0; i < 60; ++i) {
        const int age = 30 + (7 * (i + first)) % 60;
        const bool smokes = (i + first) % 3 == 0;
        text += std::string(smokes ? "yes" : "no") + "," + std::to_string(age) + "," +
                (age > 60 || smokes ? "ill" : "well") + "\n";
    }
    return text;
}

TrainConfig without_noise(const std::string& data,
                          const std::string& label,
                          const std::string& directory) {
    TrainConfig config;
    config.graph.topology.agents = 2;
    config.graph.topology.topology = Topology::complete;
    config.plan.mechanism = "none";
    config.plan.rounds = 300;
    config.plan.clip_norm = 10;
    config.plan.batch_size = 20;
    config.plan.steps.step_size = 0.5;
    config.task.data = data;
    config.task.table.label = label;
    config.run_directory = directory;
    return config;
}

TEST(Predictions, OfATrainedModelAreThoseItWasTestedOn) {
    const TemporaryFolder folder;
    (void)folder.write("site1.csv", site(0));
    (void)folder.write("site2.csv", site(5));
    const std::string run = folder.path("run");
    TrainConfig config = without_noise(folder.path("site*.csv"), "sick", run);
    config.task.standardise = Standardise::public_moments;
    (void)test::train(config);
    const std::string fresh = folder.write(
        "new.csv", "age,sick,name,smokes\n75,ill,a,no\n35,well,b,no\n40,ill,c,yes\n33,ill,d,no\n");
    const Predictions predictions = predict(run, 1, fresh);
    ASSERT_EQ(predictions.records(), 4);
    EXPECT_EQ(predictions.classes, (std::vector<std::string>{"ill", "well"}));
    EXPECT_EQ(predictions.prediction(0), "ill");
    EXPECT_EQ(predictions.prediction(1), "well");
    EXPECT_EQ(predictions.prediction(2), "ill");
    EXPECT_NEAR(predictions.outputs.col(0).sum(), 1, 1e-12) << "probabilities";
    EXPECT_EQ(predictions.metric, 0.75);
    EXPECT_EQ(predictions.constant_metric, 0.75);
    const std::string csv = predictions_csv(predictions);
    EXPECT_TRUE(csv.starts_with("prediction,probability ill,probability well\nill,0.")) << csv;

    const Predictions unlabelled =
        predict(run, 0, folder.write("few.csv", "smokes,age\nno,75\nyes,20\n"));
    EXPECT_EQ(unlabelled.prediction(0), "ill");
    EXPECT_FALSE(unlabelled.metric.has_value());
    expect_contains(message_of<DataError>([&] {
                        (void)predict(run, 0, folder.write("few.csv", "smoker,age\nno,75\n"));
                    }),
                    "no column \"smokes\"");
    expect_contains(message_of<DataError>([&] {
                        (void)predict(run, 0, folder.write("few.csv", "smokes,age\nmaybe,75\n"));
                    }),
                    "\"maybe\"");
    expect_contains(
        message_of<DataError>([&] { (void)predict(run, 0, folder.write("a.svm", "1 1:1\n")); }),
        "no table");
    expect_contains(message_of<ConfigError>([&] { (void)predict(run, 7, fresh); }), "model.json");
}

TEST(Predictions, OfValuesAreInUnitsOfTheData) {
    const TemporaryFolder folder;
    std::string text = "a,b,price\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i % 10) + "," + std::to_string(i % 7) + "," +
                std::to_string(1000 + 100 * (i % 10) + 10 * (i % 7)) + "\n";
    TrainConfig config =
        without_noise(folder.write("houses.csv", text), "price", folder.path("run"));
    config.task.task = "mlp";
    config.task.table.target = TargetKind::value;
    config.plan.steps.step_size = 0.05;
    config.plan.rounds = 1000;
    const std::string fresh = folder.write("new.csv", "a,b,price\n9,6,1960\n0,0,1000\n");
    for (const bool bounded : {false, true}) {
        config.task.standardise.reset();
        if (bounded)
            config.task.table.bounds = parse_bounds("a=0:10,b=0:10,price=500:2500");
        else
            config.task.standardise = Standardise::public_moments;
        config.run_directory = folder.path(bounded ? "bounded" : "run");
        (void)test::train(config);
        const Predictions predictions = predict(*config.run_directory, 0, fresh);
        EXPECT_TRUE(predictions.classes.empty());
        EXPECT_NEAR(predictions.outputs(0, 0), 1960, 60);
        EXPECT_NEAR(predictions.outputs(0, 1), 1000, 60);
        EXPECT_NEAR(predictions.constant_metric.value(), 480, 1e-9);
        EXPECT_LT(predictions.metric.value(), 60);
        EXPECT_TRUE(predictions_csv(predictions).starts_with("prediction\n1")) << "one column";
    }
    const std::string beyond = folder.write("far.csv", "a,b,price\n9,6,9999\n0,0,1000\n");
    EXPECT_NEAR(
        predict(folder.path("bounded"), 0, beyond).constant_metric.value(), 8999.0 / 2, 1e-9)
        << "errors are against what is true, beyond bounds too";
}

TEST(Predictions, OfDataThatAreNoTable) {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += i % 3 == 0 ? "0 1:1\n" : i % 3 == 1 ? "4 2:1\n" : "7 3:1\n";
    TrainConfig config = without_noise(folder.write("a.svm", text), "", folder.path("run"));
    config.task.task = "softmax";
    (void)test::train(config);
    const Predictions predictions =
        predict(folder.path("run"), 0, folder.write("b.svm", "4 2:1\n0 1:1\n7 2:1\n"));
    EXPECT_EQ(predictions.classes, (std::vector<std::string>{"0", "4", "7"}));
    EXPECT_EQ(predictions.prediction(2), "4");
    EXPECT_NEAR(predictions.metric.value(), 2.0 / 3, 1e-12);
}

}  // namespace
}  // namespace sotto
