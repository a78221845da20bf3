#include "tasks/predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "tasks/record_task.hpp"
#include "tasks/task_data.hpp"

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

/// {offset, scale} and, if there are limits, {low, high}.
/// @param prefix of these names.
Json json_of(const ColumnScaling& column, const std::string& prefix = {}) {
    Json json{{prefix + "offset", column.mean}, {prefix + "scale", column.deviation}};
    if (std::isfinite(column.low)) json[prefix + "low"] = column.low;
    if (std::isfinite(column.high)) json[prefix + "high"] = column.high;
    return json;
}

ColumnScaling column_scaling_from(const JsonValue& json, const std::string& prefix = {}) {
    ColumnScaling column{.mean = json.at(prefix + "offset").number(),
                         .deviation = json.at(prefix + "scale").number()};
    if (const auto low = json.find(prefix + "low")) column.low = low->number();
    if (const auto high = json.find(prefix + "high")) column.high = high->number();
    if (!std::isfinite(column.mean)) json.at(prefix + "offset").fail("a finite number");
    if (!(column.deviation > 0 && std::isfinite(column.deviation)))
        json.at(prefix + "scale").fail("a finite number above 0");
    if (!(column.low < column.high)) json.fail("a low limit below the high one");
    return column;
}

/// One entry per input of a model of tables.
Json inputs_of(const ModelCard& card) {
    Json inputs = Json::array();
    for (const ColumnShape& feature : card.shape.table->features) {
        const auto add = [&](const std::string& name, Json more) {
            Json input{{"name", name}, {"column", feature.name}};
            input.update(more);
            inputs.push_back(std::move(input));
        };
        if (feature.kind != Kind::categories)
            add(feature.name, json_of(card.scaling->features[inputs.size()]));
        for (const std::string& category : feature.categories)
            add(fmt::format("{} = {}", feature.name, category), {{"category", category}});
        if (card.missing.kind == MissingPolicy::Kind::indicator)
            add(fmt::format("{} is missing", feature.name), {{"missing", true}});
    }
    return inputs;
}

/// Of a model of tables.
Standardisation model_scaling_from(const JsonValue& root, const ModelCard& card) {
    const FeatureNames features = feature_names(*card.shape.table, card.missing);
    Standardisation scaling = no_standardisation(std::ssize(features.names));
    const std::vector<JsonValue> inputs = root.at("inputs").items();
    if (inputs.size() != features.names.size()) root.at("inputs").fail("one entry per input");
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].at("name").text() != features.names[k]) inputs[k].fail(features.names[k]);
        if (!features.numbers[k]) continue;
        scaling.features[k] = column_scaling_from(inputs[k]);
    }
    scaling.target = column_scaling_from(root, "target_");
    // In version 1 scaled numbers were cut to [-limit, limit].
    if (const auto limit = root.find("limit")) {
        const auto cut = [&](ColumnScaling& column) {
            column.low = column.mean - limit->number() * column.deviation;
            column.high = column.mean + limit->number() * column.deviation;
            if (!(column.low < column.high)) limit->fail("a number above 0");
        };
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (features.numbers[k]) cut(scaling.features[k]);
        cut(scaling.target);
    }
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

Json json_of(const Standardisation& scaling) {
    Json columns = Json::array();
    for (const ColumnScaling& column : scaling.features) columns.push_back(json_of(column));
    return {{"features", std::move(columns)}, {"target", json_of(scaling.target)}};
}

Standardisation scaling_from(const JsonValue& json) {
    Standardisation scaling;
    for (const JsonValue& column : json.at("features").items())
        scaling.features.push_back(column_scaling_from(column));
    scaling.target = column_scaling_from(json.at("target"));
    return scaling;
}

ModelCard model_card(const TaskConfig& config,
                     const DataShape& shape,
                     const std::optional<Standardisation>& scaling) {
    return {config.task, config.hidden, shape, config.table.missing, scaling};
}

