#include "commands/sweep/sweep_outcome.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_value.hpp"
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
    const std::string text = read_file(file);
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        SweepOutcome outcome;
        outcome.status = sweep_statuses.parse("status", json.at("status").text());
        outcome.seconds = json.at("seconds").number();
        if (const auto error = json.find("error")) outcome.error = error->text();
        if (const auto code = json.find("exit_code"))
            outcome.exit_code = code->integer<int>(0, 255);
        if (const auto metrics = json.find("metrics"))
            for (const auto& [name, ignored] : metrics->members()) {
                const auto value = metrics->find(name);
                outcome.metrics[name] = value ? value->number() : not_a_number;
            }
        return outcome;
    } catch (const Error& damage) {
        throw DataError(
            fmt::format("{}: not the outcome of a training ({}); remove it, and it is "
                        "trained again",
                        file.string(),
                        damage.what()));
    }
}

}  // namespace sotto
