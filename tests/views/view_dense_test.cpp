// The structured computation against matrices with a row for every observed value.

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

constexpr long rounds = 6;

std::size_t everybody_with_everybody(const Graph& graph) {
    return static_cast<std::size_t>(graph.agents() * (graph.agents() - 1) / 2);
}

Phase changing_phase(const Graph& graph, long length) {
    return {length,
            MixingSchedule({MixingMatrix::from_rule(graph, MixingRule::metropolis),
                            MixingMatrix::from_rule(graph, MixingRule::row_stochastic),
                            MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis)}),
            {}};
}

TEST(ViewGram, OfPrivateNoiseIsTheDensePseudoInverse) {
    for (const Graph& graph : sample_graphs({4, 7})) {
        const NoisePlan plan = unit_plan(graph.agents());
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        for (const int gossip_steps : {1, 3})
            for (const View& view : sample_views(graph.agents()))
                compare(process_of(graph, plan, {fixed_phase(mixing, rounds)}, gossip_steps), view);
    }
}

TEST(ViewGram, OfSharedNoiseIsTheDensePseudoInverse) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Graph graph = make_graph(Topology::erdos_renyi, 7, seed);
        const NoisePlan plan = random_plan(graph, seed);
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::row_stochastic);
        for (const int gossip_steps : {1, 3})
            for (const View& view : sample_views(graph.agents()))
                compare(process_of(graph, plan, {fixed_phase(mixing, rounds)}, gossip_steps), view);
        compare_all(process_of(graph, decor_plan(graph), {fixed_phase(mixing, rounds)}));
    }
}

TEST(ViewGram, OfChangingStepsAndMatricesIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 5);
    for (const int gossip_steps : {1, 3}) {
        const NoisePlan plan = decor_plan(graph);
        MessageProcess process =
            process_of(graph, plan, {changing_phase(graph, rounds)}, gossip_steps);
        compare_all(process);
        process.step_sizes = falling_steps(rounds);
        compare_all(process);
        NoisePlan in_message = plan;
        in_message.entry = NoiseEntry::message;
        process.plan = &in_message;
        compare_all(process);
    }
}

TEST(ViewGram, OfCorrelatedRoundsIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 6);
    NoisePlan plan = decor_plan(graph);
    for (const TemporalFactor& factor : {difference_factor(rounds),
                                         random_factor(TemporalFactor::Kind::banded, 0, rounds),
                                         random_factor(TemporalFactor::Kind::banded, 1, rounds),
                                         random_factor(TemporalFactor::Kind::banded, 2, rounds),
                                         random_factor(TemporalFactor::Kind::dense, 0, rounds)}) {
        plan.temporal = factor;
        plan.validate();
        for (const int gossip_steps : {1, 3}) {
            MessageProcess process =
                process_of(graph, plan, {changing_phase(graph, rounds)}, gossip_steps);
            compare_all(process);
            process.step_sizes = falling_steps(rounds);
            compare_all(process);
        }
    }
}

TEST(ViewGram, OfPhasesIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 9);
    for (const auto& departed : std::vector<std::vector<std::vector<int>>>{
             {{}, {3}}, {{}, {3, 4}, {3}}, {{2}, {}}, {{}, {0}}, {{}, {7}, {}}}) {
        std::vector<Phase> phases;
        for (const auto& gone : departed)
            phases.push_back(fixed_phase(mixing_without(graph, gone), 3, gone));
        for (const NoisePlan& base : {unit_plan(8), decor_plan(graph)})
            for (const int gossip_steps : {1, 2}) {
                MessageProcess process = process_of(graph, base, phases, gossip_steps);
                compare_all(process);
                NoisePlan lagged = base;
                lagged.temporal = difference_factor(process.rounds());
                process.plan = &lagged;
                compare_all(process);
            }
    }
}

