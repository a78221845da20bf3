// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {
namespace {

using test::MechanismCase;

std::unique_ptr<Network> mpi_network() { return make_mpi_network(test::mpi_session()); }

template <class T>
std::string bytes_of(const T& digest) {
    return std::string(digest.begin(), digest.end());
}

/// Path with names that are not numbers.
Topography named_path(int agents) {
    std::vector<Edge> edges;
    std::vector<std::string> labels;
    for (int u = 0; u < agents; ++u) {
        labels.push_back("node \"" + std::to_string(u) + "\"");
        if (u > 0) edges.emplace_back(u - 1, u);
    }
    return test::metropolis_on(Graph::from_edges(agents, edges, labels));
}

/// Budgets, exposures and the matching limits of a run of `agents` agents.
struct Protection {
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> budgets;
    Eigen::VectorXd kappa;
};
Protection protection_of(int agents) {
    Protection result;
    result.kappa.resize(agents);
    for (int u = 0; u < agents; ++u) {
        result.exposures.push_back(agent_exposure(Adjacency::agent, {}, 0.1, 100, 0, 1));
        result.budgets.push_back(make_budget(5 + u, 1e-5, Calibration::exact));
        result.kappa(u) = precision_limit(result.budgets.back(), result.exposures.back());
    }
    return result;
}

/// What verify_agreement throws here.
std::optional<Error> refusal(Network& network,
                             const Topography& topography,
                             const NoisePlan& plan,
                             const Protection& protection) {
    try {
        verify_agreement(network, topography, plan, protection.exposures, protection.budgets);
    } catch (const Error& error) {
        EXPECT_EQ(dynamic_cast<const PrivacyError*>(&error) != nullptr,
                  error.exit_code() == ExitCode::privacy);
        EXPECT_EQ(dynamic_cast<const NetworkError*>(&error) != nullptr,
                  error.exit_code() == ExitCode::network);
        return error;
    }
    return std::nullopt;
}

/// All ranks were refused for the same reason. COLLECTIVE.
void expect_same_refusal(Network& network,
                         const std::optional<Error>& refused,
                         ExitCode code,
                         const std::string& part) {
    for (const auto& message : network.all_gather(refused ? refused->what() : "not refused")) {
        EXPECT_EQ(message, refused ? refused->what() : "refused here, not elsewhere");
        EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    EXPECT_TRUE(refused && refused->exit_code() == code);
}

TEST(Bootstrap, SharesGraphMixingAndPlanOfRankZero) {
    const auto network = mpi_network();
    const int n = network->agents();
    const bool leader = network->process() == 0;
    const Topography own = named_path(n);
    // Only rank 0's is looked at.
    const Topography shared =
        share_topography(*network, leader ? std::optional(own) : std::nullopt);
    EXPECT_EQ(shared.graph.hash(), own.graph.hash());
    EXPECT_EQ(shared.mixing.hash(), own.mixing.hash());
    EXPECT_TRUE(shared.mixing.dense() == own.mixing.dense());
    for (int u = 0; u < n; ++u) EXPECT_EQ(shared.graph.label(u), own.graph.label(u));
    for (const MechanismCase& entry : test::mechanism_cases()) {
        const NoisePlan plan = test::plan_of(entry, own, test::uneven_limits(n));
        const NoisePlan got = share_plan(*network, leader ? std::optional(plan) : std::nullopt);
        EXPECT_EQ(got.hash(), plan.hash()) << entry.label;
        const auto hashes = network->all_gather(bytes_of(got.hash()));
        for (const auto& hash : hashes) EXPECT_EQ(hash, hashes.front()) << entry.label;
    }
}

TEST(Bootstrap, AcceptsPlansThatProtectEverybody) {
    const auto network = mpi_network();
    const Topography topography = named_path(network->agents());
    const Protection protection = protection_of(network->agents());
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism == "none") continue;
        const NoisePlan plan = test::plan_of(entry, topography, protection.kappa);
        EXPECT_FALSE(refusal(*network, topography, plan, protection)) << entry.label;
    }
}

