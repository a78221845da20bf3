#include "views/noise_sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(NoiseSources, HaveTheCovarianceOfWhatTheViewDoesNotKnow) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 3);
    const NoisePlan plan = random_plan(graph, 3);
    for (const std::vector<int>& members : {std::vector<int>{}, {2}, {0, 5}}) {
        const NoiseSources sources = noise_sources(plan, {View::Kind::neighbours, members});
        // R of the plan without the streams of groups that a member belongs to.
        Eigen::MatrixXd added = Eigen::MatrixXd::Zero(7, std::ssize(plan.streams));
        for (const NoiseRow& row : plan.rows)
            for (std::size_t j = 0; j < row.streams.size(); ++j) {
                const auto& holders =
                    plan.groups[static_cast<std::size_t>(
                                    plan.streams[static_cast<std::size_t>(row.streams[j])].group)]
                        .members;
                const bool known = std::ranges::any_of(holders, [&](int holder) {
                    return std::ranges::find(members, holder) != members.end();
                });
                if (!known) added(row.sender, row.streams[j]) = plan.scale * row.coefficients[j];
            }
        const Eigen::MatrixXd all = added * added.transpose();
        const std::vector<int>& outside = sources.index.agents;
        EXPECT_EQ(std::ssize(outside), 7 - std::ssize(members));
        EXPECT_TRUE(Eigen::MatrixXd(sources.covariance).isApprox(all(outside, outside), 1e-12));
        const Eigen::MatrixXd factor(sources.factor);
        EXPECT_TRUE((factor * factor.transpose()).isApprox(all(outside, outside), 1e-12));
    }
}

TEST(NoiseSources, AreStreamsWhereReceiversGetNoiseOfTheirOwn) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = zero_sum_plan(graph, metropolis(graph), true);
    const NoiseSources sources = noise_sources(plan, {View::Kind::neighbours, {1}});
    for (int stream = 0; stream < static_cast<int>(plan.streams.size()); ++stream) {
        const int holder = plan.groups[static_cast<std::size_t>(
                                           plan.streams[static_cast<std::size_t>(stream)].group)]
                               .members.front();
        EXPECT_EQ(sources.index.of(stream) < 0, holder == 1);
    }
    EXPECT_EQ(Eigen::MatrixXd(sources.covariance),
              Eigen::MatrixXd::Identity(sources.index.size(), sources.index.size()));
}

TEST(SameNoiseToAll, IsOfEverySender) {
    const Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = unit_plan(5);
    EXPECT_TRUE(same_noise_to_all(plan, 2));
    plan.rows[2].receiver = 1;
    EXPECT_FALSE(same_noise_to_all(plan, 2));
    EXPECT_TRUE(same_noise_to_all(plan, 3));
}

}  // namespace
}  // namespace sotto
