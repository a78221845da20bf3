// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "mpi/bootstrap_fixtures.hpp"
#include "mpi/wire_network.hpp"

namespace sotto {
namespace {

using test::bytes_of;
using test::expect_same_refusal;
using test::MechanismCase;
using test::mpi_network;
using test::named_path;
using test::WireNetwork;

/// Of the factors of test::mechanism_cases.
constexpr double temporal_values = 1e4;

TEST(Sharing, GivesGraphMixingAndPlanOfRankZeroToAll) {
    const auto network = mpi_network();
    const int n = network->agents();
    const bool leader = network->process() == 0;
    const Topography own = named_path(n);
    // Only rank 0's is looked at.
    const Topography shared =
        share_topography(*network, leader ? std::optional(own) : std::nullopt, 1);
    EXPECT_EQ(shared.graph.hash(), own.graph.hash());
    EXPECT_EQ(shared.mixing.hash(), own.mixing.hash());
    EXPECT_TRUE(shared.mixing.dense() == own.mixing.dense());
    for (int u = 0; u < n; ++u) EXPECT_EQ(shared.graph.label(u), own.graph.label(u));
    for (const MechanismCase& entry : test::mechanism_cases()) {
        const NoisePlan plan = test::plan_of(entry, own, test::uneven_limits(n));
        const NoisePlan got = share_plan(
            *network, leader ? std::optional(plan) : std::nullopt, own.graph, temporal_values);
        EXPECT_EQ(got.hash(), plan.hash()) << entry.label;
        const auto hashes = network->all_gather(bytes_of(got.hash()), most_line_bytes);
        for (const auto& hash : hashes) EXPECT_EQ(hash, hashes.front()) << entry.label;
    }
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

TEST(Sharing, AcceptsWhatEveryRankCameToAndUsesTheBitsOfRankZero) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography own = named_path(n);
    EXPECT_EQ(share_topography(*network, own, 1).mixing.hash(), own.mixing.hash());
    for (const MechanismCase& entry : test::mechanism_cases()) {
        const NoisePlan plan = test::plan_of(entry, own, test::uneven_limits(n));
        // Another machine's rounding.
        NoisePlan rounded = plan;
        rounded.scale *= 1 + 1e-15 * network->process();
        for (auto& row : rounded.rows)
            for (double& coefficient : row.coefficients)
                coefficient *= 1 - 1e-15 * network->process();
        EXPECT_EQ(share_plan(*network, rounded, own.graph, temporal_values).hash(), plan.hash())
            << entry.label;
    }
}

TEST(Sharing, NamesTheRankAndWhatItFoundOtherwise) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 3) GTEST_SKIP() << "there is one graph of two agents only";
    const bool last = network->process() == n - 1;
    const Topography path = named_path(n);
    const Topography complete = test::topography_of(Topology::complete, n);
    const Topography lazy{path.graph,
                          MixingMatrix::from_rule(path.graph, MixingRule::lazy_metropolis)};
    expect_difference_named(
        *network, "graph", [&] { (void)share_topography(*network, last ? complete : path, 1); });
    expect_difference_named(*network, "mixing matrix", [&] {
        (void)share_topography(*network, last ? lazy : path, 1);
    });

    const NoisePlan plan = test::plan_of(
        {"Decor", "decor", {Utility::Kind::horizon, 20}}, path, test::uneven_limits(n));
    const auto differs = [&](const std::string& quantity, auto&& change) {
        NoisePlan other = plan;
        if (last) change(other);
        expect_difference_named(*network, "noise plan (" + quantity, [&] {
            (void)share_plan(*network, other, path.graph, 0);
        });
    };
    differs("scale", [](NoisePlan& other) { other.scale *= 1 + 1e-11; });
    differs("coefficients",
            [](NoisePlan& other) { other.rows.back().coefficients.front() *= 1 + 1e-9; });
    differs("mechanism", [](NoisePlan& other) { other.mechanism = "ldp"; });
    differs("mechanism", [](NoisePlan& other) { other.groups.back().members = {0, 2}; });
    differs("grid step", [](NoisePlan& other) { other.grid_step_log2 += 5; });
}

TEST(Sharing, SurvivesAnyGraphAndPlanOfRankZero) {
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
                    (void)share_topography(wire, own, 1);
                else
                    (void)share_plan(wire, plan, own.graph, 0);
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

}  // namespace
}  // namespace sotto
