#pragma once

// What one needs beside its parameters to use a trained model; not installed.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "core/json_value.hpp"
#include "learn/table_encoding.hpp"
#include "tasks/data_shape.hpp"

namespace sotto {

/// agents/<agent>/model.json: how records become inputs of the model in model.npy, and its outputs
/// classes or values.
struct ModelCard {
    std::string task;
    std::optional<long> hidden;
    DataShape shape;
    MissingPolicy missing{};
    std::optional<Standardisation> scaling;  ///< of tables: the agent's own
};

[[nodiscard]] ModelCard model_card(const TaskConfig& config,
                                   const DataShape& shape,
                                   const std::optional<Standardisation>& scaling);

/// With a list of all inputs, in the order of the model's, for readers in other languages: each is
/// {name, column, offset, scale} of a number, {name, column, category} or {name, column, missing}.
[[nodiscard]] std::string to_json(const ModelCard& card);
/// @throws DataError naming the source and what is wrong.
[[nodiscard]] ModelCard model_card_from_json(std::string_view text, const std::string& source);

/// Of history.json, too.
[[nodiscard]] nlohmann::ordered_json json_of(const TableShape& table);
/// @throws DataError.
[[nodiscard]] TableShape table_shape_from(const JsonValue& json);

}  // namespace sotto
