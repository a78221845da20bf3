#include "design/group_layout.hpp"

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

TEST(GroupLayout, IsTheSumOfItsPartsAndTheirCostsAreTheDerivativeOfTheTrace) {
    const Graph graph = make_graph(Topology::erdos_renyi, 9, 3);
    for (const bool common : {false, true})
        for (const GroupNoise shape : {GroupNoise::difference, GroupNoise::free}) {
            const GroupLayout layout(
                9,
                shape == GroupNoise::free ? neighbourhoods(graph) : edge_groups(graph),
                shape,
                common);
            const VectorXd values = any_values(layout);
            const MatrixXd covariance = covariance_unknown_to({},
                                                              private_variance_of(layout, values),
                                                              layout_blocks(layout, values),
                                                              layout.groups());
            EXPECT_LT((layout.covariance(values) - covariance).norm(), 1e-12);
            EXPECT_LT((layout.diagonal(values) - covariance.diagonal()).norm(), 1e-12);
            const MatrixXd utility = horizon_utility(graph, 10);
            EXPECT_NEAR(layout.along(utility).dot(values), cost(utility, covariance), 1e-9);
            const VectorXd price = VectorXd::LinSpaced(9, 1, 2);
            EXPECT_NEAR(
                layout.along_diagonal(price).dot(values), price.dot(covariance.diagonal()), 1e-9);
        }
}

}  // namespace
}  // namespace sotto
