// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "net/mpi/late_mail.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "mpi/mpi_main.hpp"
#include "net/network_fixtures.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

constexpr Eigen::Index dimension = 1000;

double value(int agent, long round) { return 100.0 * static_cast<double>(round) + agent; }

Clock::time_point after(double seconds) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// One agent on every rank, all neighbours.
struct Late {
    explicit Late(bool encrypted) {
        const int ranks = network->processes();
        network->connect(complete_graph(ranks));
        if (encrypted) {
            auto all = test::pair_secrets(ranks);
            const auto rank = static_cast<std::size_t>(network->process());
            network->protect(std::span(all).subspan(rank, 1), 0);
        }
    }
    static Graph complete_graph(int agents) {
        TopologySpec spec;
        spec.topology = Topology::complete;
        spec.agents = agents;
        return make_topology(spec).graph;
    }
    /// @return by agent, what came of it: the value of every coordinate, or nothing.
    std::vector<std::optional<double>> exchange(long round, double seconds) {
        const Eigen::VectorXd own =
            Eigen::VectorXd::Constant(dimension, value(network->process(), round));
        Outgoing outgoing;
        outgoing.to_all = own.data();
        std::vector<std::optional<double>> came;
        network->set_deadline(after(seconds));
        network->exchange({round, 0},
                          std::span(&outgoing, 1),
                          dimension,
                          [&](std::size_t, Eigen::Index first, Eigen::Index count, auto columns) {
                              EXPECT_EQ(first, 0);
                              EXPECT_EQ(count, dimension);
                              for (std::size_t j = 0; j < columns.size(); ++j) {
                                  came.emplace_back();
                                  used.push_back(network->used_by(0, j));
                                  if (columns[j] == nullptr) continue;
                                  came.back() = columns[j][dimension - 1];
                                  EXPECT_EQ(columns[j][0], columns[j][dimension - 1]);
                              }
                          });
        return came;
    }
    std::unique_ptr<Network> network = test::mpi_network();
    std::vector<std::optional<std::uint32_t>> used;  // of all exchanges
};

class LateMessages : public testing::TestWithParam<bool> {};

TEST_P(LateMessages, AllComeWhereNobodyIsLate) {
    Late late(GetParam());
    const int ranks = late.network->processes(), own = late.network->process();
    for (long round = 0; round < 20; ++round) {
        const auto came = late.exchange(round, 60);
        EXPECT_EQ(std::ssize(came), ranks);
        for (int agent = 0; agent < ranks; ++agent)
            EXPECT_EQ(came[static_cast<std::size_t>(agent)], value(agent, round));
        // All have used every message of all rounds before.
        for (int agent = 0; agent < ranks; ++agent) {
            const auto& said = late.used[static_cast<std::size_t>(round * ranks + agent)];
            if (agent == own)
                EXPECT_EQ(said, std::nullopt);
            else
                EXPECT_EQ(said, (std::uint32_t{1} << round) - 1);
        }
    }
    EXPECT_EQ(late.network->late_counts().expected, 20 * (ranks - 1));
    EXPECT_EQ(late.network->late_counts().missing, 0);
    late.network->meet(20);
    EXPECT_EQ(late.network->late_counts().late, 0);
}

TEST_P(LateMessages, AreLeftOutAndDroppedWhenTheyCome) {
    Late late(GetParam());
    const int ranks = late.network->processes(), own = late.network->process();
    if (ranks == 1) return;
    const int slow = ranks - 1;
    (void)late.exchange(0, 60);
    late.network->meet(1);
    late.used.clear();
    if (own == slow) {
        // The others have gone on without it; it joins the round after the one they have reached.
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        const long there = late.network->round_of_neighbours();
        EXPECT_EQ(there, 2);
        const auto came = late.exchange(2, 60);
        for (int agent = 0; agent < slow; ++agent)
            EXPECT_EQ(came[static_cast<std::size_t>(agent)], value(agent, 2)) << agent;
        late.network->meet(3);
    } else {
        for (const long round : {1, 2}) {
            const auto came = late.exchange(round, 0.2);
            for (int agent = 0; agent < slow; ++agent)
                EXPECT_EQ(came[static_cast<std::size_t>(agent)], value(agent, round)) << agent;
            EXPECT_EQ(came.back(), std::nullopt) << round;
        }
        EXPECT_EQ(late.network->late_counts().missing, 2);
        late.network->meet(3);
        EXPECT_EQ(late.network->late_counts().late, 1);
    }
    // After the meeting all are on time again, and hear which messages were used.
    late.used.clear();
    const auto came = late.exchange(3, 60);
    for (int agent = 0; agent < ranks; ++agent)
        EXPECT_EQ(came[static_cast<std::size_t>(agent)], value(agent, 3));
    for (int agent = 0; agent < ranks; ++agent) {
        if (agent == own) continue;
        const std::uint32_t said = *late.used[static_cast<std::size_t>(agent)];
        // Bits: rounds 2, 1 and 0. The slow one used rounds 0 and 2, and nobody used its own.
        const bool with_slow = own == slow;
        EXPECT_EQ(said, agent == slow ? 0b101U : (with_slow ? 0b100U : 0b111U)) << agent;
    }
    late.network->meet(4);
}

