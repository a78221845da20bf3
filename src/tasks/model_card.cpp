#include "tasks/model_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "tasks/data_words.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;
using Kind = ColumnShape::Kind;

constexpr NameTable<Kind, 3> kinds{
    {{{Kind::unknown, "unknown"}, {Kind::numbers, "numbers"}, {Kind::categories, "categories"}}}};
constexpr NameTable<Target, 2> targets{{{{Target::label, "classes"}, {Target::value, "value"}}}};

std::vector<std::string> texts_of(const JsonValue& json) {
    std::vector<std::string> texts;
    for (const JsonValue& item : json.items()) texts.push_back(item.text());
    return texts;
}

template <class Enum, std::size_t N>
Enum named_in(const NameTable<Enum, N>& table, const JsonValue& json) {
    const std::string text = json.text();
    const std::vector<std::string> names = table.names();
    if (std::ranges::find(names, text) == names.end()) json.fail(join(names));
    return table.parse("", text);
}

LabelSet labels_from(const JsonValue& json) {
    LabelSet labels = json.numbers();
    if (std::ranges::adjacent_find(labels, std::greater_equal()) != labels.end())
        json.fail("labels, ascending, each once");
    return labels;
}

/// One entry for every input of a model of tables.
Json inputs_of(const ModelCard& card) {
    Json inputs = Json::array();
    for (const ColumnShape& feature : card.shape.table->features) {
        const auto add = [&](const std::string& name, Json more) {
            Json input{{"name", name}, {"column", feature.name}};
            input.update(more);
            inputs.push_back(std::move(input));
        };
        const auto k = static_cast<Eigen::Index>(inputs.size());
        if (feature.kind != Kind::categories)
            add(feature.name,
                {{"offset", card.scaling->feature_mean(k)},
                 {"scale", card.scaling->feature_deviation(k)}});
        for (const std::string& category : feature.categories)
            add(fmt::format("{} = {}", feature.name, category), {{"category", category}});
        if (card.missing.kind == MissingPolicy::Kind::indicator)
            add(fmt::format("{} is missing", feature.name), {{"missing", true}});
    }
    return inputs;
}

/// The scaling that the inputs tell.
Standardisation scaling_from(const JsonValue& root, const ModelCard& card) {
    const FeatureNames features = feature_names(*card.shape.table, card.missing);
    Standardisation scaling = no_standardisation(std::ssize(features.names));
    const std::vector<JsonValue> inputs = root.at("inputs").items();
    if (inputs.size() != features.names.size()) root.at("inputs").fail("one entry an input");
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].at("name").text() != features.names[k]) inputs[k].fail(features.names[k]);
        if (!features.numbers[k]) continue;
        const auto at = static_cast<Eigen::Index>(k);
        scaling.feature_mean(at) = inputs[k].at("offset").number();
        scaling.feature_deviation(at) = inputs[k].at("scale").number();
    }
    scaling.target_mean = root.at("target_offset").number();
    scaling.target_deviation = root.at("target_scale").number();
    if (const auto limit = root.find("limit")) scaling.limit = limit->number();
    return scaling;
}

}  // namespace

Json json_of(const TableShape& table) {
    Json features = Json::array();
    for (const ColumnShape& feature : table.features)
        features.push_back({{"column", feature.name},
                            {"kind", kinds.name_of(feature.kind)},
                            {"categories", feature.categories}});
    return {{"columns", table.columns},
            {"features", std::move(features)},
            {"unit", table.unit},
            {"label", table.label},
            {"threshold", table.threshold ? Json(*table.threshold) : Json()},
            {"target", targets.name_of(table.target)},
            {"label_names", table.label_names},
            {"labels", table.labels}};
}

TableShape table_shape_from(const JsonValue& json) {
    TableShape table;
    table.columns = texts_of(json.at("columns"));
    for (const JsonValue& feature : json.at("features").items()) {
        const ColumnShape& column = table.features.emplace_back(feature.at("column").text(),
                                                                named_in(kinds, feature.at("kind")),
                                                                texts_of(feature.at("categories")));
        if (column.kind != Kind::categories && !column.categories.empty())
            feature.at("categories").fail("nothing, of a column of numbers");
    }
    if (table.features.empty()) json.at("features").fail("at least one feature");
    table.unit = json.at("unit").text();
    table.label = json.at("label").text();
    if (const auto threshold = json.find("threshold")) table.threshold = threshold->number();
    table.target = named_in(targets, json.at("target"));
    table.label_names = texts_of(json.at("label_names"));
    table.labels = labels_from(json.at("labels"));
    return table;
}

ModelCard model_card(const TaskConfig& config,
                     const DataShape& shape,
                     const std::optional<Standardisation>& scaling) {
    return {config.task, config.hidden, shape, config.table.missing, scaling};
}

std::string to_json(const ModelCard& card) {
    Json json{{"format", "sotto-model"},
              {"version", 1},
              {"task", card.task},
              {"hidden", card.hidden ? Json(*card.hidden) : Json()},
              {"target", targets.name_of(card.shape.target)},
              {"classes", label_texts(card.shape.table, card.shape.labels)},
              {"labels", card.shape.labels},
              {"features", card.shape.features},
              {"image_rows", card.shape.image_rows}};
    if (card.shape.table) {
        json["inputs"] = inputs_of(card);
        json["limit"] = std::isfinite(card.scaling->limit) ? Json(card.scaling->limit) : Json();
        json["target_offset"] = card.scaling->target_mean;
        json["target_scale"] = card.scaling->target_deviation;
        json["missing"] = name_of(card.missing);
        json["table"] = json_of(*card.shape.table);
    }
    return json.dump(2) + "\n";
}

ModelCard model_card_from_json(std::string_view text, const std::string& source) {
    try {
        const JsonDocument document(text);
        document.require_format("sotto-model", 1);
        const JsonValue json = document.root();
        ModelCard card;
        card.task = json.at("task").text();
        if (const auto hidden = json.find("hidden")) card.hidden = hidden->integer<long>(1);
        card.shape.target = named_in(targets, json.at("target"));
        card.shape.labels = labels_from(json.at("labels"));
        card.shape.features = json.at("features").integer<long>(1);
        card.shape.image_rows = json.at("image_rows").integer<long>(0);
        const auto table = json.find("table");
        if (!table) return card;
        card.shape.table = table_shape_from(*table);
        card.missing = parse_missing(json.at("missing").text());
        card.scaling = scaling_from(json, card);
        return card;
    } catch (const Error& error) {
        throw DataError(fmt::format("{}: {}", source, error.what()));
    }
}

}  // namespace sotto
