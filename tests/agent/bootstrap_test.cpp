#include "agent/bootstrap.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent_fixtures.hpp"
#include "core/test_support.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "net/memory_network.hpp"
#include "trust/group_fixtures.hpp"
#include "trust/pair_fixtures.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {
namespace {

using test::contains;
using test::is_member;
using test::message_of;
using test::plan_of_all_groups;

Topography changing_path() {
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}}, {"a", "b c", ""});
    return test::with_schedule(graph,
                               {MixingMatrix::from_rule(graph, MixingRule::metropolis),
                                MixingMatrix::from_rule(graph, MixingRule::row_stochastic),
                                MixingMatrix::from_rule(graph, MixingRule::max_degree)});
}

TEST(TopographyMessage, GivesBackEverythingBitForBit) {
    for (const Topography& sent : {changing_path(), test::topography_of(Topology::ring, 7)}) {
        const Topography got =
            unpack_topography(pack_topography(sent), static_cast<int>(sent.graph.agents()));
        EXPECT_EQ(got.graph.hash(), sent.graph.hash());
        EXPECT_EQ(got.mixing_hash(), sent.mixing_hash());
        EXPECT_EQ(got.later_mixing.size(), sent.later_mixing.size());
        for (int u = 0; u < sent.graph.agents(); ++u)
            EXPECT_EQ(got.graph.label(u), sent.graph.label(u));
    }
}

TEST(TopographyMessage, IsRefusedForAnotherNumberOfAgentsCutOrContinued) {
    const std::string bytes = pack_topography(changing_path());
    EXPECT_THROW((void)unpack_topography(bytes, 4), NetworkError);
    EXPECT_THROW((void)unpack_topography(bytes + '\0', 3), NetworkError);
    for (std::size_t kept = 0; kept < bytes.size(); ++kept)
        EXPECT_THROW((void)unpack_topography(bytes.substr(0, kept), 3), NetworkError) << kept;
}

TEST(TopographyMessage, SaysWhyAGraphOrAMatrixIsNone) {
    std::string bytes = pack_topography(changing_path());
    const double heavy = 7;
    bytes.replace(bytes.size() - 8, 8, reinterpret_cast<const char*>(&heavy), 8);
    EXPECT_TRUE(contains(
        message_of<NetworkError>([&] { (void)unpack_topography(bytes, 3); }),
        "the graph from rank 0 is not usable: mixing matrix: row 2 sums to 7.33333333333 "));
}

TEST(TopographyMessage, CarriesDirectionsAndPushSum) {
    const Graph graph = Graph::from_arcs(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}});
    for (const MixingRule rule : {MixingRule::row_stochastic, MixingRule::push_sum}) {
        const Topography sent{graph, MixingMatrix::from_rule(graph, rule)};
        const std::string bytes = pack_topography(sent);
        EXPECT_LE(bytes.size(), largest_topography_bytes(4, 1));
        const Topography got = unpack_topography(bytes, 4);
        EXPECT_TRUE(got.graph.directed());
        EXPECT_EQ(got.graph.hash(), graph.hash());
        EXPECT_EQ(got.mixing_hash(), sent.mixing_hash());
        EXPECT_EQ(got.mixing.push_sum(), rule == MixingRule::push_sum);
    }
}

const Topography ring = test::topography_of(Topology::ring, 6);

std::string difference(const Topography& own) {
    return message_of<NetworkError>([&] { require_same(2, own, ring); });
}

TEST(RequireSame, OfTopographiesNamesRankAndQuantity) {
    EXPECT_NO_THROW(require_same(2, ring, ring));
    const std::string start = "rank 2 found another ";
    EXPECT_TRUE(contains(difference(test::topography_of(Topology::path, 6)), start + "graph"));
    EXPECT_TRUE(contains(
        difference({ring.graph, MixingMatrix::from_rule(ring.graph, MixingRule::lazy_metropolis)}),
        start + "mixing matrix (relative difference 0.5,"));
    Topography changing = ring;
    changing.later_mixing.push_back(ring.mixing);
    EXPECT_TRUE(contains(difference(changing), start + "mixing schedule"));
}

