#include "sotto/views/process_steps.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/matrix_sensitivity.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

/// What node 0 receives in a training with regularisation, x <- W ((1 - eta l2) x - eta (g + v)),
/// as O = A G + B Z played with unit inputs; unit noise of every agent but 0, whose own is known.
std::pair<Eigen::MatrixXd, Eigen::MatrixXd> regularised_observations(const Graph& graph,
                                                                     const MixingMatrix& mixing,
                                                                     const StepSchedule& steps,
                                                                     double l2,
                                                                     long rounds) {
    const int n = graph.agents();
    const auto neighbours = graph.neighbours(0);
    const Eigen::MatrixXd w(mixing.sparse());
    const auto seen = static_cast<Eigen::Index>(neighbours.size());
    Eigen::MatrixXd a(rounds * seen, rounds * n);
    for (Eigen::Index input = 0; input < a.cols(); ++input) {
        Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
        for (long t = 0; t < rounds; ++t) {
            Eigen::VectorXd message = (1 - steps.at(t) * l2) * x;
            if (input / n == t) message(input % n) -= steps.at(t);
            for (Eigen::Index i = 0; i < seen; ++i)
                a(t * seen + i, input) = message(neighbours[static_cast<std::size_t>(i)]);
            x = w * message;
        }
    }
    Eigen::MatrixXd b = a;
    for (long t = 0; t < rounds; ++t) b.col(t * n).setZero();
    return {a, b};
}

TEST(ProcessSteps, AccountForRegularisation) {
    constexpr long rounds = 7;
    const StepSchedule falling{StepSchedule::Kind::inverse_sqrt, 0.8, {}};
    const StepSchedule averaging{StepSchedule::Kind::inverse, 1, {}};
    const StepSchedule constant{StepSchedule::Kind::constant, 0.3, {}};
    for (const std::uint64_t seed : {1u, 2u})
        for (const auto& [steps, l2] :
             {std::pair(falling, 0.5), {averaging, 1.0}, {constant, 0.4}}) {
            const Graph graph = make_graph(Topology::erdos_renyi, 7, seed);
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
            const NoisePlan plan = unit_plan(7);
            MessageProcess process = process_of(graph, plan, {fixed_phase(mixing, rounds)});
            process.step_sizes = process_steps(plan, steps, l2, rounds);
            const auto [a, b] = regularised_observations(graph, mixing, steps, l2, rounds);
            const std::vector<int> targets{1, 2, 3, 4, 5, 6};
            const auto filtered =
                view_sensitivity(process, {View::Kind::neighbours, {0}}, targets, {}, {});
            const auto played = matrix_sensitivity(a, b, 7, targets, {}, 1e-5);
            for (std::size_t i = 0; i < targets.size(); ++i) {
                EXPECT_NEAR(filtered[i].abs_sum, played[i].abs_sum, 1e-7 * played[i].abs_sum)
                    << name_of(steps) << ", seed " << seed;
                EXPECT_NEAR(
                    filtered[i].constant_sign, played[i].constant_sign, 1e-7 * played[i].abs_sum);
            }
        }
}

TEST(ProcessSteps, OfRunningAveragesAreEqual) {
    const StepSchedule averaging{StepSchedule::Kind::inverse, 1, {}};
    for (const long rounds : {1L, 10L, 100000L})
        EXPECT_TRUE(process_steps(unit_plan(3), averaging, 1, rounds).empty()) << rounds;
    EXPECT_EQ(process_steps(unit_plan(3), averaging, 0, 3), averaging.over(3));
}

TEST(ProcessSteps, RefuseRegularisationTheyCannotAccountFor) {
    const StepSchedule constant{StepSchedule::Kind::constant, 0.5, {}};
    EXPECT_NO_THROW((void)process_steps(unit_plan(3), constant, 1.9, 2));
    for (const auto& [l2, rounds] : {std::pair(2.0, 2L), {3.0, 2L}, {1.0, 30L}, {-1.0, 2L}})
        EXPECT_TRUE(contains(message_of<ConfigError>([&, l2 = l2, rounds = rounds] {
                                 (void)process_steps(unit_plan(3), constant, l2, rounds);
                             }),
                             "l2"))
            << l2;
    EXPECT_THROW((void)process_steps(unit_plan(3), constant, not_a_number, 2), ConfigError);
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan on_messages =
        zero_sum_plan(graph, MixingMatrix::from_rule(graph, MixingRule::metropolis), true);
    EXPECT_THROW((void)process_steps(on_messages, constant, 0.1, 2), ConfigError);
    EXPECT_EQ(process_steps(on_messages, constant, 0, 2), constant.over(2));
}

}  // namespace
}  // namespace sotto
