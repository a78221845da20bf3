// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/weighted_sum.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

std::unique_ptr<Network> mpi_network() { return make_mpi_network(test::mpi_session()); }

constexpr Eigen::Index dimensions[] = {1, 7, 124, 200000};

TEST(MpiNetwork, HostsOneAgentPerRank) {
    const auto network = mpi_network();
    EXPECT_EQ(network->agents(), test::mpi_session().ranks());
    EXPECT_EQ(network->processes(), test::mpi_session().ranks());
    EXPECT_EQ(network->process(), test::mpi_session().rank());
    EXPECT_EQ(network->local_agents().size(), 1u);
    EXPECT_EQ(network->local_agents().front(), test::mpi_session().rank());
    EXPECT_FALSE(MpiSession::library_version().empty());
    EXPECT_EQ(MpiSession::library_version().find('\n'), std::string::npos);
    EXPECT_FALSE(MpiSession::host_name().empty());
}

TEST(MpiNetwork, DeliversBothKindsOfMessageToTheClosedNeighbourhood) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        const auto network = mpi_network();
        const int u = network->process();
        network->connect(graph);
        std::int64_t expected_bytes = 0;
        int round = 0;
        for (const Eigen::Index d : dimensions)
            for (const bool per_receiver : {false, true}) {
                const test::Sent sent = per_receiver ? test::send_per_receiver(graph, u, round, d)
                                                     : test::send_to_all(u, round, d);
                test::Received received;
                network->exchange({round, 0},
                                  {&sent.outgoing, 1},
                                  d,
                                  [&](std::size_t local, auto first, auto count, auto columns) {
                                      EXPECT_EQ(local, 0u);
                                      received.add(d, first, count, columns);
                                  });
                EXPECT_EQ(received.difference(graph, u, round, d, per_receiver), "")
                    << name << ", dimension " << d << ", round " << round;
                EXPECT_EQ(received.deliveries > 1, d == 200000);
                expected_bytes += graph.degree(u) * d * 8;
                EXPECT_EQ(network->bytes_sent(), expected_bytes) << name;
                ++round;
            }
    }
}

TEST(MpiNetwork, KeepsTheAgentsOwnMessageWhereItIs) {
    const auto network = mpi_network();
    const int u = network->process();
    const Graph graph = test::graphs_of(network->agents()).back().graph;
    network->connect(graph);
    const Eigen::VectorXd model = test::message(u, -1, 0, 9);
    const Outgoing outgoing{model.data(), {}};
    network->exchange({}, {&outgoing, 1}, 9, [&](auto, auto, auto, auto columns) {
        EXPECT_EQ(columns[static_cast<std::size_t>(u)], model.data());  // the graph is complete
    });
}

TEST(BothNetworks, MixToTheSameBits) {
    const int n = test::mpi_session().ranks();
    for (const auto& [name, graph] : test::graphs_of(n))
        for (const Eigen::Index d : dimensions) {
            const auto across = mpi_network();
            const auto inside = make_memory_network(n, 1);
            across->connect(graph);
            inside->connect(graph);
            Eigen::MatrixXd models(d, n);
            for (int u = 0; u < n; ++u) models.col(u) = test::message(u, -1, 0, d) / 3.0;
            const auto mix_into = [](Eigen::Ref<Eigen::VectorXd> mixed,
                                     Eigen::Index first,
                                     Eigen::Index count,
                                     std::span<const double* const> columns) {
                std::vector<double> weights(columns.size());
                for (std::size_t j = 0; j < weights.size(); ++j)
                    weights[j] = 1.0 / (static_cast<double>(j) + 1.7);
                weighted_sum(
                    columns, weights, {mixed.data() + first, static_cast<std::size_t>(count)});
            };
            Eigen::MatrixXd all(d, n);
            std::vector<Outgoing> outgoing;
            for (int u = 0; u < n; ++u) outgoing.push_back({models.col(u).data(), {}});
            inside->exchange({}, outgoing, d, [&](auto u, auto first, auto count, auto columns) {
                mix_into(all.col(static_cast<Eigen::Index>(u)), first, count, columns);
            });
            const int u = across->process();
            Eigen::VectorXd own(d);
            across->exchange({},
                             {&outgoing[static_cast<std::size_t>(u)], 1},
                             d,
                             [&](auto, auto first, auto count, auto columns) {
                                 mix_into(own, first, count, columns);
                             });
            EXPECT_TRUE(own == all.col(u)) << name << ", dimension " << d;
        }
}

