// What really leaves an agent, and what happens when it is changed on the way. Under mpiexec, any
// number of ranks; nothing between collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "mpi/wire_tap.hpp"
#include "net/memory_network.hpp"
#include "net/network_fixtures.hpp"
#include "net/sum_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

using test::wire_tap;

/// A network along the graph; encrypted. COLLECTIVE.
std::unique_ptr<Network> encrypted_network(const Graph& graph, std::uint32_t epoch = 0) {
    auto network = make_mpi_network(test::mpi_session());
    network->connect(graph);
    EXPECT_FALSE(network->encryption().has_value());
    auto all = test::pair_secrets(network->agents());
    network->protect({&all[static_cast<std::size_t>(network->process())], 1}, epoch);
    EXPECT_TRUE(network->encryption().has_value());
    return network;
}

Graph complete_graph() { return test::graphs_of(test::mpi_session().ranks()).back().graph; }

class Wire : public testing::Test {
  protected:
    void SetUp() override { wire_tap() = {}; }
    void TearDown() override { wire_tap() = {}; }
};

TEST_F(Wire, EncryptedMessagesOfBothKindsArriveAndTheBytesThatLeaveAreCounted) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks())) {
        const auto network = encrypted_network(graph);
        const int u = network->process();
        std::int64_t bytes = 0;
        wire_tap().on_sent = [&](std::span<const std::uint8_t> sent, std::size_t) {
            bytes += static_cast<std::int64_t>(sent.size());
        };
        int round = 0;
        for (const Eigen::Index d : {1, 7, 124, 100000})
            for (const bool per_receiver : {false, true}) {
                const test::Sent sent = per_receiver ? test::send_per_receiver(graph, u, round, d)
                                                     : test::send_to_all(u, round, d);
                test::Received received;
                network->exchange({round, 0},
                                  {&sent.outgoing, 1},
                                  d,
                                  [&](std::size_t, auto first, auto count, auto columns) {
                                      received.add(d, first, count, columns);
                                  });
                EXPECT_EQ(received.difference(graph, u, round, d, per_receiver), "")
                    << name << ", dimension " << d << ", round " << round;
                EXPECT_EQ(network->bytes_sent(), bytes) << name;
                EXPECT_GE(bytes, std::ssize(graph.hearers(u)) * (d * 8 + 16)) << name;
                ++round;
            }
    }
}

/// Whether some aligned value of the message is among the bytes.
bool contains_value(std::span<const std::uint8_t> bytes, const Eigen::VectorXd& message) {
    for (Eigen::Index i = 0; i < message.size(); ++i) {
        std::array<std::uint8_t, 8> value{};
        std::memcpy(value.data(), &message[i], value.size());
        if (!std::ranges::search(bytes, value).empty()) return true;
    }
    return false;
}

TEST_F(Wire, CarriesNoValueInClearWhenEncrypted) {
    const Graph graph = complete_graph();
    for (const bool encrypted : {true, false}) {
        auto network = make_mpi_network(test::mpi_session());
        if (encrypted)
            network = encrypted_network(graph);
        else
            network->connect(graph);
        const int u = network->process();
        const test::Sent sent = test::send_per_receiver(graph, u, 0, 50);
        bool clear = false;
        wire_tap().on_sent = [&](std::span<const std::uint8_t> bytes, std::size_t) {
            for (const auto& vector : sent.vectors) clear = clear || contains_value(bytes, vector);
        };
        network->exchange({0, 0}, {&sent.outgoing, 1}, 50, [](auto, auto, auto, auto) {});
        EXPECT_EQ(clear, !encrypted && graph.degree(u) > 0);
    }
}

/// Exchanges rounds 11 and 12 while `tamper` changes what arrives in round 12; what was thrown.
std::string error_of(Network& network,
                     const std::function<void(std::span<std::uint8_t>, std::size_t)>& tamper) {
    const int u = network.process();
    std::string what;
    for (const int round : {11, 12}) {
        if (round == 12) wire_tap().on_received = tamper;
        const test::Sent sent = test::send_to_all(u, round, 1000);
        try {
            network.exchange({round, 0}, {&sent.outgoing, 1}, 1000, [](auto, auto, auto, auto) {});
        } catch (const CryptoError& error) {
            what = error.what();
        }
    }
    return what;
}

std::string edge(int from, int to) {
    return "from agent " + std::to_string(from) + " to agent " + std::to_string(to) + ", round 12";
}

