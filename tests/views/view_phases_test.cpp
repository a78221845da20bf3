// Phases with noise of their own and repeated rounds, against matrices with a row for every
// observed value.

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

/// One and several gossip steps, equal and falling step sizes.
void compare_ways(const Graph& graph, const NoisePlan& plan, const std::vector<Phase>& phases) {
    for (const int gossip_steps : {1, 2}) {
        MessageProcess process = process_of(graph, plan, phases, gossip_steps);
        compare_all(process);
        process.step_sizes = falling_steps(process.rounds());
        compare_all(process);
    }
}

// ---- Noise of a phase's own.

TEST(OwnNoise, OfPhasesIsTheDensePseudoInverse) {
    for (const Graph& graph : small_graphs()) {
        const std::vector<int> gone{leavers(graph).front()};
        const NoisePlan first = decor_plan(graph), second = random_plan(graph, 3),
                        third = plan_without(graph, gone, 2);
        compare_ways(graph, first, phases_of(graph, {{3, 0, {}, &first}, {3, 0, {}, &second}}));
        compare_ways(graph, first, phases_of(graph, {{3, 0, {}, nullptr}, {3, 0, gone, &third}}));
        compare_ways(
            graph,
            first,
            phases_of(graph, {{2, 0, {}, &second}, {2, 0, gone, &third}, {2, 0, {}, &second}}));
    }
}

TEST(OwnNoise, BeginsItsTemporalFactorAnew) {
    const auto banded = [](int band, long rounds) {
        return random_factor(TemporalFactor::Kind::banded, band, rounds);
    };
    for (const Graph& graph : small_graphs()) {
        const std::vector<int> gone{leavers(graph).back()};
        const NoisePlan independent = decor_plan(graph),
                        difference = with_factor(independent, difference_factor(6)),
                        two_lags = with_factor(random_plan(graph, 2), banded(2, 4)),
                        one_lag = with_factor(plan_without(graph, gone, 0.7), banded(1, 3)),
                        diagonal = with_factor(independent, banded(0, 3)),
                        dense = with_factor(independent,
                                            random_factor(TemporalFactor::Kind::dense, 0, 4));
        compare_ways(
            graph, difference, phases_of(graph, {{4, 0, {}, &two_lags}, {3, 0, gone, &one_lag}}));
        compare_ways(
            graph, difference, phases_of(graph, {{3, 0, {}, nullptr}, {3, 0, {}, &difference}}));
        compare_ways(graph,
                     difference,
                     phases_of(graph,
                               {{2, 0, {}, nullptr},
                                {2, 0, gone, nullptr},
                                {2, 0, gone, &one_lag},
                                {2, 0, {}, nullptr}}));
        compare_ways(
            graph,
            independent,
            phases_of(graph, {{3, 0, {}, &diagonal}, {3, 0, {}, &two_lags}, {2, 0, {}, nullptr}}));
        compare_ways(
            graph, independent, phases_of(graph, {{4, 0, {}, &dense}, {3, 0, gone, &one_lag}}));
        // Where the process's noise runs on, a phase's own noise is another.
        MessageProcess runs_on =
            process_of(graph, difference, phases_of(graph, {{3, 0, {}, nullptr}, {3}}));
        MessageProcess begins_anew = process_of(
            graph, difference, phases_of(graph, {{3, 0, {}, nullptr}, {3, 0, {}, &difference}}));
        const View view{View::Kind::all_messages, {}};
        EXPECT_GT((*view_gram(runs_on, view, 1))(0, 5), 0.1);
        EXPECT_EQ((*view_gram(begins_anew, view, 1))(0, 5), 0);
    }
}

TEST(OwnNoise, EqualToTheProcessesChangesNothingInIndependentRounds) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = random_plan(graph, 1);
    for (const View& view : sample_views(6)) {
        const auto one = process_of(graph, plan, phases_of(graph, {{3}, {3, 0, {1}}}));
        const auto own =
            process_of(graph, plan, phases_of(graph, {{3, 0, {}, &plan}, {3, 0, {1}, &plan}}));
        for (int target = 0; target < 6; ++target) {
            const auto expected = view_gram(one, view, target),
                       found = view_gram(own, view, target);
            ASSERT_EQ(expected.has_value(), found.has_value());
            if (expected) {
                EXPECT_TRUE(found->isApprox(*expected, 1e-12));
            }
        }
    }
}