TEST(Bootstrap, RefusesAPlanWithTooLittleNoiseOnEveryRank) {
    const auto network = mpi_network();
    const Topography topography = named_path(network->agents());
    const Protection protection = protection_of(network->agents());
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism == "none") continue;
        NoisePlan plan = test::plan_of(entry, topography, protection.kappa);
        plan.scale *= 0.9;
        expect_same_refusal(*network,
                            refusal(*network, topography, plan, protection),
                            ExitCode::privacy,
                            "does not protect agent");
    }
}

TEST(Bootstrap, RefusesWhatOnlyTheLastAgentCannotAccept) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography topography = named_path(n);
    Protection protection = protection_of(n);
    const NoisePlan plan =
        test::plan_of({"Ldp", "ldp", {Utility::Kind::horizon, 20}}, topography, protection.kappa);
    // Its owner, and nobody else, was told of a stricter budget.
    if (network->process() == n - 1)
        protection.budgets.back() = make_budget(0.5, 1e-5, Calibration::exact);
    expect_same_refusal(*network,
                        refusal(*network, topography, plan, protection),
                        ExitCode::privacy,
                        "does not protect agent " + std::to_string(n - 1));
}

TEST(Bootstrap, RefusesAPlanWithoutNoiseUnlessTheBudgetAsksForNone) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography topography = named_path(n);
    const NoisePlan plan =
        test::plan_of({"None", "none", {Utility::Kind::horizon, 20}}, topography, {});
    Protection protection = protection_of(n);
    expect_same_refusal(
        *network, refusal(*network, topography, plan, protection), ExitCode::privacy, "no noise");
    for (auto& budget : protection.budgets) budget = {0, 1e-5, Calibration::exact, 0};
    EXPECT_FALSE(refusal(*network, topography, plan, protection));
    // One agent that was promised protection is enough to stop all.
    if (network->process() == n - 1)
        protection.budgets.back() = make_budget(5, 1e-5, Calibration::exact);
    expect_same_refusal(
        *network, refusal(*network, topography, plan, protection), ExitCode::privacy, "no noise");
}

TEST(Bootstrap, NoticesRanksWithAnotherPlanGraphOrMixing) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 2) GTEST_SKIP() << "one rank cannot disagree with itself";
    const bool last = network->process() == n - 1;
    const Topography common = named_path(n);
    const Protection protection = protection_of(n);
    const NoisePlan plan =
        test::plan_of({"Ldp", "ldp", {Utility::Kind::horizon, 20}}, common, protection.kappa);
    const std::string named = "rank " + std::to_string(n - 1) + " holds another";

    NoisePlan louder = plan;
    louder.scale *= 1.5;
    expect_same_refusal(*network,
                        refusal(*network, common, last ? louder : plan, protection),
                        ExitCode::network,
                        named);

    const Topography lazy{common.graph,
                          MixingMatrix::from_rule(common.graph, MixingRule::lazy_metropolis)};
    expect_same_refusal(*network,
                        refusal(*network, last ? lazy : common, plan, protection),
                        ExitCode::network,
                        named);

    if (n > 2) {
        const Topography complete = test::topography_of(Topology::complete, n);
        expect_same_refusal(*network,
                            refusal(*network, last ? complete : common, plan, protection),
                            ExitCode::network,
                            named);
    }
    EXPECT_FALSE(refusal(*network, common, plan, protection));
}

TEST(Bootstrap, RefusesAPlanForAnotherNumberOfAgents) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Protection protection = protection_of(n + 1);
    const NoisePlan plan = test::plan_of(
        {"Ldp", "ldp", {Utility::Kind::horizon, 20}}, named_path(n + 1), protection.kappa);
    expect_same_refusal(*network,
                        refusal(*network, named_path(n), plan, protection),
                        ExitCode::usage,
                        "made for " + std::to_string(n + 1) + " agents");
}

