// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "mpi/wire_network.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {
namespace {

using test::MechanismCase;
using test::WireNetwork;

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

/// A mechanism's plan for these budgets, and what its rounds reveal: those of plan_of, in which
/// correlated rounds have a participation of their own.
struct ProtectedPlan {
    ProtectedPlan(const MechanismCase& entry, const Topography& topography)
        : protection(protection_of(topography.graph.agents())) {
        const bool correlated = find_mechanism("mechanism", entry.mechanism).correlates_rounds;
        const auto count = [&](const TemporalFactor& factor) {
            for (std::size_t u = 0; correlated && u < protection.exposures.size(); ++u) {
                Exposure& exposure = protection.exposures[u];
                exposure.temporal_sensitivity =
                    temporal_sensitivity_squared(factor, test::correlated_participation, 100);
                if (plan.rows.empty())
                    protection.kappa(static_cast<Eigen::Index>(u)) =
                        precision_limit(protection.budgets[u], exposure);
            }
        };
        count({});
        plan = test::plan_of(entry, topography, protection.kappa);
        count(plan.temporal);
    }
    Protection protection;
    NoisePlan plan;
};

/// What verify_agreement throws here.
std::optional<Error> refusal(Network& network,
                             const Topography& topography,
                             const NoisePlan& plan,
                             const Protection& protection) {
    try {
        verify_agreement(network,
                         topography,
                         plan,
                         protection.exposures,
                         protection.budgets,
                         plan.coalition_size);
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
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism == "none") continue;
        const ProtectedPlan run(entry, topography);
        EXPECT_FALSE(refusal(*network, topography, run.plan, run.protection)) << entry.label;
    }
}

TEST(Bootstrap, RefusesAPlanWithTooLittleNoiseOnEveryRank) {
    const auto network = mpi_network();
    const Topography topography = named_path(network->agents());
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism == "none") continue;
        ProtectedPlan run(entry, topography);
        run.plan.scale *= 0.9;
        expect_same_refusal(*network,
                            refusal(*network, topography, run.plan, run.protection),
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

/// Rank `last` came to something else than rank 0, which everybody must hear of.
template <class Share>
void expect_difference_named(Network& network, const std::string& quantity, Share&& share) {
    std::optional<Error> refused;
    try {
        share();
    } catch (const NetworkError& error) {
        refused = error;
    }
    expect_same_refusal(
        network,
        refused,
        ExitCode::network,
        "rank " + std::to_string(network.processes() - 1) + " found another " + quantity);
}

TEST(DistributedBootstrap, AcceptsWhatEveryRankCameToAndUsesTheBitsOfRankZero) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography own = named_path(n);
    EXPECT_EQ(share_topography(*network, own).mixing.hash(), own.mixing.hash());
    for (const MechanismCase& entry : test::mechanism_cases()) {
        const NoisePlan plan = test::plan_of(entry, own, test::uneven_limits(n));
        // Another machine's rounding.
        NoisePlan rounded = plan;
        rounded.scale *= 1 + 1e-15 * network->process();
        for (auto& row : rounded.rows)
            for (double& coefficient : row.coefficients)
                coefficient *= 1 - 1e-15 * network->process();
        EXPECT_EQ(share_plan(*network, rounded).hash(), plan.hash()) << entry.label;
    }
}

TEST(DistributedBootstrap, NamesTheRankAndWhatItFoundOtherwise) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 3) GTEST_SKIP() << "there is one graph of two agents only";
    const bool last = network->process() == n - 1;
    const Topography path = named_path(n);
    const Topography complete = test::topography_of(Topology::complete, n);
    const Topography lazy{path.graph,
                          MixingMatrix::from_rule(path.graph, MixingRule::lazy_metropolis)};
    expect_difference_named(
        *network, "graph", [&] { (void)share_topography(*network, last ? complete : path); });
    expect_difference_named(
        *network, "mixing matrix", [&] { (void)share_topography(*network, last ? lazy : path); });

    const NoisePlan plan = test::plan_of(
        {"Decor", "decor", {Utility::Kind::horizon, 20}}, path, test::uneven_limits(n));
    const auto differs = [&](const std::string& quantity, auto&& change) {
        NoisePlan other = plan;
        if (last) change(other);
        expect_difference_named(
            *network, "noise plan (" + quantity, [&] { (void)share_plan(*network, other); });
    };
    differs("scale", [](NoisePlan& other) { other.scale *= 1 + 1e-11; });
    differs("coefficients",
            [](NoisePlan& other) { other.rows.back().coefficients.front() *= 1 + 1e-9; });
    differs("mechanism", [](NoisePlan& other) { other.mechanism = "ldp"; });
    differs("mechanism", [](NoisePlan& other) { other.groups.back().members = {0, 2}; });
    differs("grid step", [](NoisePlan& other) { other.grid_step_log2 += 5; });
}