TEST(OwnNoise, OfReceiversIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 4);
    const MixingMatrix mixing = mixing_without(graph, {});
    const NoisePlan first = zero_sum_plan(graph, mixing, true);
    NoisePlan louder = first;
    louder.scale *= 2;
    for (const View& view : sample_views(7))
        for (const int gossip_steps : {1, 2}) {
            compare(process_of(graph,
                               first,
                               phases_of(graph, {{3, 0, {}, &louder}, {3, 0, {2}, nullptr}}),
                               gossip_steps),
                    view);
            MessageProcess again = process_of(
                graph,
                first,
                phases_of(graph, {{3}, {2, 2, {2}, &louder}, {2, 1, {}, &first}, {2, 4}}),
                gossip_steps);
            compare(again, view);
            again.step_sizes = falling_steps(again.rounds());
            compare(again, view);
        }
}

TEST(OwnNoise, OfAMeanIsTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::ring, 5);
    NoisePlan plan = blank_plan(5, 0.4);
    add_stream(plan, {0}, {1.0});
    plan.aggregation = Aggregation::trusted_mean;
    NoisePlan louder = with_factor(plan, difference_factor(3));
    louder.scale = 1;
    const auto process =
        process_of(graph, plan, phases_of(graph, {{4}, {3, 2, {}, &louder}, {2, 1}}));
    EXPECT_EQ(compare(process, {View::Kind::all_messages, {}}), 5);
    EXPECT_EQ(compare(process, {View::Kind::neighbours, {1, 3}}), 3);
    EXPECT_EQ(compare(process, {View::Kind::neighbours, {0}}), 0);  // holds the mean's noise
}

// ---- Rounds done again.

std::vector<std::vector<PhaseShape>> repetitions(const Graph& graph, const NoisePlan* plan) {
    const std::vector<int> one{leavers(graph).front()}, other{leavers(graph).back()};
    return {{{4}, {3, 2, {}, plan}},
            {{3}, {3, 3, {}, plan}},                            // from the beginning
            {{4}, {1, 2, {}, plan}, {3, 1, {}, plan}},          // twice from the same models
            {{4}, {2, 1, {}, plan}, {3, 4, {}, plan}},          // and once from earlier ones
            {{4}, {2, 2, {}, plan}, {3, 1, {}, plan}, {2, 3}},  // every phase
            {{2}, {2, 0, one, plan}, {3, 3, one, plan}},        // from before a departure
            {{3, 0, one, nullptr}, {2, 1, {}, plan}, {2, 2, other, plan}}};
}

TEST(RepeatedRounds, AreTheDensePseudoInverse) {
    for (const Graph& graph : small_graphs()) {
        const NoisePlan first = decor_plan(graph), second = random_plan(graph, 5);
        for (const NoisePlan* plan : {static_cast<const NoisePlan*>(nullptr), &second})
            for (const auto& shapes : repetitions(graph, plan))
                compare_ways(graph, first, phases_of(graph, shapes));
    }
}

TEST(RepeatedRounds, OfCorrelatedNoiseAreTheDensePseudoInverse) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan first = with_factor(decor_plan(graph), difference_factor(11)),
                    second = with_factor(random_plan(graph, 5),
                                         random_factor(TemporalFactor::Kind::banded, 1, 3)),
                    third = with_factor(random_plan(graph, 6),
                                        random_factor(TemporalFactor::Kind::dense, 0, 3));
    for (const NoisePlan* plan : {static_cast<const NoisePlan*>(nullptr), &second, &third})
        for (const auto& shapes : repetitions(graph, plan))
            compare_ways(graph, first, phases_of(graph, shapes));
}

TEST(RepeatedRounds, UnderChangingMatricesAreTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 4);
    const NoisePlan plan = decor_plan(graph);
    const MixingSchedule schedule({MixingMatrix::from_rule(graph, MixingRule::metropolis),
                                   MixingMatrix::from_rule(graph, MixingRule::row_stochastic),
                                   MixingMatrix::from_rule(graph, MixingRule::lazy_metropolis)});
    for (const int gossip_steps : {1, 3})
        compare_all(process_of(graph,
                               plan,
                               {{4, schedule, {}, nullptr, 0}, {5, schedule, {}, &plan, 2}},
                               gossip_steps));
}