/// (group, seed) of every seed in a ring, as text; COLLECTIVE: of every agent.
std::vector<std::vector<std::pair<int, std::string>>> all_seeds(Network& network,
                                                                const KeyRing& ring) {
    std::string own;
    for (const int group : ring.groups()) {
        own += std::to_string(group) + ' ';
        const auto seed = ring.seed(group).bytes();
        own.append(reinterpret_cast<const char*>(seed.data()), seed.size());
    }
    std::vector<std::vector<std::pair<int, std::string>>> result;
    for (const auto& text : network.all_gather(own)) {
        auto& list = result.emplace_back();
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t blank = text.find(' ', at);
            list.emplace_back(std::stoi(text.substr(at, blank - at)),
                              text.substr(blank + 1, SecretKey::size));
            at = blank + 1 + SecretKey::size;
        }
    }
    return result;
}

/// A plan in which some groups leave out some agents, besides those of the mechanisms.
NoisePlan plan_with_overlapping_groups(int agents) {
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
    plan.validate();
    return plan;
}

TEST(SeedsOfThePlan, ReachExactlyTheMembersOfTheirGroups) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography topography = named_path(n);
    std::vector<NoisePlan> plans{plan_with_overlapping_groups(n)};
    for (const MechanismCase& entry : test::mechanism_cases())
        plans.push_back(test::plan_of(entry, topography, test::uneven_limits(n)));
    for (const NoisePlan& plan : plans)
        for (const auto noise_seed :
             {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(5)}) {
            const auto rings = distribute_seeds(*network, plan, noise_seed);
            EXPECT_EQ(rings.size(), 1u);
            EXPECT_EQ(rings.front().agent(), network->process());
            const auto seeds = all_seeds(*network, rings.front());
            std::vector<std::optional<std::string>> of_group(plan.groups.size());
            for (int u = 0; u < n; ++u) {
                std::vector<int> wanted;
                for (std::size_t g = 0; g < plan.groups.size(); ++g)
                    if (std::ranges::binary_search(plan.groups[g].members, u))
                        wanted.push_back(static_cast<int>(g));
                std::vector<int> held;
                for (const auto& [group, seed] : seeds[static_cast<std::size_t>(u)]) {
                    held.push_back(group);
                    auto& known = of_group[static_cast<std::size_t>(group)];
                    if (!known) known = seed;
                    EXPECT_EQ(*known == seed, true) << plan.mechanism << ": agent " << u
                                                    << " holds another seed of group " << group;
                }
                EXPECT_EQ(held, wanted) << plan.mechanism << ", agent " << u;
            }
            for (std::size_t g = 0; g < of_group.size(); ++g)
                for (std::size_t h = 0; h < g; ++h)
                    EXPECT_FALSE(of_group[g] == of_group[h])
                        << plan.mechanism << ": groups " << g << " and " << h << " share a seed";
        }
}

TEST(SeedsOfThePlan, AreReproducibleOnlyWithANoiseSeed) {
    const auto network = mpi_network();
    const NoisePlan plan = plan_with_overlapping_groups(network->agents());
    const auto draw = [&](std::optional<std::uint64_t> noise_seed) {
        return all_seeds(*network, distribute_seeds(*network, plan, noise_seed).front());
    };
    const auto first = draw(11);
    EXPECT_TRUE(first == draw(11));
    const auto other = draw(12);
    const auto fresh = draw(std::nullopt);
    const auto again = draw(std::nullopt);
    for (std::size_t u = 0; u < first.size(); ++u)
        for (std::size_t i = 0; i < first[u].size(); ++i) {
            EXPECT_FALSE(first[u][i] == other[u][i]);
            EXPECT_FALSE(first[u][i] == fresh[u][i]);
            EXPECT_FALSE(fresh[u][i] == again[u][i]);
        }
}

}  // namespace
}  // namespace sotto