TEST(BothNetworks, SumOverAgentsToTheSameBits) {
    const int n = test::mpi_session().ranks();
    const auto across = mpi_network();
    const auto inside = make_memory_network(n, 1);
    // The largest is gathered in several pieces when there are 2 ranks or more.
    for (const Eigen::Index d : {0, 1, 7, 124, 1200000}) {
        Eigen::MatrixXd all(d, n);
        for (int u = 0; u < n; ++u) {
            SeededRandom random(static_cast<std::uint64_t>(u), "test.net.sum");
            for (Eigen::Index i = 0; i < d; ++i)  // of very different sizes: order matters
                all(i, u) =
                    (random.uniform() - 0.5) * std::ldexp(1.0, (static_cast<int>(i) + 17 * u) % 50);
        }
        const Eigen::VectorXd sum = across->sum_over_agents(all.col(across->process()));
        EXPECT_EQ(sum.size(), d);
        EXPECT_TRUE(sum == inside->sum_over_agents(all)) << "dimension " << d;
    }
}

/// Runs a step that fails on the given ranks and returns what was thrown here.
std::optional<Error> agreed_failure(Network& network, std::span<const int> failing) {
    try {
        network.agree([&] {
            for (const int rank : failing)
                if (rank == network.process()) {
                    const std::string message = "rank " + std::to_string(rank) + " has no data";
                    if (rank % 2 == 0) throw DataError(message);
                    throw PrivacyError(message);
                }
        });
    } catch (const Error& error) {
        EXPECT_EQ(dynamic_cast<const DataError*>(&error) != nullptr,
                  error.exit_code() == ExitCode::data);
        return error;
    }
    return std::nullopt;
}

TEST(MpiNetwork, AgreesOnTheFailureOfTheLowestFailingRank) {
    const auto network = mpi_network();
    const int n = network->processes();
    EXPECT_FALSE(agreed_failure(*network, {}).has_value());
    for (int lowest = 0; lowest < n; ++lowest)
        for (int other = lowest; other < n; ++other) {
            const int failing[] = {other, lowest};
            const auto failure = agreed_failure(*network, failing);
            EXPECT_TRUE(failure.has_value());
            if (!failure) continue;
            EXPECT_EQ(failure->what(), "rank " + std::to_string(lowest) + " has no data");
            EXPECT_EQ(failure->exit_code(), lowest % 2 == 0 ? ExitCode::data : ExitCode::privacy);
        }
    EXPECT_FALSE(agreed_failure(*network, {}).has_value());
}

TEST(MpiNetwork, AgreesOnErrorsThatAreNotItsOwn) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    std::string message;
    ExitCode code = ExitCode::ok;
    try {
        network->agree([&] {
            if (network->process() == last) throw std::runtime_error("out of luck");
        });
    } catch (const Error& error) {
        message = error.what();
        code = error.exit_code();
    }
    EXPECT_EQ(message, "out of luck");
    EXPECT_EQ(code, ExitCode::other);
}

