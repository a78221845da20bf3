// What tests of the start of a job share: settings, credentials, refusals. Every rank calls every
// collective, so nothing between collectives may leave a test early: EXPECT only.

#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"

namespace sotto::test {

template <class T>
std::string bytes_of(const T& digest) {
    return std::string(digest.begin(), digest.end());
}

/// Path with names that are not numbers.
inline Topography named_path(int agents) {
    std::vector<Edge> edges;
    std::vector<std::string> labels;
    for (int u = 0; u < agents; ++u) {
        labels.push_back("node \"" + std::to_string(u) + "\"");
        if (u > 0) edges.emplace_back(u - 1, u);
    }
    return metropolis_on(Graph::from_edges(agents, edges, labels));
}

/// The error that a call throws here; nothing if it throws none.
template <class Call>
std::optional<Error> refusal_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}

/// All ranks were refused for the same reason. COLLECTIVE.
inline void expect_same_refusal(Network& network,
                                const std::optional<Error>& refused,
                                ExitCode code,
                                const std::string& part) {
    for (const auto& message :
         network.all_gather(refused ? refused->what() : "not refused", most_line_bytes)) {
        EXPECT_EQ(message, refused ? refused->what() : "refused here, not elsewhere");
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    EXPECT_TRUE(refused && refused->exit_code() == code);
}

/// Credentials of this rank, from identities that all ranks make now. COLLECTIVE.
inline Credentials make_credentials(Network& network) {
    Credentials credentials;
    credentials.identities.push_back(Identity::generate());
    const auto& key = credentials.identities.front().public_key();
    std::string roster;
    int rank = 0;
    for (const auto& text : network.all_gather(to_hex(key), most_line_bytes))
        roster += text + " agent" + std::to_string(rank++) + "\n";
    credentials.roster = Roster::parse(roster, "roster");
    return credentials;
}

struct Setting {
    Topography topography;
    NoisePlan plan;
};

/// A plan in which some groups leave out some agents, besides those of the mechanisms.
inline Setting overlapping_groups(int agents) {
    NoisePlan plan;
    plan.mechanism = "made by hand";
    plan.agents = agents;
    plan.scale = 1;
    plan.grid_step_log2 = -21;
    for (int u = 0; u < agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1.0}});
    }
    for (int step = 1; step < agents; ++step) {
        SeedGroup group;
        for (int u = 0; u < agents; u += step) group.members.push_back(u);
        plan.groups.push_back(group);
    }
    for (int first = 1; first + 1 < agents; ++first) {
        SeedGroup group;
        for (int u = first; u < agents; ++u) group.members.push_back(u);
        plan.groups.push_back(group);
        plan.groups.push_back(group);  // the same members, another seed
    }
    plan.validate();
    return {named_path(agents), plan};
}

}  // namespace sotto::test
