#include "agent/message_mixing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/agent_fixtures.hpp"
#include "core/numbers.hpp"
#include "learn/quadratic.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr int path_agents = 6;

std::vector<LocalAgent> some_agents() {
    std::vector<LocalAgent> result;
    for (int u = 0; u < path_agents; ++u)
        result.push_back(test::local_agent(u, make_quadratic_objective(u, path_agents), 1));
    return result;
}

TEST(MessageMixing, CombinesWhatIsHeardWithWhatWasSentBefore) {
    const Topography topography = test::topography_of(Topology::path, path_agents);
    const auto network = make_memory_network(path_agents, 1);
    network->connect(topography.graph);
    MessageMixing mixing(*network, network->blocks(), MixingSchedule({topography.mixing}));
    const std::vector<LocalAgent> locals = some_agents();
    const Eigen::MatrixXd messages = Eigen::MatrixXd::Random(5, path_agents);
    const Eigen::MatrixXd earlier = Eigen::MatrixXd::Random(5, path_agents);
    Eigen::MatrixXd models = Eigen::MatrixXd::Zero(5, path_agents);
    std::vector<Outgoing> outgoing(path_agents);
    for (int u = 0; u < path_agents; ++u)
        outgoing[static_cast<std::size_t>(u)].to_all = messages.col(u).data();
    const Eigen::MatrixXd mixed = messages * topography.mixing.dense().transpose();
    mixing.run({{0, 0}, 1, 0, locals, outgoing, messages, earlier, models, {}, 1e100});
    EXPECT_LT((models - mixed).norm(), 1e-14);
    mixing.run({{0, 1}, 1.5, 0.5, locals, outgoing, messages, earlier, models, {}, 1e100});
    EXPECT_LT((models - (1.5 * mixed - 0.5 * earlier)).norm(), 1e-14);
    EXPECT_FALSE(mixing.secure_sums());
}

/// Delivers what the test says, as if every agent had a process of its own.
class ScriptedExchange final : public NeighbourExchange {
  public:
    void connect(const Graph& /*graph*/) override {}
    void protect(std::span<PairSecrets> /*secrets*/, std::uint32_t /*key_epoch*/) override {}
    [[nodiscard]] std::optional<AeadCipher> encryption() const override { return std::nullopt; }
    void exchange(ExchangeId /*id*/,
                  std::span<const Outgoing> /*outgoing*/,
                  Eigen::Index dimension,
                  const Delivery& deliver) override {
        deliver(0, 0, dimension, columns);
    }
    void exchange_sum(ExchangeId /*id*/,
                      Eigen::Index /*dimension*/,
                      const ShareSource& /*share*/,
                      const SumDelivery& /*deliver*/) override {}
    [[nodiscard]] std::int64_t bytes_sent() const override { return 0; }
    [[nodiscard]] std::optional<std::uint32_t> used_by(std::size_t /*local*/,
                                                       std::size_t place) const override {
        return used[place];
    }
    std::vector<const double*> columns;
    std::vector<std::optional<std::uint32_t>> used;
};

TEST(MessageMixing, GivesBackWhatItTookOfAMessageWhoseSenderDidNotUseItsOwn) {
    // Agent 0 of a ring of three, with weights 1/3: its neighbours are 1 and 2.
    const Topography topography = test::topography_of(Topology::ring, 3);
    ScriptedExchange network;
    network.set_deadline(Clock::time_point::max());
    MessageMixing mixing(network, AgentBlocks(3, 3), MixingSchedule({topography.mixing}));
    std::vector<LocalAgent> locals;
    locals.push_back(test::local_agent(0, make_quadratic_objective(0, 3), 1));
    const Eigen::MatrixXd nothing;
    Eigen::MatrixXd own(1, 1), models(1, 1);
    double first = 0, second = 0;
    std::vector<Outgoing> outgoing(1);
    const auto run = [&](long round,
                         double mine,
                         std::optional<double> of_1,
                         std::optional<double> of_2,
                         std::uint32_t used_by_1,
                         std::uint32_t used_by_2) {
        own(0, 0) = mine;
        first = of_1.value_or(0);
        second = of_2.value_or(0);
        network.columns = {own.data(), of_1 ? &first : nullptr, of_2 ? &second : nullptr};
        network.used = {std::nullopt,
                        of_1 ? std::optional(used_by_1) : std::nullopt,
                        of_2 ? std::optional(used_by_2) : std::nullopt};
        mixing.run({{round, 0}, 1, 0, locals, outgoing, own, nothing, models, {}, 1e100});
        return models(0, 0);
    };
    EXPECT_NEAR(run(0, 3, 6, 9, 0, 0), 6, 1e-14);
    // Agent 2 is late in round 1, and its weight goes to the own message.
    EXPECT_NEAR(run(1, 3, 6, std::nullopt, 0b1, 0), 4, 1e-14);
    // In round 2, agent 1 says that it did not use round 1's message, of which (6 - 3) / 3 was
    // taken; agent 2 says that it used round 0's, bit 1.
    EXPECT_NEAR(run(2, 3, 6, 9, 0b10, 0b10), 6 - 1, 1e-14);
    // Agent 2 says nothing in round 3, and in round 4 that it did not use round 2's.
    EXPECT_NEAR(run(3, 3, 3, std::nullopt, 0b111, 0), 3, 1e-14);
    EXPECT_NEAR(run(4, 3, 3, 3, 0b1111, 0b1001), 3 - 2, 1e-14);
    // Everything is settled once.
    EXPECT_NEAR(run(5, 3, 3, 3, 0b11111, 0b10011), 3, 1e-14);
}