/// Long enough for the filter to converge after the last repetition.
TEST(RepeatedRounds, BeforeManyRoundsAreTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::complete, 4);
    const NoisePlan plan = decor_plan(graph), quiet = plan_without(graph, {}, 0.5);
    const auto process =
        process_of(graph, plan, phases_of(graph, {{30}, {20, 25}, {60, 3, {}, &quiet}}));
    for (const View& view : {View{View::Kind::secure_sum, {0}}, View{View::Kind::neighbours, {0}}})
        compare(process, view);
    const Graph path = make_graph(Topology::path, 4);
    const NoisePlan private_noise = unit_plan(4);
    const auto of_path =
        process_of(path, private_noise, phases_of(path, {{20}, {80, 5, {}, &private_noise}}));
    EXPECT_EQ(compare(of_path, {View::Kind::neighbours, {0}}), 3);
    EXPECT_EQ(compare(of_path, {View::Kind::secure_sum, {0}}), 3);
}

// ---- Sensitivities.

/// Largest sums of a Gram matrix over the rounds of one pattern.
struct PatternSums {
    double plain = 0, absolute = 0;
};
PatternSums pattern_sums(const Eigen::MatrixXd& gram,
                         const std::vector<long>& training,
                         long cycle) {
    PatternSums largest;
    for (long first = 0; first < cycle; ++first) {
        PatternSums sums;
        for (Eigen::Index s = 0; s < gram.rows(); ++s)
            for (Eigen::Index t = 0; t < gram.rows(); ++t) {
                if (training[static_cast<std::size_t>(s)] % cycle != first ||
                    training[static_cast<std::size_t>(t)] % cycle != first)
                    continue;
                sums.plain += gram(s, t);
                sums.absolute += std::abs(gram(s, t));
            }
        largest.plain = std::max(largest.plain, sums.plain);
        largest.absolute = std::max(largest.absolute, sums.absolute);
    }
    return largest;
}

TEST(PhaseSensitivity, IsOfThePatternsOfTrainingRounds) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan first = decor_plan(graph), second = random_plan(graph, 5),
                    third = with_factor(plan_without(graph, {1}, 0.6),
                                        random_factor(TemporalFactor::Kind::banded, 1, 3));
    const auto process =
        process_of(graph, first, phases_of(graph, {{5}, {2, 3, {}, &second}, {3, 1, {1}, &third}}));
    const std::vector<long> training{0, 1, 2, 3, 4, 2, 3, 3, 4, 5};
    const std::vector<int> targets = everybody(6);
    for (const View& view : sample_views(6)) {
        const auto grams = dense_grams(process, view);
        const auto everything = dense_grams(process, {View::Kind::all_messages, view.members});
        for (const long cycle : {1L, 2L, 3L, 6L, 50L}) {
            const auto found = view_sensitivity(process, view, targets, {cycle}, {1, 1e-6});
            for (std::size_t u = 0; u < 6; ++u) {
                ASSERT_EQ(found[u].infinite, !grams[u].has_value());
                if (found[u].infinite) continue;
                const PatternSums expected = pattern_sums(*grams[u], training, cycle);
                EXPECT_TRUE(relatively_near(found[u].constant_sign, expected.plain, 1e-9));
                EXPECT_TRUE(relatively_near(found[u].abs_sum, expected.absolute, 1e-9));
                EXPECT_GE(found[u].tight_upper, expected.plain * (1 - 1e-9));
                EXPECT_LE(found[u].tight_lower, expected.absolute * (1 + 1e-9));
                EXPECT_LE(found[u].tight_lower, found[u].tight_upper * (1 + 1e-12));
                const PatternSums all = pattern_sums(*everything[u], training, cycle);
                EXPECT_TRUE(relatively_near(found[u].trivial, all.absolute, 1e-9));
                EXPECT_LE(found[u].certified(), all.absolute * (1 + 1e-9));
            }
        }
    }
    // A pattern of two rounds, one of which is done again: three messages.
    const auto again = process_of(graph, first, phases_of(graph, {{4}, {1, 1}}));
    const View eavesdropper{View::Kind::all_messages, {}};
    const Eigen::VectorXd precision = observed_precision(first, {});
    for (const auto& [cycle, messages] : {std::pair{1L, 5.0}, {2L, 3.0}, {4L, 2.0}})
        EXPECT_TRUE(relatively_near(
            view_sensitivity(again, eavesdropper, targets, {cycle}, {})[2].certified(),
            messages * precision(2),
            1e-12));
}