std::string to_json(const ModelCard& card) {
    Json json{{"format", "sotto-model"},
              {"version", 2},
              {"task", card.task},
              {"hidden", card.hidden ? Json(*card.hidden) : Json()},
              {"target", targets.name_of(card.shape.target)},
              {"classes", label_texts(card.shape.table, card.shape.labels)},
              {"labels", card.shape.labels},
              {"features", card.shape.features},
              {"image_rows", card.shape.image_rows}};
    if (card.shape.table) {
        json["inputs"] = inputs_of(card);
        json.update(json_of(card.scaling->target, "target_"));
        json["missing"] = name_of(card.missing);
        json["table"] = json_of(*card.shape.table);
    }
    return json.dump(2) + "\n";
}

ModelCard model_card_from_json(std::string_view text, const std::string& source) {
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        document.require_format("sotto-model", json.at("version").integer<int>() == 1 ? 1 : 2);
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
        card.scaling = model_scaling_from(json, card);
        return card;
    } catch (const Error& error) {
        throw DataError(fmt::format("{}: {}", source, error.what()));
    }
}

namespace {

/// Records encoded for the model, and whether each has a known label.
struct NewRecords {
    Dataset data;
    bool labelled = false;
    Eigen::VectorXd labels{};  ///< classes, or values in the data's units, beyond bounds too
};

bool has_labels(const Table& table, const TableShape& shape) {
    for (const TableColumn& column : table.columns)
        if (column.name == shape.label && table.named) {
            for (std::size_t row = 0; row < column.numbers.size(); ++row)
                if (column.is_missing(row)) return false;
            return true;
        }
    return !table.named && table.columns.size() > shape.features.size();
}

NewRecords records_of(DataFile file, const ModelCard& card) {
    NewRecords records;
    const auto* table = std::get_if<Table>(&file);
    if ((table != nullptr) != card.shape.table.has_value())
        throw DataError(
            fmt::format("{}: is {} table, and the model was trained on data that are {}",
                        std::visit([](const auto& data) { return data.source; }, file),
                        table != nullptr ? "a" : "no",
                        table != nullptr ? "none" : "tables"));
    if (table != nullptr) {
        records.labelled = has_labels(*table, *card.shape.table);
        records.data = encoded(*table, *card.shape.table, card.missing, records.labelled);
    } else {
        records.data = std::move(std::get<Dataset>(file));
        records.labelled = true;
    }
    if (records.data.feature_count() > card.shape.features)
        throw DataError(fmt::format("{}: {} features, the model has {}",
                                    records.data.source,
                                    records.data.feature_count(),
                                    card.shape.features));
    if (records.labelled)
        records.data = with_classes(std::move(records.data), card.shape.labels);
    else if (card.shape.target == Target::label)
        records.data.labels.setConstant(class_at(0, card.shape.labels.size()));
    records.data = widened(std::move(records.data), card.shape.features);
    records.labels = records.data.labels;
    if (card.scaling) records.data = standardised(std::move(records.data), *card.scaling);
    return records;
}

/// exp(-loss) of every class, which is its probability if the loss is the cross-entropy.
Eigen::MatrixXd class_outputs(Objective& objective,
                              const Eigen::VectorXd& model,
                              Dataset data,
                              std::size_t classes) {
    Eigen::MatrixXd outputs(static_cast<Eigen::Index>(classes), data.records());
    for (std::size_t place = 0; place < classes; ++place) {
        data.labels.setConstant(class_at(place, classes));
        outputs.row(static_cast<Eigen::Index>(place)) =
            (-objective.record_losses(model, data).array()).exp().transpose();
    }
    return outputs;
}

/// The value whose squared errors to 0 and 1 are these losses, in the data's units.
Eigen::MatrixXd value_outputs(Objective& objective,
                              const Eigen::VectorXd& model,
                              Dataset data,
                              const std::optional<Standardisation>& scaling) {
    data.labels.setZero();
    const Eigen::VectorXd to_zero = objective.record_losses(model, data);
    data.labels.setOnes();
    const Eigen::VectorXd to_one = objective.record_losses(model, data);
    Eigen::MatrixXd outputs = ((to_zero - to_one).array() + 1).matrix().transpose() / 2;
    if (scaling) outputs = outputs.array() * scaling->target.deviation + scaling->target.mean;
    return outputs;
}

void add_metrics(Predictions& predictions, const Eigen::VectorXd& labels) {
    const Eigen::Index records = labels.size();
    const std::size_t classes = predictions.classes.size();
    if (classes == 0) {
        const auto count = static_cast<double>(records);
        predictions.metric =
            std::sqrt((predictions.outputs.row(0).transpose() - labels).squaredNorm() / count);
        predictions.constant_metric =
            std::sqrt((labels.array() - labels.mean()).square().sum() / count);
        return;
    }
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(classes));
    double right = 0;
    for (Eigen::Index record = 0; record < records; ++record) {
        Eigen::Index best = 0;
        predictions.outputs.col(record).maxCoeff(&best);
        for (std::size_t place = 0; place < classes; ++place)
            if (class_at(place, classes) == labels(record)) {
                counts(static_cast<Eigen::Index>(place)) += 1;
                right += best == static_cast<Eigen::Index>(place) ? 1 : 0;
            }
    }
    predictions.metric = right / static_cast<double>(records);
    predictions.constant_metric = counts.maxCoeff() / static_cast<double>(records);
}