template <class Call>
std::string refusal_of(Call&& call) {
    try {
        call();
    } catch (const NetworkError& error) {
        return error.what();
    }
    return {};
}

TEST(ReceivedMessage, IsRefusedNamingSenderAndPlaceUnlessAllOfItIsInRange) {
    const ReceivedFrom from{3, 7, {12, 1}};
    EXPECT_NO_THROW(
        require_message_in_range(from, 0, std::vector<double>{1e100, -1e100, 0}, 1e100));
    for (const double bad : {not_a_number, infinity, -infinity, 1.0000001e100, -1e101})
        EXPECT_TRUE(
            refusal_of([&] {
                require_message_in_range(from, 40, std::vector<double>{1, bad, bad}, 1e100);
            })
                .starts_with("message from agent 3 to agent 7, round 12, step 1: coordinate "
                             "41 is "));
}

TEST(ReceivedSum, IsRefusedNamingTheNeighboursWhereNoHonestOnesReach) {
    const std::vector<int> neighbours{2, 5};
    constexpr std::uint64_t range = std::uint64_t{1} << 62;
    const auto refusal = [&](std::uint64_t word) {
        return refusal_of([&] {
            require_sum_in_range(4, neighbours, {9, 0}, 8, std::vector<std::uint64_t>{0, word});
        });
    };
    EXPECT_EQ(refusal(range + 2), "");
    EXPECT_EQ(refusal(0 - range - 2), "");
    for (const std::uint64_t word :
         {range + 3, 0 - range - 3, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1})
        EXPECT_TRUE(
            refusal(word).starts_with("secure sum of agent 4, round 9, step 0: coordinate 9"));
    EXPECT_NE(refusal(range + 3).find("agents 2, 5"), std::string::npos);
}

TEST(CollectedValues, AreRefusedNamingTheAgent) {
    const CollectedCheck check = require_collected_in_range("model for evaluation", 10);
    EXPECT_NO_THROW(check(1, 0, std::vector<double>{10, -10}));
    EXPECT_TRUE(refusal_of([&] {
                    check(6, 100, std::vector<double>{0, not_a_number});
                }).starts_with("model for evaluation from agent 6: coordinate 101 is nan"));
}

TEST(StableShare, KeepsDelayedMixingStableAndNotMuchMoreDoes) {
    for (const int ring : {5, 8})
        for (const long lag : {0L, 1L, 2L, 4L, 16L}) {
            const Eigen::MatrixXd mixing = test::topography_of(Topology::ring, ring).mixing.dense();
            const Eigen::MatrixXd apart = Eigen::MatrixXd::Identity(ring, ring) - mixing;
            const auto spread = [&](double share) {
                std::vector<Eigen::VectorXd> past(static_cast<std::size_t>(lag) + 1,
                                                  Eigen::VectorXd::Unit(ring, 0));
                for (int t = 0; t < 4000; ++t) {
                    const Eigen::VectorXd next = past.back() - share * apart * past.front();
                    past.erase(past.begin());
                    past.push_back(next);
                }
                return (past.back().array() - 1.0 / ring).matrix().norm();
            };
            const double share = stable_share(lag, 2 / 3.0);
            EXPECT_LT(spread(share), 1e-3) << ring << ", " << lag;
            if (lag == 0) {
                EXPECT_EQ(share, 1);
            } else {
                EXPECT_GT(spread(1.5 * share), 1) << ring << ", " << lag;
            }
        }
}

}  // namespace
}  // namespace sotto
