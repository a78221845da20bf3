#include "net/memory_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/numbers.hpp"
#include "net/network_fixtures.hpp"
#include "net/sum_fixtures.hpp"

namespace sotto {
namespace {

constexpr Eigen::Index dimensions[] = {1, 7, 124, 100000};

void expect_everything_arrives(int agents, int threads, bool per_receiver) {
    for (const auto& [name, graph] : test::graphs_of(agents)) {
        const auto network = make_memory_network(agents, threads);
        network->connect(graph);
        std::int64_t expected_bytes = 0;
        int round = 0;
        for (const Eigen::Index d : dimensions) {
            std::vector<test::Sent> sent;
            std::vector<Outgoing> outgoing;
            for (int u = 0; u < agents; ++u) {
                sent.push_back(per_receiver ? test::send_per_receiver(graph, u, round, d)
                                            : test::send_to_all(u, round, d));
                outgoing.push_back(sent.back().outgoing);
            }
            std::vector<test::Received> received(outgoing.size());
            network->exchange({round, 0}, outgoing, d, [&](auto u, auto first, auto n, auto c) {
                received[u].add(d, first, n, c);
            });
            for (int u = 0; u < agents; ++u) {
                const auto& got = received[static_cast<std::size_t>(u)];
                EXPECT_EQ(got.difference(graph, u, round, d, per_receiver), "")
                    << name << ", " << agents << " agents, agent " << u << ", dimension " << d;
                EXPECT_EQ(got.deliveries > 1, d == 100000);
            }
            expected_bytes += static_cast<std::int64_t>(graph.messages()) * d * 8;
            EXPECT_EQ(network->bytes_sent(), expected_bytes) << name;
            ++round;
        }
    }
}

TEST(MemoryNetwork, DeliversOneMessageForAllToTheClosedNeighbourhood) {
    for (const int agents : {1, 2, 3, 8}) expect_everything_arrives(agents, 1, false);
}

TEST(MemoryNetwork, DeliversAMessagePerReceiverToTheRightOne) {
    for (const int agents : {1, 2, 3, 8}) expect_everything_arrives(agents, 1, true);
}

TEST(MemoryNetwork, DeliversTheSameWithThreads) {
    expect_everything_arrives(8, 2, false);
    expect_everything_arrives(8, 3, true);
}

TEST(MemoryNetwork, PassesMessagesByPointer) {
    const auto network = make_memory_network(3, 1);
    network->connect(Graph::from_edges(3, {{0, 1}, {1, 2}}));
    const Eigen::MatrixXd models = Eigen::MatrixXd::Random(5, 3);
    std::vector<Outgoing> outgoing(3);
    for (std::size_t u = 0; u < 3; ++u)
        outgoing[u].to_all = models.col(static_cast<Eigen::Index>(u)).data();
    network->exchange({}, outgoing, 5, [&](std::size_t u, auto, auto, auto columns) {
        if (u == 0) {
            EXPECT_EQ(columns.size(), 2u);
            EXPECT_EQ(columns[0], models.col(0).data());
            EXPECT_EQ(columns[1], models.col(1).data());
        }
    });
}

TEST(MemoryNetwork, SumsInAscendingOrderOfTheAgents) {
    const auto network = make_memory_network(4, 1);
    Eigen::MatrixXd local(1, 4);
    local << 1e16, 1, -1e16, 1;  // any other order gives another sum
    EXPECT_EQ(network->sum_over_agents(local)[0], ((1e16 + 1.0) - 1e16) + 1.0);
    EXPECT_EQ(network->sum_over_agents(Eigen::MatrixXd(0, 4)).size(), 0);
    EXPECT_THROW((void)network->sum_over_agents(Eigen::MatrixXd::Zero(2, 3)), Error);
}

TEST(MemoryNetwork, IsOneProcessThatHostsAllAgents) {
    const auto network = make_memory_network(4, 1);
    EXPECT_EQ(network->agents(), 4);
    EXPECT_EQ(network->processes(), 1);
    EXPECT_EQ(network->process(), 0);
    EXPECT_TRUE(std::ranges::equal(network->local_agents(), std::vector{0, 1, 2, 3}));
    const std::string bytes("a\0b", 3);
    EXPECT_EQ(network->broadcast(bytes, 1), bytes);
    EXPECT_EQ(network->all_gather(bytes, 1), std::vector{bytes});
    EXPECT_EQ(network->scatter({bytes}, 1), bytes);
    EXPECT_THROW((void)network->scatter({}, 1), Error);
    EXPECT_THROW((void)network->scatter({"a", "b"}, 1), Error);
    EXPECT_EQ(network->send_parcels(bytes, std::vector{0}, 1), std::vector{bytes});
    EXPECT_TRUE(network->send_parcels(bytes, std::vector{-1}, 1).empty());
    EXPECT_THROW((void)network->send_parcels(bytes, std::vector{1}, 1), Error);
    EXPECT_EQ(network->maximum(-3.5), -3.5);
    EXPECT_TRUE(std::isnan(network->maximum(not_a_number)));
}

TEST(MemoryNetwork, OneMaximumAtATimeMayBeUnderWay) {
    const auto network = make_memory_network(2, 1);
    EXPECT_THROW((void)network->end_maximum(), Error);
    const std::vector<double> values{1, -2};
    network->begin_maximum(values);
    EXPECT_THROW(network->begin_maximum(values), Error);
    EXPECT_EQ(network->end_maximum(), values);
    EXPECT_THROW((void)network->end_maximum(), Error);
    network->begin_maximum({});
    EXPECT_TRUE(network->end_maximum().empty());
}

TEST(MemoryNetwork, AgreeThrowsTheErrorOfTheStepWithItsCode) {
    const auto network = make_memory_network(2, 1);
    EXPECT_NO_THROW(network->agree([] {}));
    EXPECT_THROW(network->agree([] { throw DataError("no such file"); }), DataError);
    try {
        network->agree([] { throw std::runtime_error("something else"); });
        ADD_FAILURE() << "did not throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_code(), ExitCode::other);
        EXPECT_STREQ(error.what(), "something else");
    }
    EXPECT_THROW(network->agree([] { throw 1; }), Error);
}

TEST(MemoryNetwork, RefusesWrongUse) {
    EXPECT_THROW((void)make_memory_network(0, 1), ConfigError);
    EXPECT_THROW((void)make_memory_network(1, 0), ConfigError);

    const auto network = make_memory_network(2, 1);
    const double values[2] = {1, 2};
    const auto ignore = [](auto...) {};
    std::vector<Outgoing> outgoing(2);
    outgoing[0].to_all = outgoing[1].to_all = values;
    EXPECT_THROW(network->exchange({}, outgoing, 2, ignore), Error);  // not connected
    EXPECT_THROW(network->connect(Graph::from_edges(3, {{0, 1}})), ConfigError);
    network->connect(Graph::from_edges(2, {{0, 1}}));
    EXPECT_THROW(network->connect(Graph::from_edges(2, {{0, 1}})), Error);
    EXPECT_NO_THROW(network->exchange({}, outgoing, 2, ignore));

    const auto refuses = [&](std::vector<Outgoing> wrong, Eigen::Index dimension) {
        EXPECT_THROW(network->exchange({}, wrong, dimension, ignore), Error);
    };
    refuses(outgoing, 0);
    refuses({outgoing[0]}, 2);
    auto wrong = outgoing;
    wrong[1] = {};  // no message at all
    refuses(wrong, 2);
    wrong[1] = {nullptr, {values, values}};  // of another kind than agent 0's
    refuses(wrong, 2);
    wrong[1] = {values, {values, values}};  // both kinds
    refuses(wrong, 2);
    wrong[0] = {nullptr, {values, values}};
    wrong[1] = {nullptr, {values}};  // one receiver too few
    refuses(wrong, 2);
    wrong[1] = {nullptr, {values, nullptr}};
    refuses(wrong, 2);
    EXPECT_EQ(network->bytes_sent(), 2 * 2 * 8);  // of the one exchange that took place
}

TEST(MemoryNetwork, AnErrorWhileDeliveringLeavesTheExchange) {
    for (const int threads : {1, 2}) {
        const auto network = make_memory_network(3, threads);
        network->connect(Graph::from_edges(3, {{0, 1}}));
        const double value = 1;
        const std::vector<Outgoing> outgoing(3, Outgoing{&value, {}});
        EXPECT_THROW(network->exchange({},
                                       outgoing,
                                       1,
                                       [](std::size_t u, auto, auto, auto) {
                                           if (u == 1) throw DataError("model diverged");
                                       }),
                     DataError);
    }
}

TEST(MemoryNetworkDeathTest, AbortEndsTheProcessWithTheCodeAndNeverWithZero) {
    const auto network = make_memory_network(1, 1);
    EXPECT_EXIT(network->abort(ExitCode::data), testing::ExitedWithCode(3), "");
    EXPECT_EXIT(network->abort(ExitCode::ok), testing::ExitedWithCode(1), "");
}

TEST(MemoryNetwork, DeliversSumsOfSharesOnlyWithTheSameBitsOnAnyNumberOfThreads) {
    for (const auto& [name, graph] : test::graphs_of(6))
        for (const Eigen::Index d : {5, 40000}) {
            std::vector<int> everybody(6);
            std::iota(everybody.begin(), everybody.end(), 0);
            Eigen::MatrixXd results[2];
            for (const int threads : {1, 3}) {
                const auto network = make_memory_network(6, threads);
                network->connect(graph);
                test::SumRun run(graph, everybody, d);
                results[threads == 1 ? 0 : 1] = run.exchange(*network, 0);
                EXPECT_EQ(run.problem(), "") << name;
                EXPECT_EQ(run.deliveries() > 6, d == 40000) << name;
                EXPECT_EQ(network->bytes_sent(),
                          static_cast<std::int64_t>(graph.messages()) * d * 8);
            }
            EXPECT_TRUE(results[0] == results[1]) << name;
        }
}

TEST(MemoryNetwork, HasNothingToEncrypt) {
    const auto network = make_memory_network(3, 1);
    network->connect(test::graphs_of(3).front().graph);
    auto secrets = test::pair_secrets(3);
    network->protect(secrets, 0);
    EXPECT_FALSE(network->encryption().has_value());
}

}  // namespace
}  // namespace sotto
