#include "design/seed_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>

#include "core/text_input.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

namespace {

constexpr std::string_view circulant = "circulant:", nearest = "nearest:";
constexpr int most_agents_of_all_pairs = 62;

std::vector<SeedGroup> circulant_pairs(int agents, long partners) {
    std::set<std::vector<int>> pairs;
    for (int u = 0; u < agents; ++u)
        for (long step = 1; step <= partners / 2; ++step) {
            const int v = static_cast<int>((u + step) % agents);
            if (u != v) pairs.insert({std::min(u, v), std::max(u, v)});
        }
    std::vector<SeedGroup> groups;
    for (const auto& pair : pairs) groups.push_back({pair});
    return groups;
}

/// Every agent with the `partners` nearest others by hops, ties by number.
std::vector<SeedGroup> nearest_pairs(const Graph& graph, long partners) {
    const int agents = graph.agents();
    std::set<std::vector<int>> pairs;
    std::vector<int> reached(static_cast<std::size_t>(agents), -1);  // by whose search, last
    for (int u = 0; u < agents; ++u) {
        const auto add = [&](int v) { pairs.insert({std::min(u, v), std::max(u, v)}); };
        std::vector<int> layer{u};
        reached[static_cast<std::size_t>(u)] = u;
        for (long missing = partners; missing > 0 && !layer.empty();) {
            std::vector<int> next;
            for (const int v : layer)
                for (const int w : graph.neighbours(v))
                    if (std::exchange(reached[static_cast<std::size_t>(w)], u) != u)
                        next.push_back(w);
            std::ranges::sort(next, {}, [&](int v) { return (v - u + agents) % agents; });
            for (std::size_t i = 0; i < next.size() && missing > 0; ++i, --missing) add(next[i]);
            layer = std::move(next);
        }
    }
    std::vector<SeedGroup> groups;
    for (const auto& pair : pairs) groups.push_back({pair});
    return groups;
}

std::vector<SeedGroup> read_groups(const std::string& path, int agents) try {
    std::vector<SeedGroup> groups;
    LineReader reader(path);
    std::string_view line;
    std::int64_t all_members = 0;
    while (reader.next(line)) {
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(" \t,\r") == std::string_view::npos) continue;
        const std::string where = fmt::format("{}:{}", path, reader.line_number());
        std::set<int> members;
        for (std::size_t i = 0; i < line.size();) {
            const std::size_t begin = line.find_first_not_of(" \t,\r", i);
            if (begin == std::string_view::npos) break;
            const std::size_t end = std::min(line.find_first_of(" \t,\r", begin), line.size());
            const long long agent = parse_integer(where, line.substr(begin, end - begin));
            require_in_range(where + ": agent", static_cast<double>(agent), 0, agents - 1);
            if (!members.insert(static_cast<int>(agent)).second)
                throw DataError(fmt::format("{}: agent {} appears twice", where, agent));
            i = end;
        }
        if (members.size() == 1)
            throw DataError(where + ": a seed group needs at least two agents");
        all_members += std::ssize(members);
        if (all_members > most_group_members(agents))
            throw DataError(fmt::format(
                "{}: seed groups of {} agents have more than {} members in all, 4 n^2 + 4096",
                where,
                agents,
                most_group_members(agents)));
        groups.push_back({{members.begin(), members.end()}});
    }
    if (groups.empty()) throw DataError(path + ": no seed group in it");
    return groups;
} catch (const ConfigError& error) {
    throw DataError(error.what());
}

}  // namespace

const std::vector<std::string>& seed_group_choices() {
    static const std::vector<std::string> choices{
        "auto", "all", "edges", "all-pairs", "neighbourhoods", "nearest:K", "circulant:K", "FILE"};
    return choices;
}

std::vector<SeedGroup> make_seed_groups(const std::string& choice, const Graph& graph) {
    const int agents = graph.agents();
    if (choice == "auto") return make_seed_groups(default_seed_groups(agents), graph);
    std::vector<SeedGroup> groups;
    if (choice == "all") {
        if (agents > 1) {
            SeedGroup everybody;
            for (int u = 0; u < agents; ++u) everybody.members.push_back(u);
            groups.push_back(std::move(everybody));
        }
    } else if (choice == "edges") {
        for (const auto& [u, v] : graph.edges()) groups.push_back({{u, v}});
    } else if (choice == "all-pairs") {
        groups = circulant_pairs(agents, 2L * agents);
    } else if (choice == "neighbourhoods") {
        std::set<std::vector<int>> different;
        for (int u = 0; u < agents; ++u) {
            const auto members = graph.closed_neighbourhood(u);
            if (members.size() > 1) different.insert({members.begin(), members.end()});
        }
        for (const auto& members : different) groups.push_back({members});
    } else if (choice.starts_with(circulant)) {
        const long long partners =
            parse_integer("seed-groups", std::string_view(choice).substr(circulant.size()));
        if (partners < 2 || partners % 2 != 0)
            throw ConfigError(fmt::format(
                "seed-groups: '{}' is not allowed (circulant:K needs an even K, 2 or more)",
                choice));
        groups = circulant_pairs(agents, std::min<long long>(partners, 2LL * agents));
    } else if (choice.starts_with(nearest)) {
        const long long partners =
            parse_integer("seed-groups", std::string_view(choice).substr(nearest.size()));
        require_in_range("seed-groups: K of nearest:K", static_cast<double>(partners), 1, 1e6);
        groups = nearest_pairs(graph, std::min<long long>(partners, agents));
    } else {
        if (!std::filesystem::exists(choice)) {
            throw ConfigError(
                unknown_name_error("seed-groups", choice, seed_group_choices()).what() +
                std::string("; and there is no such file"));
        }
        groups = read_groups(choice, agents);
    }
    return groups;
}

bool is_seed_group_file(const std::string& choice) {
    for (const char* rule : {"", "auto", "all", "edges", "all-pairs", "neighbourhoods"})
        if (choice == rule) return false;
    return !choice.starts_with(circulant) && !choice.starts_with(nearest);
}

std::string default_seed_groups(int agents) {
    return agents <= most_agents_of_all_pairs ? "all-pairs" : "nearest:10";
}

double extra_noise_of(const std::string& choice, int agents) {
    return choice == "auto" && agents <= most_agents_of_all_pairs ? 0.02 : 0;
}

void add_to(Hasher& hasher, std::span<const SeedGroup> groups) {
    hasher.add(std::int64_t{std::ssize(groups)});
    for (const SeedGroup& group : groups) {
        hasher.add(std::int64_t{std::ssize(group.members)});
        for (const int member : group.members) hasher.add(std::int64_t{member});
    }
}

}  // namespace sotto
