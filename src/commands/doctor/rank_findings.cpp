#include "commands/doctor/rank_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/json.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_groups = 4;  // groups of ranks named in one line

/// Ranks of one host that found the same.
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
                            ranges_text(groups[i].ranks),
                            groups[i].host,
                            groups[i].found);
    if (groups.size() > most_groups)
        text += fmt::format("; and {} more", groups.size() - most_groups);
    return text;
}

/// @param firsts counts only the first rank of each host: its other ranks measured the same host at
/// another moment.
template <class Wanted>
std::vector<Group> group(std::span<const RankFindings> findings,
                         std::size_t check,
                         bool firsts,
                         Wanted wanted) {
    std::vector<Group> groups;
    std::set<std::string> seen;
    for (const auto& one : findings) {
        const DoctorCheck& result = one.checks[check];
        const std::string& host = one.placement.host;
        if (!wanted(result) || (firsts && !seen.insert(host).second)) continue;
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
    // Paths and launchers' messages need not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RankFindings findings_from_json(const std::string& text) {
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        RankFindings findings;
        Placement& placement = findings.placement;
        placement.launched = json.at("launched").boolean();
        placement.rank = json.at("rank").integer<int>(0);
        placement.ranks = json.at("ranks").integer<int>(1);
        placement.host = json.at("host").text();
        placement.ranks_on_host = json.at("ranks_on_host").integer<int>();
        placement.cores_on_host = json.at("cores_on_host").integer<int>();
        for (const JsonValue& check : json.at("checks").items())
            findings.checks.push_back({check.at("name").text(),
                                       check.at("ok").boolean(),
                                       check.at("found").text(),
                                       check.at("fix").text(),
                                       check.at("must_agree").boolean()});
        return findings;
    } catch (const DataError& error) {
        throw DataError(fmt::format("a rank's findings cannot be read ({})", error.what()));
    }
}

std::string ranges_text(const std::vector<int>& ascending) {
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

}  // namespace sotto