TEST(Bootstrap, SurvivesAnyGraphAndPlanOfRankZero) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 2) GTEST_SKIP() << "nobody sends anything";
    const Topography own = named_path(n);
    const NoisePlan plan = test::plan_of(
        {"Decor", "decor", {Utility::Kind::horizon, 20}}, own, test::uneven_limits(n));
    std::vector<std::function<std::string(std::string)>> changes;
    for (int i = 0; i < 40; ++i) {
        changes.emplace_back([i](std::string bytes) {
            bytes[static_cast<std::size_t>(i * 7919) % bytes.size()] ^= static_cast<char>(1 + i);
            return bytes;
        });
        changes.emplace_back([i](std::string bytes) {
            bytes.resize(bytes.size() * static_cast<std::size_t>(i) / 41);
            return bytes;
        });
    }
    for (std::size_t at = 0; at < 64; at += 4)  // enormous and negative numbers
        changes.emplace_back([at](std::string bytes) {
            bytes.replace(std::min(at, bytes.size() - 8), 8, std::string(8, '\xff'));
            return bytes;
        });
    int refused = 0;
    for (const auto& change : changes) {
        WireNetwork wire(*network, [&](WireNetwork::Call, int, std::string bytes) {
            return change(std::move(bytes));
        });
        for (const bool topography : {true, false}) try {
                if (topography)
                    (void)share_topography(wire, own);
                else
                    (void)share_plan(wire, plan);
            } catch (const Error& error) {
                ++refused;
                EXPECT_TRUE(error.exit_code() == ExitCode::network ||
                            (!topography && error.exit_code() == ExitCode::privacy))
                    << error.what();
            }
    }
    EXPECT_GT(refused, static_cast<int>(changes.size()));
    EXPECT_EQ(network->maximum(refused), refused);
}

/// Credentials of this rank, from identities that all ranks make now. COLLECTIVE.
Credentials make_credentials(Network& network) {
    Credentials credentials;
    credentials.identities.push_back(Identity::generate());
    const auto& key = credentials.identities.front().public_key();
    std::string roster;
    int rank = 0;
    for (const auto& text : network.all_gather(to_hex(key)))
        roster += text + " agent" + std::to_string(rank++) + "\n";
    credentials.roster = Roster::parse(roster, "roster");
    return credentials;
}

struct Setting {
    Topography topography;
    NoisePlan plan;
};

/// A plan in which some groups leave out some agents, besides those of the mechanisms.
Setting overlapping_groups(int agents) {
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

/// What open_session throws here.
std::optional<Error> session_refusal(Network& network,
                                     const Setting& setting,
                                     const Credentials* credentials) {
    try {
        (void)open_session(network, setting.topography, setting.plan, credentials);
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}

TEST(Session, IsTheSameOnAllRanks) {
    const auto network = mpi_network();
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    for (const Credentials* given : {static_cast<const Credentials*>(nullptr), &credentials}) {
        Session session = open_session(*network, setting.topography, setting.plan, given);
        EXPECT_EQ(session.authenticated(), given != nullptr);
        EXPECT_EQ(session.secrets.size(), 1U);
        EXPECT_EQ(session.secrets.front().agent(), network->process());
        for (const auto& digest : {session.run_id, session.transcript})
            for (const auto& other : network->all_gather(bytes_of(digest)))
                EXPECT_EQ(other, bytes_of(digest));
        const Session next = open_session(*network, setting.topography, setting.plan, given);
        EXPECT_NE(session.run_id, next.run_id);
    }
}

TEST(Session, StopsEveryRankForAStrangerAndNamesIt) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    const Setting setting = overlapping_groups(network->agents());
    Credentials credentials = make_credentials(*network);
    if (network->process() == last) credentials.identities.front() = Identity::generate();
    const std::string stranger =
        network->all_gather(to_hex(credentials.identities.front().public_key())).back();
    const auto refused = session_refusal(*network, setting, &credentials);
    expect_same_refusal(*network,
                        refused,
                        ExitCode::network,
                        "agent " + std::to_string(last) + " is not in the roster");
    EXPECT_NE(std::string(refused->what()).find(stranger), std::string::npos);
}

TEST(Session, StopsEveryRankForAnIdentityUsedTwice) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 2) GTEST_SKIP() << "needs two agents";
    const Setting setting = overlapping_groups(n);
    Credentials credentials = make_credentials(*network);
    // The last rank has a copy of rank 0's file.
    const std::string name =
        network->broadcast(::testing::TempDir() + "sotto-copied-" + std::to_string(::getpid()));
    if (network->process() == 0) credentials.identities.front().write_new(name);
    (void)network->maximum(0);
    if (network->process() == n - 1) credentials.identities.front() = Identity::read(name);
    (void)network->maximum(0);
    if (network->process() == 0) ::unlink(name.c_str());
    expect_same_refusal(
        *network,
        session_refusal(*network, setting, &credentials),
        ExitCode::network,
        "agents 0 and " + std::to_string(n - 1) + " have the same identity agent0 (");
}

