#include "tasks/predictions.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "tasks/data_words.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

namespace {

/// Records of the file as the model has them, and whether each has a label that it knows.
struct NewRecords {
    Dataset data;
    bool labelled = false;
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
    if (card.scaling) records.data = standardised(std::move(records.data), *card.scaling);
    return records;
}

/// exp(-loss) of every class: its probability where the loss is the cross-entropy.
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

/// The value whose squared errors to 0 and to 1 are these losses, in the data's units.
Eigen::MatrixXd value_outputs(Objective& objective,
                              const Eigen::VectorXd& model,
                              Dataset data,
                              const std::optional<Standardisation>& scaling) {
    data.labels.setZero();
    const Eigen::VectorXd to_zero = objective.record_losses(model, data);
    data.labels.setOnes();
    const Eigen::VectorXd to_one = objective.record_losses(model, data);
    Eigen::MatrixXd outputs = ((to_zero - to_one).array() + 1).matrix().transpose() / 2;
    if (scaling) outputs = outputs.array() * scaling->target_deviation + scaling->target_mean;
    return outputs;
}

void add_metrics(Predictions& predictions, const Dataset& data, const ModelCard& card) {
    const Eigen::Index records = data.records();
    const std::size_t classes = predictions.classes.size();
    if (classes == 0) {
        Eigen::VectorXd values = data.labels;
        if (card.scaling)
            values = values.array() * card.scaling->target_deviation + card.scaling->target_mean;
        const auto count = static_cast<double>(records);
        predictions.metric =
            std::sqrt((predictions.outputs.row(0).transpose() - values).squaredNorm() / count);
        predictions.constant_metric =
            std::sqrt((values.array() - values.mean()).square().sum() / count);
        return;
    }
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(classes));
    double right = 0;
    for (Eigen::Index record = 0; record < records; ++record) {
        Eigen::Index best = 0;
        predictions.outputs.col(record).maxCoeff(&best);
        for (std::size_t place = 0; place < classes; ++place)
            if (class_at(place, classes) == data.labels(record)) {
                counts(static_cast<Eigen::Index>(place)) += 1;
                right += best == static_cast<Eigen::Index>(place) ? 1 : 0;
            }
    }
    predictions.metric = right / static_cast<double>(records);
    predictions.constant_metric = counts.maxCoeff() / static_cast<double>(records);
}

/// A cell as CSV has it.
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
            "training from records)",
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
    if (records.labelled) add_metrics(predictions, records.data, card);
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