TEST(PhaseSensitivity, OfAllMessagesAddsUpAndOfFewDoesNot) {
    // The ring of six with a chord without agent 1 after five rounds; the leaver had no say.
    const Graph graph = ring_with_a_chord();
    const NoisePlan before = unit_plan(6), after = private_plan({1, 0, 1, 1, 1, 1});
    const std::vector<int> target{5};
    const auto value = [&](const View& view, const std::vector<PhaseShape>& shapes) {
        const auto process = process_of(graph, before, phases_of(graph, shapes));
        return view_sensitivity(process, view, target, {1}, {}).front().certified();
    };
    const PhaseShape first{5, 0, {}, &before}, second{5, 0, {1}, &after};
    const View partial{View::Kind::neighbours, {3}}, all{View::Kind::all_messages, {3}};
    EXPECT_NEAR(value(partial, {first, second}), 2.79237, 1e-5);
    EXPECT_NEAR(value(partial, {first}) + value(partial, {second}), 2.15118, 1e-5);
    EXPECT_NEAR(value(all, {first, second}), 10, 1e-12);
    EXPECT_NEAR(value(all, {first}) + value(all, {second}), 10, 1e-12);
    // What is done again is said again, in another way.
    const PhaseShape again{5, 5, {1}, &after};
    EXPECT_GT(value(partial, {first, again}), value(partial, {first}));
    EXPECT_NEAR(value(all, {first, again}), 10, 1e-12);
}

// ---- Infinite where one phase lets out a noiseless function of the input.

TEST(PhaseSensitivity, IsInfiniteWhereOnePhaseIs) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan noisy = unit_plan(6), shared = shared_seed_plan(6), pairs = pair_plan(graph),
                    none = blank_plan(6, 0);
    const std::vector<int> targets = everybody(6);
    const auto infinite = [&](const NoisePlan& plan, const View& view, const PhaseShape& last) {
        const auto process =
            process_of(graph, noisy, phases_of(graph, {{3}, {2, 1, {}, &plan}, last}));
        const auto found = view_sensitivity(process, view, targets, {1}, {});
        const auto dense = dense_grams(process, view);
        long count = 0;
        for (std::size_t u = 0; u < 6; ++u) {
            EXPECT_EQ(found[u].infinite, !dense[u].has_value()) << "target " << u;
            count += found[u].infinite ? 1 : 0;
        }
        return count;
    };
    for (const PhaseShape& last : {PhaseShape{2, 0, {}, &noisy}, PhaseShape{2, 2, {1}, nullptr}}) {
        EXPECT_EQ(infinite(shared, {View::Kind::all_messages, {}}, last), 0);
        // Agent 5 is three edges away from agent 2, and heard from after two rounds: under noise.
        EXPECT_EQ(infinite(shared, {View::Kind::neighbours, {2}}, last), 5);
        EXPECT_EQ(infinite(pairs, {View::Kind::all_messages, {}}, last), 6);
        EXPECT_EQ(infinite(none, {View::Kind::all_messages, {}}, last), 6);
        EXPECT_GE(infinite(none, {View::Kind::neighbours, {2}}, last), 3);
        EXPECT_EQ(infinite(noisy, {View::Kind::neighbours, {2}}, last), 1);
    }
    // Somebody who is away while there is no noise shows nothing.
    const auto process = process_of(graph, noisy, phases_of(graph, {{3}, {2, 0, {1}, &none}}));
    const auto found = view_sensitivity(process, {View::Kind::all_messages, {}}, targets, {1}, {});
    EXPECT_NEAR(found[1].certified(), 3, 1e-12);
    EXPECT_TRUE(found[2].infinite);
}

}  // namespace
}  // namespace sotto