TEST(Session, StopsEveryRankForAnAgentWithoutRoster) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    if (last == 0) GTEST_SKIP() << "needs two agents";
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    expect_same_refusal(
        *network,
        session_refusal(*network, setting, network->process() == last ? nullptr : &credentials),
        ExitCode::network,
        "rank " + std::to_string(last) + " was started with no roster");
}

TEST(Session, StopsEveryRankForAWrongSignature) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    WireNetwork wire(*network, [&](WireNetwork::Call, int number, std::string bytes) {
        if (number == 1 && network->process() == last) bytes.back() ^= 1;
        return bytes;
    });
    expect_same_refusal(*network,
                        session_refusal(wire, setting, &credentials),
                        ExitCode::network,
                        "agent " + std::to_string(last) + " did not prove that it is agent" +
                            std::to_string(last) + " (");
}

TEST(Session, StopsEveryRankForAReplayOfAnotherRun) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    if (last == 0) GTEST_SKIP() << "needs two agents";
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    std::vector<std::string> recorded;
    WireNetwork recorder(*network, [&](WireNetwork::Call, int, std::string bytes) {
        recorded.push_back(bytes);
        return bytes;
    });
    EXPECT_FALSE(session_refusal(recorder, setting, &credentials));
    WireNetwork replay(*network, [&](WireNetwork::Call, int number, std::string bytes) {
        return network->process() == last ? recorded[static_cast<std::size_t>(number)] : bytes;
    });
    const auto refused = session_refusal(replay, setting, &credentials);
    expect_same_refusal(*network, refused, ExitCode::network, "");
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

/// Handshake and seeds, as a training makes them. COLLECTIVE.
std::vector<KeyRing> fresh_rings(Network& network,
                                 const Setting& setting,
                                 const Credentials* credentials = nullptr) {
    Session session = open_session(network, setting.topography, setting.plan, credentials);
    return distribute_seeds(network, setting.plan, session);
}

TEST(SeedsOfThePlan, ReachExactlyTheMembersOfTheirGroups) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography topography = named_path(n);
    std::vector<Setting> settings{overlapping_groups(n)};
    for (const MechanismCase& entry : test::mechanism_cases())
        settings.push_back({topography, test::plan_of(entry, topography, test::uneven_limits(n))});
    const Credentials credentials = make_credentials(*network);
    for (const Setting& setting : settings)
        for (const int way : {0, 1, 2}) {
            const NoisePlan& plan = setting.plan;
            const auto rings =
                way == 2 ? distribute_seeds(*network, plan, 5)
                         : fresh_rings(*network, setting, way == 1 ? &credentials : nullptr);
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
    const Setting setting = overlapping_groups(network->agents());
    const auto draw = [&](std::uint64_t noise_seed) {
        return all_seeds(*network, distribute_seeds(*network, setting.plan, noise_seed).front());
    };
    const auto first = draw(11);
    EXPECT_TRUE(first == draw(11));
    const auto other = draw(12);
    const auto fresh = all_seeds(*network, fresh_rings(*network, setting).front());
    const auto again = all_seeds(*network, fresh_rings(*network, setting).front());
    for (std::size_t u = 0; u < first.size(); ++u)
        for (std::size_t i = 0; i < first[u].size(); ++i) {
            EXPECT_FALSE(first[u][i] == other[u][i]);
            EXPECT_FALSE(first[u][i] == fresh[u][i]);
            EXPECT_FALSE(fresh[u][i] == again[u][i]);
        }
}