/// A cell of CSV.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",;\t\"\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
}

}  // namespace

std::string Predictions::prediction(Eigen::Index record) const {
    if (classes.empty()) return fmt::format("{:.6g}", outputs(0, record));
    Eigen::Index best = 0;
    outputs.col(record).maxCoeff(&best);
    return classes[static_cast<std::size_t>(best)];
}

Predictions predict(const std::string& run_directory, int agent, const std::string& files) {
    const std::filesystem::path folder =
        std::filesystem::path(run_directory) / "agents" / std::to_string(agent);
    const std::string card_file = (folder / "model.json").string();
    if (!std::filesystem::exists(card_file))
        throw ConfigError(fmt::format(
            "agent: {} has no {} (allowed: the run's directory on the machine of the agent, of a "
            "training by `sotto train` from records; a model of PyTorch is taken up by "
            "sotto.torch.load(model, run))",
            run_directory,
            "agents/" + std::to_string(agent) + "/model.json"));
    const ModelCard card = model_card_from_json(read_file(card_file), card_file);
    const Eigen::VectorXd model = read_npy(folder / "model.npy").reshaped();
    std::vector<FileDigest> digests;
    NewRecords records = records_of(read_files("data", files, agent, digests), card);
    TaskConfig config;
    config.task = card.task;
    config.hidden = card.hidden;
    LocalData local;
    local.shape = card.shape;
    const auto objective = make_record_objective(config, local, records.data, nullptr);
    if (objective->dimension() != model.size())
        throw DataError(fmt::format("{}: {} parameters, the task has {}",
                                    (folder / "model.npy").string(),
                                    model.size(),
                                    objective->dimension()));
    Predictions predictions;
    if (card.shape.target == Target::label)
        predictions.classes = label_texts(card.shape.table, card.shape.labels);
    predictions.outputs =
        predictions.classes.empty()
            ? value_outputs(*objective, model, records.data, card.scaling)
            : class_outputs(*objective, model, records.data, predictions.classes.size());
    if (records.labelled) add_metrics(predictions, records.labels);
    return predictions;
}

std::string predictions_csv(const Predictions& predictions) {
    std::string csv = "prediction";
    for (const std::string& name : predictions.classes) csv += "," + quoted("probability " + name);
    csv += '\n';
    for (Eigen::Index record = 0; record < predictions.records(); ++record) {
        csv += quoted(predictions.prediction(record));
        if (!predictions.classes.empty())
            for (const double output : predictions.outputs.col(record))
                csv += fmt::format(",{:.6g}", output);
        csv += '\n';
    }
    return csv;
}

}  // namespace sotto
