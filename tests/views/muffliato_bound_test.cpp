#include "sotto/views/muffliato_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/test_support.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(MuffliatoBound, IsItsDefinitionAndNeverBelowTheExactFigure) {
    const Graph graph = make_graph(Topology::erdos_renyi, 9, 6);
    const MixingMatrix mixing = metropolis(graph);
    const NoisePlan plan = unit_plan(9);
    const long rounds = 6;
    const auto exact = view_sensitivity(process_of(graph, plan, {fixed_phase(mixing, rounds)}),
                                        {View::Kind::neighbours, {2}},
                                        everybody(9),
                                        {},
                                        {});
    const Eigen::VectorXd bound = muffliato_bound(graph, mixing, 2, rounds);
    for (int u = 0; u < 9; ++u) {
        double sum = 0;
        for (long s = 1; s <= rounds; ++s) {
            Eigen::MatrixXd power = Eigen::MatrixXd::Identity(9, 9);
            for (long k = 0; k <= rounds - s; ++k) {
                for (const int w : graph.neighbours(2))
                    sum += power(w, u) * power(w, u) / power.row(w).squaredNorm();
                power = power * mixing.dense();
            }
        }
        EXPECT_TRUE(relatively_near(bound(u), std::min(sum, 6.0), 1e-12));
        if (u != 2) {
            EXPECT_GE(bound(u) * (1 + 1e-9), exact[static_cast<std::size_t>(u)].certified());
        }
    }
}

}  // namespace
}  // namespace sotto