TEST(ViewGram, OfReceiverDependentNoiseIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 4);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    for (const bool with_sender : {true, false}) {
        const NoisePlan plan = zero_sum_plan(graph, mixing, with_sender);
        for (const int gossip_steps : {1, 2}) {
            MessageProcess process =
                process_of(graph, plan, {fixed_phase(mixing, rounds)}, gossip_steps);
            for (const View& view : sample_views(7)) compare(process, view);
            process.step_sizes = falling_steps(rounds);
            for (const View& view : sample_views(7)) compare(process, view);
        }
        NoisePlan lagged = plan;
        lagged.entry = NoiseEntry::gradient;
        lagged.temporal = difference_factor(rounds);
        const MessageProcess process = process_of(graph, lagged, {fixed_phase(mixing, rounds)});
        for (const View& view : sample_views(7)) compare(process, view);
        const MessageProcess phases = process_of(
            graph, plan, {fixed_phase(mixing, 3), fixed_phase(mixing_without(graph, {2}), 3, {2})});
        for (const View& view : sample_views(7)) compare(phases, view);
    }
}

TEST(ViewGram, OfAMeanIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = blank_plan(5, 0.4);
    add_stream(plan, {0}, {1.0});
    plan.aggregation = Aggregation::trusted_mean;
    const MixingMatrix mixing = MixingMatrix::average(5);
    for (const TemporalFactor& factor : {TemporalFactor{}, difference_factor(rounds)}) {
        plan.temporal = factor;
        const MessageProcess process = process_of(graph, plan, {fixed_phase(mixing, rounds)});
        EXPECT_EQ(compare(process, {View::Kind::all_messages, {}}), 5);
        EXPECT_EQ(compare(process, {View::Kind::neighbours, {1, 3}}), 3);
        EXPECT_EQ(compare(process, {View::Kind::secure_sum, {2}}), 4);
        EXPECT_EQ(compare(process, {View::Kind::neighbours, {0}}), 0);  // holds the mean's noise
    }
}

TEST(ViewGram, OfChebyshevGossipIsTheDensePseudoInverse) {
    for (const Graph& graph : sample_graphs({4, 7})) {
        const NoisePlan plan = unit_plan(graph.agents()), shared = decor_plan(graph);
        for (const int steps : {2, 3, 4}) {
            const GossipPolynomial gossip = chebyshev(graph, steps);
            // Its second eigenvalue is 0 on a complete graph.
            EXPECT_EQ(gossip.plain(), graph.edges().size() == everybody_with_everybody(graph));
            SCOPED_TRACE(std::to_string(graph.agents()) + " agents, " +
                         std::to_string(graph.edges().size()) + " edges, " + std::to_string(steps) +
                         " steps");
            for (const NoisePlan* noise : {&plan, &shared}) {
                SCOPED_TRACE(noise == &plan ? "private" : "shared");
                const auto process =
                    process_of(graph, *noise, {fixed_phase(metropolis(graph), 4)}, gossip);
                for (const View& view : sample_views(graph.agents())) compare(process, view);
            }
        }
    }
}

TEST(ViewGram, OfChebyshevGossipUnderChangingMatricesIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 5);
    for (const int steps : {2, 4}) {
        NoisePlan plan = decor_plan(graph);
        for (const TemporalFactor& factor :
             {TemporalFactor{},
              difference_factor(rounds),
              random_factor(TemporalFactor::Kind::banded, 2, rounds),
              random_factor(TemporalFactor::Kind::dense, 0, rounds)}) {
            plan.temporal = factor;
            plan.validate();
            MessageProcess process =
                process_of(graph, plan, {changing_phase(graph, rounds)}, chebyshev(graph, steps));
            compare_all(process);
            process.step_sizes = falling_steps(rounds);
            compare_all(process);
        }
        plan.temporal = {};
        plan.entry = NoiseEntry::message;
        MessageProcess process =
            process_of(graph, plan, {changing_phase(graph, rounds)}, chebyshev(graph, steps));
        process.step_sizes = falling_steps(rounds);
        compare_all(process);
    }
}

