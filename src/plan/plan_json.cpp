#include "sotto/plan/plan_json.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr NameTable<TemporalFactor::Kind, 4> temporal_kinds{
    {{{TemporalFactor::Kind::identity, "identity"},
      {TemporalFactor::Kind::dense, "dense"},
      {TemporalFactor::Kind::banded, "banded"},
      {TemporalFactor::Kind::one_lag, "one-lag"}}}};

Json matrix_to_json(const Eigen::MatrixXd& matrix) {
    Json result = Json::array();
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        Json row = Json::array();
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
        result.push_back(std::move(row));
    }
    return result;
}

Eigen::MatrixXd matrix_from_json(const JsonValue& json) {
    std::vector<std::vector<double>> rows;
    for (const JsonValue& row : json.items()) rows.push_back(row.numbers());
    // Before anything is allocated: one long row and many empty ones are no matrix.
    for (const auto& row : rows)
        if (row.size() != rows.front().size())
            throw DataError("rows of the temporal factor differ in length");
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()),
                           rows.empty() ? 0 : static_cast<Eigen::Index>(rows.front().size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows[i].size(); ++j)
            matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
    }
    return matrix;
}

NoisePlan parse(const JsonDocument& document) {
    document.require_format("sotto-plan", 1);
    const JsonValue json = document.root();
    NoisePlan plan;
    plan.mechanism = json.at("mechanism").text();
    plan.agents = json.at("agents").integer<int>();
    plan.scale = json.at("scale").number();
    plan.coalition_size = json.at("coalition_size").integer<int>();
    plan.grid_step_log2 = json.at("grid_step_log2").integer<int>();
    plan.temporal.kind = temporal_kinds.parse("kind", json.at("temporal").at("kind").text());
    plan.temporal.lower = matrix_from_json(json.at("temporal").at("lower"));
    plan.entry = noise_entries.parse("entry", json.at("entry").text());
    plan.aggregation = aggregations.parse("aggregation", json.at("aggregation").text());
    for (const JsonValue& group : json.at("seed_groups").items())
        plan.groups.push_back({group.integers()});
    for (const JsonValue& stream : json.at("streams").items())
        plan.streams.push_back(
            {stream.at("group").integer<int>(),
             stream.at("index").integer<std::uint64_t>(),
             stream_distributions.parse("distribution", stream.at("distribution").text())});
    for (const JsonValue& row : json.at("rows").items())
        plan.rows.push_back({row.at("sender").integer<int>(),
                             row.at("receiver").integer<int>(),
                             row.at("streams").integers(),
                             row.at("coefficients").numbers()});
    return plan;
}

}  // namespace

std::string to_json(const NoisePlan& plan) {
    Json json;
    json["format"] = "sotto-plan";
    json["version"] = 1;
    json["mechanism"] = plan.mechanism;
    json["agents"] = plan.agents;
    json["scale"] = plan.scale;
    json["coalition_size"] = plan.coalition_size;
    json["grid_step_log2"] = plan.grid_step_log2;
    json["temporal"] = {{"kind", temporal_kinds.name_of(plan.temporal.kind)},
                        {"lower", matrix_to_json(plan.temporal.lower)}};
    json["entry"] = noise_entries.name_of(plan.entry);
    json["aggregation"] = aggregations.name_of(plan.aggregation);
    json["seed_groups"] = Json::array();
    for (const auto& group : plan.groups) json["seed_groups"].push_back(group.members);
    json["streams"] = Json::array();
    for (const auto& stream : plan.streams)
        json["streams"].push_back(
            {{"group", stream.group},
             {"index", stream.index},
             {"distribution", stream_distributions.name_of(stream.distribution)}});
    json["rows"] = Json::array();
    for (const auto& row : plan.rows)
        json["rows"].push_back({{"sender", row.sender},
                                {"receiver", row.receiver},
                                {"streams", row.streams},
                                {"coefficients", row.coefficients}});
    return json.dump() + "\n";
}

NoisePlan plan_from_json(std::string_view text, const std::string& source) {
    const auto told = [&](const Error& error) {
        return fmt::format("{}: not a noise plan ({})", source, error.what());
    };
    NoisePlan plan;
    try {
        plan = parse(JsonDocument(text));
    } catch (const Error& error) {
        throw DataError(told(error));
    }
    try {
        plan.validate();
    } catch (const Error& error) {
        throw_error(error.exit_code(), told(error));
    }
    return plan;
}

}  // namespace sotto