TEST(RequireSame, OfTopographiesForgivesAnotherMachinesRounding) {
    const auto tilted = [&](double by) {
        Eigen::MatrixXd dense = ring.mixing.dense();
        dense(1, 0) += by;
        dense(1, 1) -= by;
        return Topography{ring.graph, MixingMatrix::from_dense(ring.graph, dense)};
    };
    EXPECT_NO_THROW(require_same(2, tilted(1e-14), ring));
    EXPECT_TRUE(contains(difference(tilted(1e-11)), "mixing matrix"));
}

TEST(RequireSame, OfPlansNamesWhatDiffers) {
    const NoisePlan plan = test::plan_of(
        {"AntiPgd", "anti-pgd", {Utility::Kind::one_step, 1}}, ring, test::uneven_limits(6));
    const auto differs = [&](const std::function<void(NoisePlan&)>& change) {
        NoisePlan own = plan;
        change(own);
        return message_of<NetworkError>([&] { require_same(4, own, plan); });
    };
    const std::string start = "rank 4 found another noise plan (";
    EXPECT_TRUE(contains(differs([](auto& own) { own.scale *= 1 + 1e-11; }), start + "scale"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.rows[3].coefficients[0] *= 1 + 1e-9; }),
                         start + "coefficients"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.temporal.lower(0, 0) *= 1 + 1e-9; }),
                         start + "temporal factor"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.grid_step_log2 -= 2; }), start + "grid step"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.mechanism = "ldp"; }), start + "mechanism"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.rows.pop_back(); }), start + "mechanism"));
}

TEST(RequireSame, OfPlansForgivesAnotherMachinesRounding) {
    const NoisePlan plan = test::plan_of(
        {"AntiPgd", "anti-pgd", {Utility::Kind::one_step, 1}}, ring, test::uneven_limits(6));
    NoisePlan own = plan;
    own.scale *= 1 + 1e-14;
    own.temporal.lower *= 1 - 1e-14;
    own.grid_step_log2 += 1;
    for (auto& row : own.rows)
        for (double& coefficient : row.coefficients) coefficient *= 1 + 1e-14;
    EXPECT_NO_THROW(require_same(4, own, plan));
}

struct Rings {
    Session session;
    std::vector<KeyRing> rings;
};

/// Handshake and seeds of agents that live in one process.
Rings rings_in_one_process(int agents, int threads) {
    const auto network = make_memory_network(agents, threads);
    const NoisePlan plan = plan_of_all_groups(agents);
    Rings result{
        open_session(*network, test::topography_of(Topology::complete, agents), plan, nullptr), {}};
    result.rings = distribute_seeds(*network, plan, result.session, threads);
    return result;
}

TEST(SeedsInOneProcess, ReachExactlyTheMembersOfTheirGroups) {
    for (const int agents : {1, 2, 3, 7, 16})
        for (const int threads : {1, 3}) {
            const NoisePlan plan = plan_of_all_groups(agents);
            const auto [session, rings] = rings_in_one_process(agents, threads);
            ASSERT_EQ(rings.size(), static_cast<std::size_t>(agents));
            std::set<std::string> distinct;
            for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group) {
                std::set<std::string> of_members;
                for (const auto& ring : rings) {
                    ASSERT_EQ(ring.holds(group), is_member(plan, group, ring.agent()));
                    if (ring.holds(group)) of_members.insert(to_hex(ring.seed(group).bytes()));
                }
                EXPECT_EQ(of_members.size(), 1U) << "group " << group;
                distinct.merge(of_members);
            }
            EXPECT_EQ(distinct.size(), plan.groups.size());
        }
}

