#include "near_groups.hpp"

#include <algorithm>

namespace sotto {

namespace {

/// Agents at most `reach` edges away, ascending. @param seen who was seen from which agent last.
std::vector<int> agents_near(const Graph& graph, int agent, int reach, std::vector<int>& seen) {
    std::vector<int> found{agent};
    seen[static_cast<std::size_t>(agent)] = agent;
    std::size_t next = 0;
    for (int step = 0; step < reach && next < found.size(); ++step)
        for (const std::size_t end = found.size(); next < end; ++next)
            for (const int v : graph.neighbours(found[next]))
                if (seen[static_cast<std::size_t>(v)] != agent) {
                    seen[static_cast<std::size_t>(v)] = agent;
                    found.push_back(v);
                }
    found.erase(found.begin());
    std::ranges::sort(found);
    return found;
}

}  // namespace

struct NearGroups::Walk {
    std::size_t size;
    const std::function<bool(std::span<const int>)>& visit;
    std::vector<int> group;
    std::vector<int> touched;  // of every agent, how many of the group are near it, or are it
    std::vector<int> sorted;
};

NearGroups::NearGroups(const Graph& graph, int reach, std::size_t most_pairs)
    : agents_(graph.agents()) {
    std::vector<int> seen(static_cast<std::size_t>(agents_), -1);
    std::size_t pairs = 0;
    for (int agent = 0; agent < agents_ && complete_; ++agent) {
        pairs += near_.emplace_back(agents_near(graph, agent, reach, seen)).size();
        complete_ = pairs <= 2 * most_pairs;
    }
    if (!complete_) near_.clear();
}

bool NearGroups::extend(Walk& walk, std::vector<int> candidates) const {
    if (walk.group.size() == walk.size) {
        walk.sorted = walk.group;
        std::ranges::sort(walk.sorted);
        return walk.visit(walk.sorted);
    }
    while (!candidates.empty()) {
        const int joining = candidates.back();
        candidates.pop_back();
        std::vector<int> more = candidates;
        const std::vector<int>& near = near_[static_cast<std::size_t>(joining)];
        for (const int v : near)
            if (v > walk.group.front() && walk.touched[static_cast<std::size_t>(v)] == 0)
                more.push_back(v);
        for (const int v : near) ++walk.touched[static_cast<std::size_t>(v)];
        ++walk.touched[static_cast<std::size_t>(joining)];
        walk.group.push_back(joining);
        const bool goes_on = extend(walk, std::move(more));
        walk.group.pop_back();
        --walk.touched[static_cast<std::size_t>(joining)];
        for (const int v : near) --walk.touched[static_cast<std::size_t>(v)];
        if (!goes_on) return false;
    }
    return true;
}

std::span<const int> NearGroups::near(int agent) const {
    if (!complete_) return {};
    return near_[static_cast<std::size_t>(agent)];
}

bool NearGroups::visit(int size, const std::function<bool(std::span<const int>)>& visit) const {
    if (size == 1) {
        for (int agent = 0; agent < agents_; ++agent)
            if (!visit({&agent, 1})) return false;
        return true;
    }
    if (!complete_) return false;
    Walk walk{static_cast<std::size_t>(size),
              visit,
              {},
              std::vector<int>(static_cast<std::size_t>(agents_), 0),
              {}};
    for (int root = 0; root < agents_; ++root) {
        const std::vector<int>& near = near_[static_cast<std::size_t>(root)];
        std::vector<int> candidates;
        std::ranges::copy_if(near, std::back_inserter(candidates), [&](int v) { return v > root; });
        for (const int v : near) ++walk.touched[static_cast<std::size_t>(v)];
        ++walk.touched[static_cast<std::size_t>(root)];
        walk.group.assign(1, root);
        const bool goes_on = extend(walk, std::move(candidates));
        --walk.touched[static_cast<std::size_t>(root)];
        for (const int v : near) --walk.touched[static_cast<std::size_t>(v)];
        if (!goes_on) return false;
    }
    return true;
}

}  // namespace sotto
