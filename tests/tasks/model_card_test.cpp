#include "tasks/model_card.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;

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
    card.scaling->feature_mean(0) = 50;
    card.scaling->feature_deviation(0) = 12.5;
    card.scaling->limit = 1;
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
    }
}

TEST(ModelCard, TellsEveryInputToReadersInOtherLanguages) {
    const Json json = Json::parse(to_json(card_of_a_table()));
    ASSERT_EQ(json["inputs"].size(), 5U);
    EXPECT_EQ(json["inputs"][0],
              (Json{{"name", "age"}, {"column", "age"}, {"offset", 50}, {"scale", 12.5}}));
    EXPECT_EQ(json["inputs"][1]["missing"], true);
    EXPECT_EQ(json["inputs"][3]["category"], "m");
    EXPECT_EQ(json["classes"], (Json{"no", "yes"}));
    EXPECT_EQ(json["limit"], 1);
}

TEST(ModelCard, NamesWhatIsWrong) {
    const Json good = Json::parse(to_json(card_of_a_table()));
    const auto refusal = [&](const auto& change) {
        Json json = good;
        change(json);
        return message_of<DataError>(
            [&] { (void)model_card_from_json(json.dump(), "some/model.json"); });
    };
    expect_contains(refusal([](Json& j) { j["version"] = 2; }), "some/model.json");
    expect_contains(refusal([](Json& j) { j["table"]["features"] = Json::array(); }), "feature");
    expect_contains(refusal([](Json& j) { j["table"]["features"][0]["categories"] = {"x"}; }),
                    "categories");
    expect_contains(refusal([](Json& j) { j["table"]["target"] = "both"; }), "target");
    expect_contains(refusal([](Json& j) { j["inputs"].erase(0); }), "inputs");
    expect_contains(refusal([](Json& j) { j["inputs"][0]["name"] = "sex"; }), "inputs");
    expect_contains(refusal([](Json& j) { j["labels"] = {1, 0}; }), "ascending");
    expect_contains(refusal([](Json& j) { j["missing"] = "mean"; }), "missing");
}

}  // namespace
}  // namespace sotto
