// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "mpi/bootstrap_fixtures.hpp"
#include "mpi/wire_network.hpp"

namespace sotto {
namespace {

using test::expect_same_refusal;
using test::make_credentials;
using test::MechanismCase;
using test::mpi_network;
using test::named_path;
using test::overlapping_groups;
using test::Setting;
using test::WireNetwork;

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
    for (const auto& text : network.all_gather(own, 1 << 20)) {
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
    for (const auto& part : network->all_gather(wire.sent(), 1 << 24)) sent += part;
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
        const auto refused = test::refusal_of([&] { (void)fresh_rings(wire, setting); });
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
