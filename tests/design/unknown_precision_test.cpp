#include "design/unknown_precision.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "design/coalition_fixtures.hpp"
#include "design/group_layout_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(UnknownPrecision, IsTheInverseOfWhatTheCoalitionDoesNotKnow) {
    const Graph ring = make_graph(Topology::ring, 12);
    const Graph graph = make_graph(Topology::erdos_renyi, 12, 4);
    for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free})
        for (const auto& groups : {edge_groups(ring), all_pairs(12), edge_groups(graph)}) {
            const GroupLayout layout(
                12,
                shape == GroupNoise::free && groups.size() < 20 ? neighbourhoods(ring) : groups,
                shape,
                false);
            const VectorXd values = any_values(layout);
            const MatrixXd covariance = layout.covariance(values);
            const MatrixXd precision = covariance.inverse();
            for (const Coalition& coalition :
                 {Coalition{}, Coalition{3}, Coalition{0, 1}, Coalition{2, 7, 11}}) {
                SCOPED_TRACE(fmt::format("free {}, {} groups, coalition of {}",
                                         shape == GroupNoise::free,
                                         layout.groups().size(),
                                         coalition.size()));
                const UnknownPrecision unknown(layout, values, covariance, precision, coalition);
                ASSERT_TRUE(unknown.positive());
                const std::vector<int> outside = agents_outside(coalition, 12);
                const MatrixXd known = covariance_unknown_to(coalition,
                                                             private_variance_of(layout, values),
                                                             layout_blocks(layout, values),
                                                             layout.groups());
                MatrixXd expected = MatrixXd::Zero(12, 12);
                const MatrixXd inside = known(outside, outside), inverse = inside.inverse();
                expected(outside, outside) = inverse;
                EXPECT_LT((unknown.diagonal() - expected.diagonal()).norm(), 1e-10);
                EXPECT_LT((unknown.columns(outside) - expected(Eigen::all, outside)).norm(), 1e-10);
            }
        }
}

}  // namespace
}  // namespace sotto
