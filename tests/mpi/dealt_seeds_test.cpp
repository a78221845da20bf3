// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "agent/bootstrap.hpp"
#include "mpi/bootstrap_fixtures.hpp"
#include "mpi/wire_network.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {
namespace {

using test::expect_same_refusal;
using test::mpi_network;
using test::overlapping_groups;
using test::Setting;
using test::WireNetwork;

/// Groups that their lowest member deals.
std::vector<int> dealt_groups(const NoisePlan& plan) {
    std::vector<int> groups;
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
        if (maker_of(plan.groups[g], plan.agents) == SeedMaker::lowest_member)
            groups.push_back(static_cast<int>(g));
    return groups;
}

TEST(DealtSeeds, AreTheSameForAllMembersAndForNobodyElse) {
    const auto network = mpi_network();
    const Setting setting = overlapping_groups(network->agents());
    const std::vector<int> groups = dealt_groups(setting.plan);
    Session session = open_session(*network, setting.topography, setting.plan, nullptr);
    std::map<int, std::string> own;
    for (const LocalSeed& entry : deal_seeds(*network, setting.plan, session, groups)) {
        EXPECT_EQ(entry.place, 0U);
        EXPECT_TRUE(own.emplace(entry.group, to_hex(entry.seed.bytes())).second);
    }
    for (const int group : groups) {
        const auto& members = setting.plan.groups[static_cast<std::size_t>(group)].members;
        const auto held =
            network->all_gather(own.contains(group) ? own.at(group) : "", most_line_bytes);
        for (int u = 0; u < network->agents(); ++u)
            EXPECT_EQ(held[static_cast<std::size_t>(u)],
                      std::ranges::binary_search(members, u)
                          ? held[static_cast<std::size_t>(members.front())]
                          : "")
                << "agent " << u << ", group " << group;
    }
}

TEST(DealtSeeds, ThatNobodySentStopEveryRankWithTheirNames) {
    const auto network = mpi_network();
    const Setting setting = overlapping_groups(network->agents());
    const std::vector<int> groups = dealt_groups(setting.plan);
    if (groups.empty()) GTEST_SKIP() << "groups of some need four agents";
    Session session = open_session(*network, setting.topography, setting.plan, nullptr);
    const int dealer =
        setting.plan.groups[static_cast<std::size_t>(groups.front())].members.front();
    WireNetwork wire(*network, [&](WireNetwork::Call, int, std::string bytes) {
        return network->process() == dealer ? std::string() : bytes;
    });
    const auto refused =
        test::refusal_of([&] { (void)deal_seeds(wire, setting.plan, session, groups); });
    expect_same_refusal(*network,
                        refused,
                        ExitCode::network,
                        "agent " + std::to_string(dealer) + " did not send agent ");
}

}  // namespace
}  // namespace sotto