/// Phases of other agents have another second eigenvalue.
TEST(ViewGram, OfChebyshevGossipInPhasesIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 9);
    const NoisePlan base = decor_plan(graph), quiet = plan_without(graph, {}, 0.5);
    for (const auto& shapes :
         std::vector<std::vector<PhaseShape>>{{{3}, {3, 0, {3}}},
                                              {{3}, {2, 0, {3, 4}}, {3, 0, {3}}},
                                              {{3, 0, {2}}, {3}},
                                              {{3}, {2, 0, {0}}, {2}},
                                              {{4}, {3, 2}, {2, 3, {}, &quiet}},
                                              {{4}, {3, 2, {3}}, {2, 4}}})
        for (const int steps : {2, 3}) {
            MessageProcess process =
                process_of(graph, base, phases_of(graph, shapes), chebyshev(graph, steps));
            compare_all(process);
            for (Phase& phase : process.phases)
                if (!phase.departed.empty())
                    phase.gossip = GossipPolynomial::chebyshev(
                        steps, 0.8 + 0.01 * static_cast<double>(phase.departed.size()));
            compare_all(process);
            process.phases.back().gossip = steps;
            compare_all(process);
        }
}

/// All messages show nothing new, and momentum and final gossip less of others than they do.
TEST(ViewGram, OfAllMessagesIsTheSameWithMomentumAndFinalGossip) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 6);
    NoisePlan plan = decor_plan(graph);
    for (const TemporalFactor& factor : {TemporalFactor{}, difference_factor(4)}) {
        plan.temporal = factor;
        MessageProcess process =
            process_of(graph, plan, {fixed_phase(metropolis(graph), 4)}, chebyshev(graph, 3));
        process.step_sizes = falling_steps(4);
        process.momentum = 0.9;
        process.final_gossip = 2;
        for (const std::vector<int>& members : {std::vector<int>{}, {1}})
            EXPECT_GT(compare(process, {View::Kind::all_messages, members}), 0);
    }
}

/// Long enough for the filter to converge: the part that only depends on lags is used.
TEST(ViewGram, OfManyRoundsIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::complete, 4);
    const NoisePlan plan = decor_plan(graph);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis);
    for (const int gossip_steps : {1, 2})
        for (const View& view :
             {View{View::Kind::secure_sum, {0}}, View{View::Kind::neighbours, {0}}})
            compare(process_of(graph, plan, {fixed_phase(mixing, 60)}, gossip_steps), view);
    for (const View& view : {View{View::Kind::secure_sum, {0}}, View{View::Kind::neighbours, {0}}})
        compare(
            process_of(graph, plan, {fixed_phase(mixing, 60)}, GossipPolynomial::chebyshev(2, 0.6)),
            view);
    const Graph path = make_graph(Topology::path, 4);
    const NoisePlan private_noise = unit_plan(4);
    const MixingMatrix of_path = MixingMatrix::from_rule(path, MixingRule::metropolis);
    compare(process_of(path, private_noise, {fixed_phase(of_path, 90)}),
            {View::Kind::neighbours, {0}});
    // The last phase settles after an earlier one.
    compare(process_of(path,
                       private_noise,
                       {fixed_phase(of_path, 5), fixed_phase(mixing_without(path, {3}), 80, {3})}),
            {View::Kind::secure_sum, {0}});
}

TEST(ViewGram, OfDirectedGraphsIsTheDensePseudoInverse) {
    TopologySpec spec;
    spec.topology = Topology::erdos_renyi;
    spec.agents = 6;
    spec.edge_probability = 0.4;
    spec.graph_seed = 2;
    spec.directed = true;
    const Graph graph = make_topology(spec).graph;
    for (const MixingRule rule : {MixingRule::row_stochastic, MixingRule::push_sum}) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
        for (const NoisePlan& plan : {unit_plan(6), decor_plan(graph)})
            for (const int gossip_steps : {1, 2})
                compare_all(process_of(graph, plan, {fixed_phase(mixing, rounds)}, gossip_steps));
    }
}

}  // namespace
}  // namespace sotto