TEST_F(Wire, AFlippedBitStopsTheReceiverWithTheNameOfTheEdge) {
    const Graph graph = complete_graph();
    for (const bool in_tag : {false, true}) {
        const auto network = encrypted_network(graph);
        const int u = network->process();
        // The last neighbour's message.
        const std::string what = error_of(*network, [&](auto received, auto piece) {
            received[received.size() - (in_tag ? 3 : piece / 2)] ^= 0x10;
        });
        EXPECT_NE(what.find(edge(graph.neighbours(u).back(), u)), std::string::npos) << what;
        wire_tap() = {};
    }
}

TEST_F(Wire, AMessageOfAnEarlierRoundIsRefused) {
    const Graph graph = complete_graph();
    const auto network = encrypted_network(graph);
    const int u = network->process();
    std::vector<std::uint8_t> earlier;
    wire_tap().on_received = [&](std::span<std::uint8_t> received, std::size_t) {
        earlier.assign(received.begin(), received.end());
    };
    const std::string what = error_of(*network, [&](auto received, auto piece) {
        std::copy_n(earlier.begin(), piece, received.begin());
    });
    EXPECT_NE(what.find(edge(graph.neighbours(u).front(), u)), std::string::npos) << what;
}

TEST_F(Wire, MessagesSwappedBetweenEdgesAreRefused) {
    const Graph graph = complete_graph();
    if (graph.agents() < 3) return;
    const auto network = encrypted_network(graph);
    const int u = network->process();
    const std::string what = error_of(*network, [&](auto received, auto piece) {
        std::swap_ranges(received.begin(),
                         received.begin() + static_cast<long>(piece),
                         received.begin() + static_cast<long>(piece));
    });
    EXPECT_NE(what.find(edge(graph.neighbours(u).front(), u)), std::string::npos) << what;
}

TEST_F(Wire, AnotherKeyEpochStartsTheNoncesAgainWithOtherKeys) {
    const Graph graph = complete_graph();
    std::vector<std::vector<std::uint8_t>> wires;
    wire_tap().on_sent = [&](std::span<const std::uint8_t> sent, std::size_t) {
        wires.emplace_back(sent.begin(), sent.end());
    };
    for (const std::uint32_t epoch : {0U, 1U}) {
        const auto network = encrypted_network(graph, epoch);
        const test::Sent sent = test::send_to_all(network->process(), 0, 100);
        network->exchange({0, 0}, {&sent.outgoing, 1}, 100, [](auto, auto, auto, auto) {});
        EXPECT_THROW(
            network->exchange({0, 0}, {&sent.outgoing, 1}, 100, [](auto, auto, auto, auto) {}),
            CryptoError);
    }
    EXPECT_EQ(wires.size(), 2U);
    EXPECT_NE(wires.front(), wires.back());
}

TEST_F(Wire, CarriesNoValueOfWhatIsCollectedInClearAndFoldsToTheSameBits) {
    const int n = test::mpi_session().ranks();
    const auto inside = make_memory_network(n, 1);
    for (const bool encrypted : {true, false}) {
        auto network = make_mpi_network(test::mpi_session());
        if (encrypted) network = encrypted_network(complete_graph());
        // The larger is collected in several pieces.
        for (const Eigen::Index d : {50, 1200000}) {
            Eigen::MatrixXd all(d, n);
            for (int u = 0; u < n; ++u) all.col(u) = test::send_to_all(u, 0, d).vectors.front();
            const Eigen::VectorXd own = all.col(network->process());
            bool clear = false;
            wire_tap().on_gathered = [&](std::span<const std::uint8_t> sent) {
                clear = clear || contains_value(sent, own.head(20));
            };
            EXPECT_TRUE(network->sum_over_agents(own) == inside->sum_over_agents(all));
            EXPECT_TRUE(network->maximum_over_agents(own) == inside->maximum_over_agents(all));
            // Rank 0 collects, and sends nothing itself.
            EXPECT_EQ(clear, !encrypted && network->process() != 0);
        }
    }
}

TEST_F(Wire, RefusesACollectedResultThatWasChanged) {
    const auto network = encrypted_network(complete_graph());
    const int last = network->agents() - 1;
    wire_tap().on_scattered = [&](std::span<std::uint8_t> received) {
        if (network->process() == last) received[3] ^= 1;
    };
    std::string what;
    try {
        (void)network->sum_over_agents(Eigen::MatrixXd::Ones(4, 1));
    } catch (const CryptoError& error) {
        what = error.what();
    }
    if (network->process() == last)
        EXPECT_NE(what.find("from agent 0 to agent " + std::to_string(last)), std::string::npos)
            << what;
    else
        EXPECT_EQ(what, "");
}

