#include "commands/supervise/leaving_agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/net/agent_blocks.hpp"
#include "store/run_history.hpp"

namespace sotto::cli {

namespace {

namespace fs = std::filesystem;

/// Who is in the newest phase of the run.
std::vector<int> members_of(const fs::path& directory) {
    const JsonDocument document(read_file(directory / "history.json"));
    const auto phases = document.root().at("phases").items();
    if (phases.empty()) throw DataError(fmt::format("{}: no phases", directory.string()));
    return phases.back().at("agents").integers();
}

/// Agents of a start, by rank, and the ranks' hosts.
struct StartedRanks {
    std::vector<std::string> hosts;
    std::vector<int> members;
};

StartedRanks newest_start(const fs::path& directory) {
    // One that died early has none.
    constexpr int most_without = 1000;
    fs::path newest;
    for (int start = 0, missing = 0; missing < most_without; ++start) {
        fs::path file = directory / numbered_file("manifest", ".json", start);
        const bool there = fs::exists(file);
        missing = there ? 0 : missing + 1;
        if (there) newest = std::move(file);
    }
    if (newest.empty())
        throw DataError(fmt::format("{}: no manifest.json says who was where", directory.string()));
    const JsonDocument document(read_file(newest));
    const JsonValue json = document.root();
    StartedRanks started;
    for (const JsonValue& host : json.at("hosts").items()) started.hosts.push_back(host.text());
    const std::vector<int> gone = json.at("agents_gone").integers();
    const int agents = json.at("agents").integer<int>(1, 1 << 24);
    for (int number = 0; static_cast<int>(started.members.size()) < agents; ++number)
        if (std::ranges::find(gone, number) == gone.end()) started.members.push_back(number);
    const auto ranks = static_cast<int>(started.hosts.size());
    if (ranks < 1 || ranks > agents)
        throw DataError(fmt::format("{}: {} ranks, {} agents", newest.string(), ranks, agents));
    return started;
}

}  // namespace

std::vector<int> still_there(const fs::path& directory, const std::vector<int>& asked) {
    std::vector<int> found(asked);
    if (fs::exists(directory / "history.json")) {
        const std::vector<int> members = members_of(directory);
        std::erase_if(
            found, [&](int number) { return std::ranges::find(members, number) == members.end(); });
    }
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    return found;
}

RemainingAgents remaining_agents(const fs::path& directory,
                                 const std::set<std::string>& host_names,
                                 const std::vector<int>& asked) {
    const StartedRanks started = newest_start(directory);
    const auto ranks = static_cast<int>(started.hosts.size());
    const auto agents = static_cast<int>(started.members.size());
    const AgentBlocks blocks(agents, ranks);
    std::vector<int> leave(asked);
    int kept = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        if (!host_names.contains(started.hosts[static_cast<std::size_t>(rank)])) {
            ++kept;
            continue;
        }
        for (int agent = blocks.first(rank); agent < blocks.first(rank + 1); ++agent)
            leave.push_back(started.members[static_cast<std::size_t>(agent)]);
    }
    RemainingAgents remaining;
    remaining.leave = still_there(directory, leave);
    remaining.left =
        static_cast<int>(members_of(directory).size()) - static_cast<int>(remaining.leave.size());
    remaining.ranks = agents == ranks ? remaining.left : std::min(kept, remaining.left);
    return remaining;
}

}  // namespace sotto::cli
