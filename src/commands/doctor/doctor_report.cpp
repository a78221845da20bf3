// What all ranks found, as one report.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "commands/doctor/doctor.hpp"
#include "run/run_directory.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_input.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_groups = 4;  // of ranks that say the same, in one line

/// "0-3, 7".
std::string ranges(const std::vector<int>& ascending) {
    std::string text;
    for (std::size_t i = 0; i < ascending.size();) {
        std::size_t last = i;
        while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
        if (!text.empty()) text += ", ";
        text += std::to_string(ascending[i]);
        if (last > i) text += fmt::format("-{}", ascending[last]);
        i = last + 1;
    }
    return text;
}

/// Ranks that found the same on the same host.
struct Group {
    std::string host, found;
    std::vector<int> ranks;
};

std::string text_of(const std::vector<Group>& groups) {
    std::string text;
    for (std::size_t i = 0; i < groups.size() && i < most_groups; ++i)
        text += fmt::format("{}rank{} {} on {}: {}",
                            i == 0 ? "" : "; ",
                            groups[i].ranks.size() == 1 ? "" : "s",
                            ranges(groups[i].ranks),
                            groups[i].host,
                            groups[i].found);
    if (groups.size() > most_groups)
        text += fmt::format("; and {} more", groups.size() - most_groups);
    return text;
}

/// @param firsts only the first rank of every host counts: what belongs to a host need not be said
/// again by each of its ranks, who measured it at another moment.
template <class Wanted>
std::vector<Group> group(std::span<const RankFindings> findings,
                         std::size_t check,
                         bool firsts,
                         Wanted wanted) {
    std::vector<Group> groups;
    std::map<std::string, bool> seen;
    for (const auto& one : findings) {
        const DoctorCheck& result = one.checks[check];
        const std::string& host = one.placement.host;
        if (!wanted(result) || (firsts && !seen.emplace(host, true).second)) continue;
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
            return g.host == host && g.found == result.found;
        });
        if (same != groups.end())
            same->ranks.push_back(one.placement.rank);
        else
            groups.push_back({host, result.found, {one.placement.rank}});
    }
    return groups;
}

DoctorCheck merge_one(std::span<const RankFindings> findings, std::size_t check) {
    DoctorCheck merged = findings.front().checks[check];
    if (findings.size() == 1) return merged;
    const auto failed = group(findings, check, false, [](const DoctorCheck& c) { return !c.ok; });
    if (!failed.empty()) {
        const auto first = std::find_if(findings.begin(), findings.end(), [&](const auto& one) {
            return !one.checks[check].ok;
        });
        merged.ok = false;
        merged.fix = first->checks[check].fix;
        merged.found = text_of(failed);
        return merged;
    }
    const auto all =
        group(findings, check, !merged.must_agree, [](const DoctorCheck&) { return true; });
    const bool same = std::all_of(
        all.begin(), all.end(), [&](const Group& g) { return g.found == all.front().found; });
    if (same) return merged;
    merged.found = text_of(all);
    if (merged.must_agree) {
        merged.ok = false;
        merged.fix = "install the same build and the same libraries on every host";
    } else {
        for (const auto& one : findings)
            if (merged.fix.empty()) merged.fix = one.checks[check].fix;
    }
    return merged;
}

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

std::vector<DoctorCheck> merge_findings(std::span<const RankFindings> findings) {
    std::vector<DoctorCheck> merged;
    for (std::size_t i = 0; i < findings.front().checks.size(); ++i) {
        for (const auto& one : findings)
            if (one.checks.size() <= i || one.checks[i].name != findings.front().checks[i].name)
                throw DataError(fmt::format(
                    "rank {} on {} made other checks than rank 0: it runs another version of "
                    "sotto; install the same build on every host",
                    one.placement.rank,
                    one.placement.host));
        merged.push_back(merge_one(findings, i));
    }
    return merged;
}

std::string to_json(const RankFindings& findings) {
    Json json;
    json["launched"] = findings.placement.launched;
    json["rank"] = findings.placement.rank;
    json["ranks"] = findings.placement.ranks;
    json["host"] = findings.placement.host;
    json["ranks_on_host"] = findings.placement.ranks_on_host;
    json["cores_on_host"] = findings.placement.cores_on_host;
    json["checks"] = Json::array();
    for (const auto& check : findings.checks)
        json["checks"].push_back({{"name", check.name},
                                  {"ok", check.ok},
                                  {"found", check.found},
                                  {"fix", check.fix},
                                  {"must_agree", check.must_agree}});
    // A path or a launcher's message need not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RankFindings findings_from_json(const std::string& text) {
    try {
        const Json json = json_from_text<Json>(text);
        RankFindings findings;
        Placement& placement = findings.placement;
        placement.launched = json.at("launched").get<bool>();
        placement.rank = integer_from_json<int>(json.at("rank"));
        placement.ranks = integer_from_json<int>(json.at("ranks"));
        placement.host = json.at("host").get<std::string>();
        placement.ranks_on_host = integer_from_json<int>(json.at("ranks_on_host"));
        placement.cores_on_host = integer_from_json<int>(json.at("cores_on_host"));
        for (const auto& check : json.at("checks"))
            findings.checks.push_back({check.at("name"),
                                       check.at("ok"),
                                       check.at("found"),
                                       check.at("fix"),
                                       check.at("must_agree")});
        return findings;
    } catch (const std::exception& error) {
        throw DataError(fmt::format("a rank's findings cannot be read ({})", error.what()));
    }
}

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
                ? fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges(ranks))
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
