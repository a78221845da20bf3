#include "sotto/views/matrix_sensitivity.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/dense_view.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(MatrixSensitivity, OfPlayedObservationsIsThatOfTheView) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6, 2);
    const NoisePlan plan = unit_plan(6);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 5)});
    const View view{View::Kind::neighbours, {0}};
    const PlayedRun run(process, view);
    const Eigen::Index values = run.input(0, 1).size();
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(values, 30), b = a;
    for (int t = 0; t < 5; ++t)
        for (int u = 1; u < 6; ++u) {
            a.col(t * 6 + u) = run.input(t, u);
            b.col(t * 6 + u) = run.noise(t, u);
        }
    const std::vector<int> targets{1, 2, 3, 4, 5};
    const auto expected = view_sensitivity(process, view, targets, {1}, {});
    const auto found = matrix_sensitivity(a, b, 6, targets, {1}, 1e-5);
    for (std::size_t i = 0; i < targets.size(); ++i)
        EXPECT_TRUE(relatively_near(found[i].abs_sum, expected[i].abs_sum, 1e-9));
    // Without agent 1's noise its input is bare in what it sends, if the observer hears it.
    for (int t = 0; t < 5; ++t) b.col(t * 6 + graph.neighbours(0)[0]).setZero();
    const std::vector<int> bare{graph.neighbours(0)[0]};
    EXPECT_TRUE(matrix_sensitivity(a, b, 6, bare, {1}, 1e-5).front().infinite);
}

TEST(MatrixSensitivity, RefusesWhatDoesNotFit) {
    const Eigen::MatrixXd a = Eigen::MatrixXd::Ones(2, 6), b = Eigen::MatrixXd::Identity(2, 2);
    const std::vector<int> targets{0};
    const auto call = [&](const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, int agents) {
        (void)matrix_sensitivity(x, y, agents, targets, {1}, 1e-5);
    };
    EXPECT_NE(
        message_of<ConfigError>([&] { call(a, Eigen::MatrixXd::Ones(3, 3), 3); }).find("rows"),
        std::string::npos);
    EXPECT_NE(message_of<ConfigError>([&] { call(a, b, 4); }).find("6 columns"), std::string::npos);
    EXPECT_NE(message_of<DataError>([&] { call(a * not_a_number, b, 3); }).find("finite"),
              std::string::npos);
}

}  // namespace
}  // namespace sotto