/// Strings that differ per process: empty, short, with zero bytes, and of about 1 MB.
std::string sample(int kind, int process) {
    if (kind == 0) return {};
    if (kind == 1) return process % 2 == 0 ? "" : "odd " + std::to_string(process);
    if (kind == 2) return std::string("\0x\0", 3) + static_cast<char>('a' + process);
    std::string large(1000000 + static_cast<std::size_t>(process), '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>((i * 31 + static_cast<std::size_t>(process) * 7) % 251);
    return large;
}

TEST(MpiNetwork, CarriesStringsOfAnySize) {
    const auto network = mpi_network();
    const int n = network->processes();
    for (int kind = 0; kind < 4; ++kind) {
        EXPECT_TRUE(network->broadcast(sample(kind, network->process())) == sample(kind, 0));
        const auto gathered = network->all_gather(sample(kind, network->process()));
        std::vector<std::string> all;
        for (int p = 0; p < n; ++p) all.push_back(sample(kind, p));
        EXPECT_TRUE(gathered == all) << "kind " << kind;
        // What the other processes pass must not matter.
        const auto scattered =
            network->scatter(network->process() == 0 ? all : std::vector<std::string>{"ignored"});
        EXPECT_TRUE(scattered == sample(kind, network->process())) << "kind " << kind;
    }
}

TEST(MpiNetwork, AScatterOfTheWrongSizeFailsOnEveryRank) {
    const auto network = mpi_network();
    const std::vector<std::string> wrong(static_cast<std::size_t>(network->processes()) + 1);
    EXPECT_THROW((void)network->scatter(wrong), Error);
    EXPECT_EQ(network->broadcast("still in step"), "still in step");
}

TEST(MpiNetwork, FindsTheMaximumAtOnceOrLater) {
    const auto network = mpi_network();
    const int n = network->processes();
    const int u = network->process();
    EXPECT_EQ(network->maximum(-1.5 * u), 0);
    EXPECT_EQ(network->maximum(-5 + u), n - 6);
    EXPECT_THROW((void)network->end_maximum(), Error);
    for (int round = 0; round < 10; ++round) {
        const std::vector<double> values{1.0 * u + round, -1.0 * u, u == round % n ? 7.0 : 0.0};
        network->begin_maximum(values);
        EXPECT_THROW(network->begin_maximum(values), Error);
        // Other collectives may run in between.
        EXPECT_EQ(network->broadcast("meanwhile"), "meanwhile");
        const std::vector<double> expected{n - 1.0 + round, 0.0, 7.0};
        EXPECT_EQ(network->end_maximum(), expected);
    }
    network->begin_maximum({});
    EXPECT_TRUE(network->end_maximum().empty());
    network->begin_maximum(std::vector{1.0});  // never ended: the network ends it
}

TEST(MpiNetwork, ANotANumberIsNeverLostInAMaximum) {
    const auto network = mpi_network();
    for (int bad = 0; bad < network->processes(); ++bad) {
        const double value = network->process() == bad ? not_a_number : 1.0;
        EXPECT_TRUE(std::isnan(network->maximum(value)));
        network->begin_maximum(std::vector{value, 2.0});
        const auto maxima = network->end_maximum();
        EXPECT_TRUE(std::isnan(maxima[0]));
        EXPECT_EQ(maxima[1], 2.0);
    }
}

TEST(MpiNetwork, SaysWhoKeepsTheOthersWaitingAndGoesOn) {
    const auto network = mpi_network();
    std::vector<std::string> lines;
    network->watch_for_stalls(
        {0.3, 60, "a limit", [&](const std::string& line) { lines.push_back(line); }});
    const bool leader = network->process() == 0;
    const auto late = [&] {
        if (leader) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
        EXPECT_EQ(network->maximum(leader ? 7 : 3), 7);
    };
    late();
    // The first that waits speaks for all.
    if (network->process() != 1) {
        EXPECT_TRUE(lines.empty());
    } else {
        EXPECT_GE(lines.size(), 2u);
        EXPECT_NE(lines.front().find("no answer from rank 0"), std::string::npos) << lines.front();
        EXPECT_NE(lines.back().find("goes on"), std::string::npos) << lines.back();
    }
    // Waiting as long as it takes again: what follows the rounds may take one of them long.
    network->watch_for_stalls({0.1, 0.5, "a limit", [&](const std::string&) {}});
    network->watch_for_stalls({});
    late();
    // Questions that were asked late disturb nothing.
    EXPECT_EQ(network->all_gather("a").size(), static_cast<std::size_t>(network->processes()));
}

TEST(MpiNetwork, RefusesWrongUseOnEveryRank) {
    const auto network = mpi_network();
    const int n = network->agents();
    const double values[2] = {1, 2};
    const auto ignore = [](auto...) {};
    const Outgoing good{values, {}};
    EXPECT_THROW(network->exchange({}, {&good, 1}, 2, ignore), Error);  // not connected
    EXPECT_THROW(network->connect(Graph::from_edges(n + 1, {{0, n}})), ConfigError);
    const Graph graph = test::graphs_of(n).back().graph;
    network->connect(graph);
    EXPECT_THROW(network->connect(graph), Error);
    const Outgoing empty;
    const Outgoing both{values, std::vector<const double*>(static_cast<std::size_t>(n), values)};
    const Outgoing many{nullptr,
                        std::vector<const double*>(static_cast<std::size_t>(n) + 1, values)};
    for (const Outgoing* wrong : {&empty, &both, &many})
        EXPECT_THROW(network->exchange({}, {wrong, 1}, 2, ignore), Error);
    EXPECT_THROW(network->exchange({}, {&good, 1}, 0, ignore), Error);
    EXPECT_THROW(network->exchange({}, {}, 2, ignore), Error);
    EXPECT_THROW((void)network->sum_over_agents(Eigen::MatrixXd::Zero(2, 2)), Error);
    network->exchange({}, {&good, 1}, 2, ignore);
    EXPECT_EQ(network->bytes_sent(), (n - 1) * 2 * 8);
}

TEST(MpiNetwork, RefusesAGraphThatIsNotTheSameOnEveryRank) {
    const auto network = mpi_network();
    const int n = network->agents();
    const bool last = network->process() == n - 1;
    const auto graphs = test::graphs_of(n);
    const Graph& graph = last ? graphs.front().graph : graphs.back().graph;
    if (n > 1) {
        EXPECT_THROW(network->connect(graph), NetworkError);
    } else {
        EXPECT_NO_THROW(network->connect(graph));
    }
}

// Started by a test of its own that looks at mpiexec's exit code.
TEST(MpiNetwork, DISABLED_AbortEndsEveryRankWithTheCode) {
    const auto network = mpi_network();
    if (network->process() == network->processes() - 1) network->abort(ExitCode::privacy);
    EXPECT_EQ(network->maximum(1), 1);  // waits for a rank that never comes
}

}  // namespace
}  // namespace sotto
