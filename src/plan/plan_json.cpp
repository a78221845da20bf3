#include "sotto/plan/plan_json.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr NameTable<TemporalFactor::Kind, 4> temporal_kinds{
    {{{TemporalFactor::Kind::identity, "identity"},
      {TemporalFactor::Kind::dense, "dense"},
      {TemporalFactor::Kind::banded, "banded"},
      {TemporalFactor::Kind::one_lag, "one-lag"}}}};

std::vector<int> integers_from_json(const Json& json) {
    std::vector<int> values;
    values.reserve(json.size());
    for (const auto& value : json.get_ref<const Json::array_t&>())
        values.push_back(integer_from_json<int>(value));
    return values;
}

Json matrix_to_json(const Eigen::MatrixXd& matrix) {
    Json result = Json::array();
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        Json row = Json::array();
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
        result.push_back(std::move(row));
    }
    return result;
}

Eigen::MatrixXd matrix_from_json(const Json& json) {
    const auto rows = json.get<std::vector<std::vector<double>>>();
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

NoisePlan parse(const Json& json) {
    if (json.at("format") != "sotto-plan" || json.at("version") != 1)
        throw DataError("\"format\" must be \"sotto-plan\" and \"version\" 1");
    NoisePlan plan;
    plan.mechanism = json.at("mechanism").get<std::string>();
    plan.agents = integer_from_json<int>(json.at("agents"));
    plan.scale = json.at("scale").get<double>();
    plan.coalition_size = integer_from_json<int>(json.at("coalition_size"));
    plan.grid_step_log2 = integer_from_json<int>(json.at("grid_step_log2"));
    plan.temporal.kind =
        temporal_kinds.parse("kind", json.at("temporal").at("kind").get<std::string>());
    plan.temporal.lower = matrix_from_json(json.at("temporal").at("lower"));
    plan.entry = noise_entries.parse("entry", json.at("entry").get<std::string>());
    plan.aggregation = aggregations.parse("aggregation", json.at("aggregation").get<std::string>());
    for (const auto& group : json.at("seed_groups"))
        plan.groups.push_back({integers_from_json(group)});
    for (const auto& stream : json.at("streams"))
        plan.streams.push_back({integer_from_json<int>(stream.at("group")),
                                integer_from_json<std::uint64_t>(stream.at("index")),
                                stream_distributions.parse(
                                    "distribution", stream.at("distribution").get<std::string>())});
    for (const auto& row : json.at("rows"))
        plan.rows.push_back({integer_from_json<int>(row.at("sender")),
                             integer_from_json<int>(row.at("receiver")),
                             integers_from_json(row.at("streams")),
                             row.at("coefficients").get<std::vector<double>>()});
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
    NoisePlan plan;
    try {
        plan = parse(json_from_text<Json>(text));
    } catch (const std::exception& error) {
        throw DataError(fmt::format("{}: not a noise plan ({})", source, error.what()));
    }
    plan.validate();
    return plan;
}

}  // namespace sotto