TEST(SeedsOfThePlan, ChangeWithTheGraphAndThePlan) {
    // The very same keys and nonces on both sides; only the terms differ.
    const auto network = mpi_network();
    const Setting setting = overlapping_groups(network->agents());
    Session session = open_session(*network, setting.topography, setting.plan, nullptr);
    const auto before =
        all_seeds(*network, distribute_seeds(*network, setting.plan, session).front());
    session.transcript[0] ^= 1;  // as another plan hash would
    const auto after =
        all_seeds(*network, distribute_seeds(*network, setting.plan, session).front());
    for (std::size_t u = 0; u < before.size(); ++u)
        for (std::size_t i = 0; i < before[u].size(); ++i)
            EXPECT_FALSE(before[u][i].second == after[u][i].second);
}

TEST(SeedsOfThePlan, AreNotInWhatIsSentNorInTheRingsOfOthers) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Setting setting = overlapping_groups(n);
    WireNetwork wire(*network);
    const auto rings = fresh_rings(wire, setting);
    const auto seeds = all_seeds(*network, rings.front());
    std::string sent;
    for (const auto& part : network->all_gather(wire.sent())) sent += part;
    EXPECT_GT(sent.size(), static_cast<std::size_t>(n) * 100);
    for (int u = 0; u < n; ++u)
        for (const auto& [group, seed] : seeds[static_cast<std::size_t>(u)]) {
            EXPECT_EQ(sent.find(seed), std::string::npos) << "seed of group " << group;
            const std::string hex =
                to_hex({reinterpret_cast<const std::uint8_t*>(seed.data()), seed.size()});
            EXPECT_EQ(sent.find(hex), std::string::npos) << "seed of group " << group;
            // Any two others put together, rank 0 among them.
            const auto& members = setting.plan.groups[static_cast<std::size_t>(group)].members;
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < a; ++b) {
                    if (std::ranges::binary_search(members, a) ||
                        std::ranges::binary_search(members, b))
                        continue;
                    for (const int curious : {a, b})
                        for (const auto& held : seeds[static_cast<std::size_t>(curious)])
                            EXPECT_FALSE(held.second == seed);
                }
        }
}

TEST(SeedsOfThePlan, StopEveryRankWhenASealedOneWasChanged) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 5) GTEST_SKIP() << "groups of all and of some need five agents";
    const Setting setting = overlapping_groups(n);
    struct Place {
        WireNetwork::Call call;
        int number, rank;
        std::string named;
    };
    // After the two messages of the handshake: dealt seeds, shares, all shares.
    for (const Place& place :
         {Place{WireNetwork::Call::all_gather, 2, 1, "agent 1 sealed for agent 4"},
          Place{WireNetwork::Call::all_gather, 2, 0, "agent 0 sealed for agent 4"},
          Place{WireNetwork::Call::all_gather, 3, 3, "agent 3 sealed for agent 0"},
          Place{WireNetwork::Call::scatter, 2, 0, "agent 0 sealed for agent 2"}}) {
        WireNetwork wire(*network, [&](WireNetwork::Call call, int number, std::string bytes) {
            if (call == place.call && number == place.number && network->process() == place.rank)
                bytes.back() ^= 1;
            return bytes;
        });
        std::optional<Error> refused;
        try {
            (void)fresh_rings(wire, setting);
        } catch (const Error& error) {
            refused = error;
        }
        expect_same_refusal(*network, refused, ExitCode::network, place.named);
    }
}

TEST(SeedsOfThePlan, StopEveryRankWhenSealedOnesAreMissingCutOrForOthers) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 5) GTEST_SKIP() << "groups of all and of some need five agents";
    const Setting setting = overlapping_groups(n);
    int refused = 0;
    for (const int number : {2, 3})
        for (const std::string& sent :
             {std::string(), std::string("short"), std::string(5000, '\xff')}) {
            WireNetwork wire(*network, [&](WireNetwork::Call call, int which, std::string bytes) {
                return call == WireNetwork::Call::all_gather && which == number &&
                               network->process() == 1
                           ? sent
                           : bytes;
            });
            try {
                (void)fresh_rings(wire, setting);
            } catch (const Error& error) {
                ++refused;
                EXPECT_EQ(error.exit_code(), ExitCode::network) << error.what();
            }
        }
    EXPECT_EQ(refused, 6);
}

}  // namespace
}  // namespace sotto
