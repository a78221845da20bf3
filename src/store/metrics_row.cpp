#include "store/metrics_row.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

constexpr NameTable<ModelStage, 3> stage_names{{{{ModelStage::last, "last"},
                                                 {ModelStage::averaged, "averaged"},
                                                 {ModelStage::consensus, "consensus"}}}};

template <double Evaluation::*figure>
double evaluated(const MetricsRow& row) {
    return row.evaluation.*figure;
}

template <double RoundSeconds::*phase>
double seconds_of(const MetricsRow& row) {
    return row.phases ? (*row.phases).*phase : not_a_number;
}

constexpr std::array<MetricColumn, 15> columns{{
    {"epsilon", "privacy", [](const MetricsRow& row) { return row.epsilon; }},
    {"test_loss", "loss", evaluated<&Evaluation::test_loss>},
    {"test_loss_worst", "loss", evaluated<&Evaluation::test_loss_worst>},
    {"test_loss_mean_model", "loss", evaluated<&Evaluation::test_loss_mean_model>},
    {"test_accuracy", "accuracy", evaluated<&Evaluation::test_accuracy>},
    {"test_accuracy_mean_model", "accuracy", evaluated<&Evaluation::test_accuracy_mean_model>},
    {"train_loss_mean_model", "loss", evaluated<&Evaluation::train_loss_mean_model>},
    {"optimality_gap", "loss", evaluated<&Evaluation::optimality_gap>},
    {"optimality_gap_agents", "loss", evaluated<&Evaluation::optimality_gap_agents>},
    {"consensus_distance", "models", evaluated<&Evaluation::consensus_distance>},
    {"elapsed_seconds", "seconds", [](const MetricsRow& row) { return row.elapsed_seconds; }},
    {"gradient_seconds", "seconds", seconds_of<&RoundSeconds::gradient>},
    {"noise_seconds", "seconds", seconds_of<&RoundSeconds::noise>},
    {"exchange_seconds", "seconds", seconds_of<&RoundSeconds::exchange>},
    {"mix_seconds", "seconds", seconds_of<&RoundSeconds::mix>},
}};

std::string number_field(double value) {
    return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

std::string records_field(const std::optional<long>& most) {
    return most ? std::to_string(*most) : std::string("all");
}

}  // namespace

std::string name_of(ModelStage stage) { return stage_names.name_of(stage); }

std::span<const MetricColumn> metric_columns() { return columns; }

std::string metrics_head() {
    std::string line = "round";
    for (const MetricColumn& column : columns) line += std::string(",") + column.name;
    return line + ",models,test_records,train_records";
}

std::string metrics_line(const MetricsRow& row) {
    std::string line = std::to_string(row.round);
    for (const MetricColumn& column : columns) line += "," + number_field(column.value(row));
    return line + "," + name_of(row.stage) + "," + records_field(row.evaluation.records.test) +
           "," + records_field(row.evaluation.records.train);
}

}  // namespace sotto
