// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/bootstrap.hpp"
#include "mpi/bootstrap_fixtures.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {
namespace {

using test::expect_same_refusal;
using test::mpi_network;
using test::overlapping_groups;
using test::Setting;

TEST(JointSeeds, AreTheSameOnAllRanksAndFollowFromEveryShare) {
    const auto network = mpi_network();
    const Setting setting = overlapping_groups(network->agents());
    Session session = open_session(*network, setting.topography, setting.plan, nullptr);
    const std::vector<int> groups{3, 8};
    const auto seeds = draw_joint_seeds(*network, session, groups);
    EXPECT_EQ(seeds.size(), 2U);
    std::string shares;
    for (const auto& share : network->all_gather(to_hex(session.shares.front().bytes()),
                                                 most_line_bytes))  // a test may show them
        shares += share;
    std::vector<std::uint8_t> bytes(shares.size() / 2);
    EXPECT_TRUE(from_hex(shares, bytes));
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        EXPECT_EQ(seeds[i].place, 0U);
        EXPECT_EQ(seeds[i].group, groups[i]);
        EXPECT_EQ(seeds[i].seed,
                  group_seed(drawn_by_everybody(bytes), session.transcript, groups[i]));
    }
}

TEST(JointSeeds, StopEveryRankForAShareThatWasNotCommittedTo) {
    const auto network = mpi_network();
    const int last = network->agents() - 1;
    const Setting setting = overlapping_groups(network->agents());
    Session session = open_session(*network, setting.topography, setting.plan, nullptr);
    if (network->process() == last) session.shares.front() = SecretKey::random();
    const auto refused =
        test::refusal_of([&] { (void)draw_joint_seeds(*network, session, std::vector<int>{0}); });
    expect_same_refusal(*network,
                        refused,
                        ExitCode::network,
                        "the share of agent " + std::to_string(last) + " in the seed");
}

}  // namespace
}  // namespace sotto