TEST_P(LateMessages, ComeLaterWhereAgentsMayBeApart) {
    Late late(GetParam());
    const int ranks = late.network->processes(), own = late.network->process();
    if (ranks == 1) return;
    constexpr long lag = 3;
    const int slow = ranks - 1;
    late.network->set_lag(lag);
    (void)late.exchange(0, 60);
    late.network->meet(1);
    // The others go on for three rounds without waiting, and wait then until it is there.
    const auto start = Clock::now();
    if (own == slow) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::vector<std::pair<int, long>> came_late;
    const auto deliver = [&](const LateMessage& message) {
        EXPECT_EQ(message.local, 0U);
        EXPECT_EQ(std::ssize(message.values), dimension);
        const int agent = static_cast<int>(message.place);
        EXPECT_EQ(message.values[dimension - 1], value(agent, message.round));
        came_late.emplace_back(agent, message.round);
        return true;
    };
    std::vector<std::pair<int, long>> on_time;
    for (long round = 1; round <= 8; ++round) {
        const auto came = late.exchange(round, 60);
        for (int agent = 0; agent < ranks; ++agent)
            if (agent != own && came[static_cast<std::size_t>(agent)])
                on_time.emplace_back(agent, round);
        late.network->deliver_late(deliver);
        if (own != slow && round == 5) {
            EXPECT_GT(seconds_since(start), 0.45);
        }
    }
    late.network->meet(9);
    late.network->set_deadline(after(60));
    (void)late.exchange(9, 60);
    late.network->deliver_late(deliver);
    // Every message of rounds 1 to 8 has come once.
    for (int agent = 0; agent < ranks; ++agent)
        for (long round = 1; round <= 8 && agent != own; ++round) {
            const std::pair<int, long> one(agent, round);
            EXPECT_EQ(std::ranges::count(on_time, one) + std::ranges::count(came_late, one), 1)
                << agent << ", round " << round;
        }
    EXPECT_EQ(late.network->late_counts().used_late, std::ssize(came_late));
    if (own != slow) {
        EXPECT_EQ(std::ranges::count(came_late, std::pair(slow, 1L)), 1);
    }
    late.network->meet(10);
}

INSTANTIATE_TEST_SUITE_P(Links, LateMessages, testing::Values(false, true));

TEST(LateMail, AMeetingThatOneCallsIsHeardByAll) {
    Late late(false);
    (void)late.exchange(0, 60);
    if (late.network->process() == 0) {
        EXPECT_FALSE(late.network->meeting_called());
        late.network->call_meeting();
    }
    const auto start = Clock::now();
    while (!late.network->meeting_called() && seconds_since(start) < 60)
        (void)late.network->round_of_neighbours();
    EXPECT_TRUE(late.network->meeting_called());
    late.network->meet(1);
    EXPECT_FALSE(late.network->meeting_called());
}

// A neighbour that keeps to the cipher can still send a round's message again: it counts once.
TEST(LateMail, ARoundThatIsSentTwiceIsUsedOnce) {
    MpiWorld world;
    MpiLinks links(world, {world.ranks(), world.ranks()});
    links.connect(Late::complete_graph(world.ranks()));
    LateMail mail(world, links);
    mail.set_lag(3);
    const std::vector<std::byte> bytes(100);
    // Sends messages of these rounds in the round `number`; what came of the neighbours' is used.
    const auto used = [&](long number, const std::vector<long>& sent) {
        // A neighbour that is ahead would send more than is kept for it.
        MPI_Barrier(MPI_COMM_WORLD);
        for (const long one : sent)
            for (const std::size_t j : links.destinations()) mail.send({one, 0}, j, bytes);
        mail.wait({number, 0}, links.sources(), links.destinations(), after(60), bytes.size());
        mail.settle(number + 1);
        // All are sent; what the library has not handed out yet is taken by polling.
        for (const auto start = Clock::now(); seconds_since(start) < 0.2;)
            (void)mail.round_of_neighbours();
        std::vector<std::vector<long>> rounds;
        for (const std::size_t j : links.sources()) {
            std::vector<long>& late = rounds.emplace_back();
            while (const auto letter = mail.take_late(j)) {
                late.push_back(static_cast<long>(letter->id.round));
                mail.use_late(j, late.back());
            }
            std::ranges::sort(late);
        }
        return rounds;
    };
    const auto each = [&](const std::vector<long>& rounds) {
        return std::vector(links.sources().size(), rounds);
    };
    EXPECT_EQ(used(0, {0}), each({0}));
    EXPECT_EQ(used(2, {2, 2, 1, 1}), each({1, 2}));
    EXPECT_EQ(used(3, {1, 3, 2, 0}), each({3}));
}

}  // namespace
}  // namespace sotto
