#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "trust/handshake.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto::test {

/// A group per agent, one per pair, one that leaves out the last agent, and one of everybody.
inline NoisePlan plan_of_all_groups(int agents) {
    NoisePlan plan;
    plan.agents = agents;
    std::vector<int> everybody;
    for (int a = 0; a < agents; ++a) {
        plan.groups.push_back({{a}});
        everybody.push_back(a);
        for (int b = a + 1; b < agents; ++b) plan.groups.push_back({{a, b}});
    }
    if (agents > 3)
        plan.groups.push_back({std::vector<int>(everybody.begin(), everybody.end() - 1)});
    plan.groups.push_back({everybody});
    return plan;
}

inline bool is_member(const NoisePlan& plan, int group, int agent) {
    const auto& members = plan.groups[static_cast<std::size_t>(group)].members;
    return std::count(members.begin(), members.end(), agent) > 0;
}

inline std::vector<KeyRing> rings_of_everybody(const NoisePlan& plan, std::uint64_t noise_seed) {
    std::vector<int> agents(static_cast<std::size_t>(plan.agents));
    std::iota(agents.begin(), agents.end(), 0);
    return reproducible_rings(plan, agents, noise_seed);
}

/// Credentials of processes with one agent each.
inline std::vector<Credentials> credentials_of(int agents) {
    std::vector<Identity> identities;
    std::string roster;
    for (int u = 0; u < agents; ++u) {
        identities.push_back(Identity::generate());
        roster += to_hex(identities.back().public_key()) + " agent" + std::to_string(u) + "\n";
    }
    std::vector<Credentials> result;
    for (int u = 0; u < agents; ++u) {
        Credentials& own = result.emplace_back();
        own.roster = Roster::parse(roster, "roster");
        own.identities.push_back(std::move(identities[static_cast<std::size_t>(u)]));
    }
    return result;
}

/// The handshakes of processes with one agent each, step by step, in one place.
struct Meeting {
    explicit Meeting(int agents, const std::vector<Credentials>* credentials = nullptr) {
        terms.agents = agents;
        for (int u = 0; u < agents; ++u) join(u, credentials);
    }
    void join(int u, const std::vector<Credentials>* credentials) {
        sides.emplace_back(
            terms,
            std::vector<int>{u},
            credentials != nullptr ? &(*credentials)[static_cast<std::size_t>(u)] : nullptr);
    }
    std::vector<std::string> announce() const {
        std::vector<std::string> messages;
        for (const Handshake& side : sides) messages.push_back(side.announcement());
        return messages;
    }
    std::vector<std::string> confirm() const {
        std::vector<std::string> messages;
        for (const Handshake& side : sides) messages.push_back(side.confirmation());
        return messages;
    }
    std::vector<Session> meet() {
        const auto announced = announce();
        for (Handshake& side : sides) side.receive(announced);
        const auto confirmed = confirm();
        std::vector<Session> sessions;
        for (const Handshake& side : sides) sessions.push_back(side.finish(confirmed));
        return sessions;
    }
    HandshakeTerms terms;
    std::vector<Handshake> sides;
};

}  // namespace sotto::test
