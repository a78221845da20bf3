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

}  // namespace
}  // namespace sotto
