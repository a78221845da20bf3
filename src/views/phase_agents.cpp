#include "views/phase_agents.hpp"

namespace sotto {

namespace {

/// Whether every agent is there in the phase or a later one.
std::vector<bool> there_now_or_later(const MessageProcess& process, std::size_t index) {
    const int agents = process.plan->agents;
    std::vector<bool> there(static_cast<std::size_t>(agents), false);
    for (std::size_t i = index; i < process.phases.size(); ++i)
        for (int u = 0; u < agents; ++u)
            if (!process.phases[i].has_departed(u)) there[static_cast<std::size_t>(u)] = true;
    return there;
}

/// Whether the messages of every agent are read, by members that are there.
std::vector<bool> read_by(const MessageProcess& process,
                          const View& view,
                          const std::vector<int>& watch) {
    std::vector<bool> read(static_cast<std::size_t>(process.plan->agents),
                           view.kind == View::Kind::all_messages);
    if (view.kind == View::Kind::neighbours)
        for (const int a : watch)
            for (const int v : process.graph->heard(a)) read[static_cast<std::size_t>(v)] = true;
    return read;
}

}  // namespace

PhaseAgents phase_agents(const MessageProcess& process, const View& view, std::size_t index) {
    const int agents = process.plan->agents;
    PhaseAgents phase;
    phase.present.assign(static_cast<std::size_t>(agents), true);
    for (const int u : process.phases[index].departed)
        phase.present[static_cast<std::size_t>(u)] = false;
    for (const int a : view.members)
        if (phase.present[static_cast<std::size_t>(a)]) phase.watch.push_back(a);
    const std::vector<bool> later = there_now_or_later(process, index);
    const std::vector<bool> read = read_by(process, view, phase.watch);
    std::vector<int> hidden, others;
    for (int u = 0; u < agents; ++u) {
        const auto i = static_cast<std::size_t>(u);
        if (view.has_member(u) || !later[i]) continue;
        others.push_back(u);
        if (read[i] && phase.present[i])
            phase.seen.push_back(u);
        else
            hidden.push_back(u);
    }
    phase.hidden = AgentIndex(agents, std::move(hidden));
    phase.others = AgentIndex(agents, std::move(others));
    return phase;
}

}  // namespace sotto
