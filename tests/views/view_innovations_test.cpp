#include "sotto/views/view_innovations.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/seen_run.hpp"

namespace sotto {
namespace {

using namespace test;

/// What a contribution looks like is what the filter makes of a run in which it is all there is.
TEST(ViewInnovations, OfARunWithoutNoiseAreTheResponsesToItsContributions) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan same = decor_plan(graph), own = zero_sum_plan(graph, metropolis(graph), true);
    constexpr long rounds = 4;
    for (const NoisePlan* plan : {&same, &own})
        for (const GossipPolynomial& gossip :
             {GossipPolynomial(1), GossipPolynomial(2), chebyshev(graph, 3)})
            for (const View& view : sample_views(6)) {
                if (plan == &own && !gossip.plain()) continue;
                const int gossip_steps = gossip.steps();
                auto process = process_of(graph, *plan, phases_of(graph, {{rounds}}), gossip);
                if (plan == &same && view.kind == View::Kind::all_messages) process.momentum = 0.7;
                process.step_sizes = falling_steps(rounds);
                const Eigen::VectorXd initial = Eigen::VectorXd::Constant(1, 2);
                ViewInnovations innovations(process, view, initial);
                const std::vector<int> agents = innovations.unknown_agents();
                Eigen::MatrixXd contributions(rounds, std::ssize(agents));
                for (Eigen::Index i = 0; i < contributions.size(); ++i)
                    contributions.data()[i] = 0.3 * static_cast<double>(i % 7) - 1;
                const auto responses = innovations.responses(agents, contributions);
                SeenRun run(process, view, initial);
                Eigen::Index row = 0;
                ASSERT_EQ(innovations.gossip_steps_total(), rounds * gossip_steps);
                for (long time = 0; time < rounds * gossip_steps; ++time) {
                    std::map<int, double> gradients;
                    if (time % gossip_steps == 0)
                        for (std::size_t j = 0; j < agents.size(); ++j)
                            gradients[agents[j]] =
                                contributions(time / gossip_steps, static_cast<Eigen::Index>(j));
                    const auto innovation = innovations.next(run.next(gradients));
                    const Eigen::VectorXd expected =
                        responses.whitened.middleRows(row, innovation.whitened.rows())
                            .rowwise()
                            .sum();
                    EXPECT_LE((innovation.whitened - expected).norm(),
                              1e-9 * std::max(1.0, expected.norm()));
                    row += innovation.whitened.rows();
                }
                EXPECT_EQ(row, responses.whitened.rows());
            }
}

TEST(ViewInnovations, HaveTheGramMatrixOfTheView) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = with_factor(decor_plan(graph), difference_factor(5));
    const View view{View::Kind::neighbours, {0}};
    for (const GossipPolynomial& gossip : {GossipPolynomial(1), chebyshev(graph, 3)}) {
        auto process = process_of(graph, plan, phases_of(graph, {{5}}), gossip);
        process.step_sizes = falling_steps(5);
        const ViewInnovations innovations(process, view, Eigen::VectorXd::Zero(1));
        for (const int agent : innovations.unknown_agents()) {
            const std::vector<int> each(5, agent);  // one column a round
            const auto responses = innovations.responses(each, Eigen::MatrixXd::Identity(5, 5));
            const Eigen::MatrixXd gram = responses.whitened.transpose() * responses.whitened;
            EXPECT_LE(responses.noiseless.cwiseAbs().sum(), 1e-9);
            EXPECT_LE((gram - *view_gram(process, view, agent)).cwiseAbs().maxCoeff(), 1e-9);
        }
    }
}

TEST(ViewInnovations, ShowWhatNoNoiseCovers) {
    const Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = unit_plan(5);
    plan.rows[1].coefficients = {0.0};  // agent 1 sends its gradient bare
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 2)});
    process.step_sizes = {1, 1};
    const View view{View::Kind::neighbours, {0}};
    const ViewInnovations innovations(process, view, Eigen::VectorXd::Zero(1));
    const Eigen::MatrixXd once = Eigen::Vector2d(1, 0);
    EXPECT_NEAR(innovations.responses(std::vector<int>{1}, once).noiseless.norm(), 1, 1e-9);
    EXPECT_NEAR(innovations.responses(std::vector<int>{4}, once).noiseless.norm(), 0, 1e-9);
}

TEST(ViewInnovations, EndWithTheRun) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5);
    auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 1)});
    process.step_sizes = {1};
    const View view{View::Kind::neighbours, {0}};
    const Eigen::VectorXd initial = Eigen::VectorXd::Zero(1);
    ViewInnovations innovations(process, view, initial);
    SeenRun run(process, view, initial);
    const SeenStep step = run.next({});
    (void)innovations.next(step);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)innovations.next(step); }),
                         "it covers 1 rounds"));
}

TEST(ViewInnovations, RefuseWhatTheyAreNotMadeFor) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5), own = unit_plan(5);
    const View eavesdropping{View::Kind::all_messages, {}};
    const auto message = [&](const MessageProcess& process) {
        return message_of<ConfigError>(
            [&] { const ViewInnovations innovations(process, eavesdropping, Eigen::VectorXd(1)); });
    };
    for (const auto& shapes :
         std::vector<std::vector<PhaseShape>>{{{3, 0, {}, &own}}, {{2}, {1, 1}}, {{3, 0, {1}}}}) {
        MessageProcess process = process_of(graph, plan, phases_of(graph, shapes));
        process.step_sizes = {1, 1, 1};
        EXPECT_TRUE(contains(message(process), "one phase of the process's plan"));
    }
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{3}}));
    EXPECT_TRUE(contains(message(process), "0 step sizes for 3 rounds"));
    process.step_sizes = {1, 1, 1};
    process.momentum = 0.5;
    require_testable(process, eavesdropping);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] {
                             require_testable(process, {View::Kind::neighbours, {0}});
                         }),
                         "momentum: 0.5 is not possible in a test of a view that does not show"));
    process.momentum = 0;
    NoisePlan mean = blank_plan(5);
    add_stream(mean, {0}, {1.0});
    mean.aggregation = Aggregation::trusted_mean;
    process.plan = &mean;
    process.step_sizes = {1, 1, 1};
    EXPECT_TRUE(contains(message(process), "trusted mean"));
}

}  // namespace
}  // namespace sotto
