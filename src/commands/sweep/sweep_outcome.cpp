#include "commands/sweep/sweep_outcome.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

const std::vector<std::string>& sweep_metrics() {
    static const std::vector<std::string> names{"test_loss",
                                                "test_loss_mean_model",
                                                "test_accuracy",
                                                "test_accuracy_mean_model",
                                                "train_loss_mean_model",
                                                "optimality_gap",
                                                "optimality_gap_agents",
                                                "consensus_distance",
                                                "epsilon",
                                                "mu"};
    return names;
}

std::string to_json(const SweepOutcome& outcome, const std::string& options) {
    Json json;
    json["status"] = sweep_statuses.name_of(outcome.status);
    json["options"] = options;
    json["seconds"] = outcome.seconds;
    if (!outcome.error.empty()) {
        json["error"] = outcome.error;
        json["exit_code"] = outcome.exit_code;
    }
    for (const auto& [name, value] : outcome.metrics)
        json["metrics"][name] = std::isfinite(value) ? Json(value) : Json();
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

SweepOutcome outcome_from_json(const std::filesystem::path& file) {
    try {
        const Json json = Json::parse(read_file(file));
        SweepOutcome outcome;
        outcome.status = sweep_statuses.parse("status", json.at("status").get<std::string>());
        outcome.seconds = json.at("seconds").get<double>();
        outcome.error = json.value("error", "");
        outcome.exit_code = json.value("exit_code", 0);
        if (json.contains("metrics"))
            for (const auto& [name, value] : json.at("metrics").items())
                outcome.metrics[name] = value.is_null() ? not_a_number : value.get<double>();
        return outcome;
    } catch (const Json::exception& damage) {
        throw DataError(
            fmt::format("{}: not the outcome of a training ({}); remove it, and it is "
                        "trained again",
                        file.string(),
                        damage.what()));
    }
}

}  // namespace sotto
