#include "audit/audit_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_output.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

std::string audit_report_json(const AuditResult& result) { return to_text(result.json()); }

std::string audit_report_text(const AuditResult& result) {
    std::string text = fmt::format("audit: {}, {} agents, {} rounds{}; {} {}\n",
                                   result.mechanism,
                                   result.agents,
                                   result.rounds,
                                   result.task.empty() ? "" : " of " + result.task,
                                   result.view,
                                   result.question());
    text += result.tables();
    if (result.consistent())
        return text +
               fmt::format("consistent: {} ({:.1f} s)\n", result.agreement(), result.seconds);
    text += "INCONSISTENT:\n";
    for (const auto& finding : result.findings) text += "  - " + finding + "\n";
    return text;
}

Json run_json(const AuditResult& result) {
    Json json;
    json["attack"] = result.attack;
    json["mechanism"] = result.mechanism;
    if (!result.task.empty()) json["task"] = result.task;
    json["agents"] = result.agents;
    json["rounds"] = result.rounds;
    return json;
}

void add_ending(Json& json, const AuditResult& result) {
    json["findings"] = result.findings;
    json["seed"] = result.seed;
    json["seconds"] = result.seconds;
    json["run_directory"] = result.run_directory;
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string number_text(double value, int digits) {
    if (std::isnan(value)) return "-";
    return std::isinf(value) ? "infinite" : fmt::format("{:.{}g}", value, digits);
}

Json distance_json(int distance) { return distance < 0 ? Json() : Json(distance); }

std::string distance_text(int distance) { return distance < 0 ? "-" : std::to_string(distance); }

}  // namespace sotto
