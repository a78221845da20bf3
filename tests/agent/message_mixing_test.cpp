#include "agent/message_mixing.hpp"

#include <gtest/gtest.h>

#include "agent/agent_fixtures.hpp"
#include "sotto/learn/quadratic.hpp"

namespace sotto {
namespace {

constexpr int agents = 6;

std::vector<LocalAgent> some_agents() {
    std::vector<LocalAgent> result;
    for (int u = 0; u < agents; ++u)
        result.push_back(test::local_agent(u, make_quadratic_objective(u, agents), 1));
    return result;
}

TEST(MessageMixing, CombinesWhatIsHeardWithWhatWasSentBefore) {
    const Topography topography = test::topography_of(Topology::path, agents);
    const auto network = make_memory_network(agents, 1);
    network->connect(topography.graph);
    MessageMixing mixing(*network, MixingSchedule({topography.mixing}));
    const std::vector<LocalAgent> locals = some_agents();
    const Eigen::MatrixXd messages = Eigen::MatrixXd::Random(5, agents);
    const Eigen::MatrixXd earlier = Eigen::MatrixXd::Random(5, agents);
    Eigen::MatrixXd models = Eigen::MatrixXd::Zero(5, agents);
    std::vector<Outgoing> outgoing(agents);
    for (int u = 0; u < agents; ++u)
        outgoing[static_cast<std::size_t>(u)].to_all = messages.col(u).data();
    const Eigen::MatrixXd mixed = messages * topography.mixing.dense().transpose();
    mixing.run({{0, 0}, 1, 0, locals, outgoing, messages, earlier, models, {}, 1e100});
    EXPECT_LT((models - mixed).norm(), 1e-14);
    mixing.run({{0, 1}, 1.5, 0.5, locals, outgoing, messages, earlier, models, {}, 1e100});
    EXPECT_LT((models - (1.5 * mixed - 0.5 * earlier)).norm(), 1e-14);
    EXPECT_FALSE(mixing.secure_sums());
}

}  // namespace
}  // namespace sotto