TEST(SeedsInOneProcess, OfPairsAreThoseTheTwoEndsWouldComputeForThemselves) {
    const int agents = 6;
    const NoisePlan plan = plan_of_all_groups(agents);
    auto [session, rings] = rings_in_one_process(agents, 2);
    for (int group = 0; group < static_cast<int>(plan.groups.size()); ++group) {
        const auto& members = plan.groups[static_cast<std::size_t>(group)].members;
        if (members.size() != 2) continue;
        for (const int end : members) {
            const int peer = members[members[0] == end ? 1 : 0];
            auto& secrets = session.secrets[static_cast<std::size_t>(end)];
            EXPECT_EQ(
                rings[static_cast<std::size_t>(end)].seed(group),
                group_seed(drawn_by_pair(secrets.with(peer), group), session.transcript, group));
        }
    }
}

TEST(SeedsInOneProcess, DifferInEveryRun) {
    const auto one = rings_in_one_process(5, 1).rings;
    const auto two = rings_in_one_process(5, 1).rings;
    for (std::size_t u = 0; u < one.size(); ++u)
        for (const int group : one[u].groups())
            EXPECT_FALSE(one[u].seed(group) == two[u].seed(group));
}

TEST(PlaceOf, IsThatAmongTheAgentsOfTheProcess) {
    const std::vector<int> local{2, 3, 7};
    for (std::size_t place = 0; place < local.size(); ++place)
        EXPECT_EQ(place_of(local, local[place]), place);
    for (const int elsewhere : {-1, 0, 4, 8}) EXPECT_EQ(place_of(local, elsewhere), std::nullopt);
    EXPECT_EQ(place_of({}, 0), std::nullopt);
}

constexpr int paired_agents = 6;

/// Seeds of all pairs for the agents of one process, by agent and group.
std::map<std::pair<int, int>, std::string> pair_seeds(const std::vector<int>& local, int threads) {
    const NoisePlan plan = test::plan_of_all_groups(paired_agents);
    std::vector<int> groups;
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
        if (plan.groups[g].members.size() == 2) groups.push_back(static_cast<int>(g));
    auto all = test::pair_secrets(paired_agents);
    Session session;
    session.transcript[0] = 3;
    for (const int agent : local)
        session.secrets.push_back(std::move(all[static_cast<std::size_t>(agent)]));
    std::map<std::pair<int, int>, std::string> seeds;
    for (const LocalSeed& entry : derive_pair_seeds(plan, session, local, groups, threads))
        EXPECT_TRUE(
            seeds.emplace(std::pair(local[entry.place], entry.group), to_hex(entry.seed.bytes()))
                .second)
            << "group " << entry.group << " twice";
    return seeds;
}

TEST(PairSeeds, AreThoseOfBothEndsHoweverAgentsAreSpreadOverProcesses) {
    const NoisePlan plan = test::plan_of_all_groups(paired_agents);
    std::vector<int> everybody(paired_agents);
    std::iota(everybody.begin(), everybody.end(), 0);
    const auto together = pair_seeds(everybody, 1);
    EXPECT_EQ(together.size(), static_cast<std::size_t>(paired_agents * (paired_agents - 1)));
    EXPECT_EQ(pair_seeds(everybody, 3), together);
    for (const auto& [end, seed] : together) {
        const auto& members = plan.groups[static_cast<std::size_t>(end.second)].members;
        EXPECT_EQ(seed, together.at({members[0], end.second}));
        EXPECT_EQ(seed, together.at({members[1], end.second}));
    }
    auto apart = pair_seeds({0, 3, 4}, 1);
    apart.merge(pair_seeds({1, 2, 5}, 2));
    EXPECT_EQ(apart, together);
}

TEST(PairSeeds, FollowFromThePairSecretTheTranscriptAndTheGroup) {
    const NoisePlan plan = test::plan_of_all_groups(paired_agents);
    auto secrets = test::pair_secrets(paired_agents);
    Digest transcript{};
    transcript[0] = 3;
    for (const auto& [end, seed] : pair_seeds({2}, 1)) {
        const auto& members = plan.groups[static_cast<std::size_t>(end.second)].members;
        const int peer = members[members[0] == 2 ? 1 : 0];
        EXPECT_EQ(
            seed,
            to_hex(
                group_seed(drawn_by_pair(secrets[2].with(peer), end.second), transcript, end.second)
                    .bytes()));
    }
}

}  // namespace
}  // namespace sotto