TEST_F(Wire, SumsAreTheSameBitsAsInOneProcessAndSharesSayNothing) {
    for (const auto& [name, graph] : test::graphs_of(test::mpi_session().ranks()))
        for (const Eigen::Index d : {5, 40000})
            for (const bool encrypted : {false, true}) {
                auto network = make_mpi_network(test::mpi_session());
                if (encrypted)
                    network = encrypted_network(graph);
                else
                    network->connect(graph);
                const int u = network->process();
                test::SumRun run(graph, {&u, 1}, d);
                double near = 0;
                double words = 0;
                wire_tap().on_received = [&](std::span<std::uint8_t> received, std::size_t) {
                    for (std::size_t i = 0; i + 8 <= received.size(); i += 8) {
                        std::int64_t word = 0;
                        std::memcpy(&word, received.data() + i, sizeof word);
                        near += std::abs(static_cast<double>(word)) < 0x1p56 ? 1 : 0;
                        words += 1;
                    }
                };
                const Eigen::MatrixXd sums = run.exchange(*network, 0);
                wire_tap() = {};
                // A plain word of these messages is below 2^56; a masked one with probability 2^-7.
                if (!graph.heard(u).empty() && !encrypted) {
                    if (graph.heard(u).size() > 1) {
                        EXPECT_LT(near, words / 128 + 5 * std::sqrt(words / 128) + 5) << name;
                    } else {
                        EXPECT_EQ(near, words) << name;  // of one neighbour: its message
                    }
                }
                std::vector<int> everybody;
                for (int v = 0; v < graph.agents(); ++v) everybody.push_back(v);
                const auto memory = make_memory_network(graph.agents(), 2);
                memory->connect(graph);
                test::SumRun alone(graph, everybody, d);
                EXPECT_TRUE(sums == alone.exchange(*memory, 0).col(u))
                    << name << ", dimension " << d << (encrypted ? ", encrypted" : "");
                EXPECT_EQ(alone.problem(), "");
                EXPECT_EQ(run.problem(), "");
            }
}

TEST_F(Wire, AMissingShareIsNeverDecoded) {
    const Graph graph = complete_graph();
    const auto network = encrypted_network(graph);
    const int u = network->process();
    test::SumRun run(graph, {&u, 1}, 100);
    wire_tap().fail = true;
    EXPECT_THROW((void)run.exchange(*network, 0), NetworkError);
    EXPECT_EQ(run.deliveries(), 0);
    // A share that was changed does not reach the sum either.
    wire_tap().fail = false;
    wire_tap().on_received = [](auto received, auto) { received[1] ^= 1; };
    EXPECT_THROW((void)run.exchange(*network, 1), CryptoError);
    EXPECT_EQ(run.deliveries(), 0);
}

TEST_F(Wire, AValueOutOfRangeIsRefusedBeforeAnythingIsSent) {
    const Graph graph = complete_graph();
    const auto network = encrypted_network(graph);
    const int u = network->process();
    bool sent = false;
    wire_tap().on_sent = [&](auto, auto) { sent = true; };
    test::SumRun run(graph, {&u, 1}, 40000);
    run.set(39999, 1e12);
    EXPECT_THROW((void)run.exchange(*network, 0), Error);
    EXPECT_FALSE(sent);
    EXPECT_EQ(network->bytes_sent(), 0);
}

TEST_F(Wire, TrainingHasTheSameBitsWithAndWithoutEncryption) {
    const Graph graph = complete_graph();
    const Topography topography = test::metropolis_on(graph);
    for (const auto& entry : test::mechanism_cases()) {
        const NoisePlan plan =
            test::plan_of(entry, topography, 100 * test::uneven_limits(graph.agents()));
        for (const bool secure_sum : {false, true}) {
            if (secure_sum && plan.aggregation == Aggregation::trusted_mean) continue;
            test::NoiseRun run;
            run.rounds = 3;
            run.dimension = 20000;  // more than one piece
            run.secure_sum = secure_sum;
            Eigen::MatrixXd results[2];
            for (const bool encrypted : {false, true}) {
                run.encrypted = encrypted;
                const auto network = make_mpi_network(test::mpi_session());
                results[encrypted ? 1 : 0] = test::gather_columns(
                    *network, test::record_rounds(*network, topography, plan, run).last);
            }
            EXPECT_TRUE(results[0] == results[1]) << entry.label;
            run.encrypted = false;
            const auto memory = make_memory_network(graph.agents(), 2);
            if (test::mpi_session().rank() == 0) {
                EXPECT_TRUE(results[0] == test::record_rounds(*memory, topography, plan, run).last)
                    << entry.label << (secure_sum ? ", secure sum" : "");
            }
        }
    }
}

}  // namespace
}  // namespace sotto
