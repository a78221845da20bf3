#include "commands/doctor/doctor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/core/build_info.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// Hosts in the order of their first rank, with their ranks.
std::vector<std::pair<Placement, std::vector<int>>> hosts_of(
    std::span<const RankFindings> findings) {
    std::vector<std::pair<Placement, std::vector<int>>> hosts;
    for (const auto& one : findings) {
        auto host = std::find_if(hosts.begin(), hosts.end(), [&](const auto& known) {
            return known.first.host == one.placement.host;
        });
        if (host == hosts.end()) host = hosts.insert(hosts.end(), {one.placement, {}});
        host->second.push_back(one.placement.rank);
    }
    return hosts;
}

}  // namespace

std::string doctor_report_json(std::span<const RankFindings> findings,
                               std::span<const DoctorCheck> merged) {
    Json json;
    json["ok"] = std::all_of(merged.begin(), merged.end(), [](const auto& c) { return c.ok; });
    json["version"] = build_version();
    json["launched"] = findings.front().placement.launched;
    json["ranks"] = findings.size();
    json["hosts"] = Json::array();
    for (const auto& [placement, ranks] : hosts_of(findings))
        json["hosts"].push_back(
            {{"host", placement.host}, {"cores", placement.cores_on_host}, {"ranks", ranks}});
    json["checks"] = Json::array();
    for (const auto& check : merged)
        json["checks"].push_back(
            {{"name", check.name}, {"ok", check.ok}, {"found", check.found}, {"fix", check.fix}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string doctor_report_text(std::span<const RankFindings> findings,
                               std::span<const DoctorCheck> merged) {
    const auto hosts = hosts_of(findings);
    std::string text;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto& [placement, ranks] = hosts[i];
        const std::string who =
            placement.launched
                ? fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges_text(ranks))
                : "this process, started without mpirun";
        text += fmt::format("{:<6}{}: {}\n", i == 0 ? "hosts" : "", placement.host, who);
    }
    std::size_t width = 0, failed = 0;
    for (const auto& check : merged) width = std::max(width, check.name.size());
    for (const auto& check : merged) {
        if (!check.ok) ++failed;
        text += fmt::format(
            "{:<6}{:<{}}  {}\n", check.ok ? "ok" : "FAIL", check.name, width, check.found);
        if (!check.fix.empty())
            text += fmt::format(
                "{:<6}{:<{}}  {}: {}\n", "", "", width, check.ok ? "advice" : "fix", check.fix);
    }
    return text + (failed == 0 ? fmt::format("all {} checks ok\n", merged.size())
                               : fmt::format("{} of {} checks failed\n", failed, merged.size()));
}

}  // namespace sotto
