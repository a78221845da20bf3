#include "views/view_grams.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/test_support.hpp"
#include "views/adjoint_grams.hpp"
#include "views/phase_fixtures.hpp"
#include "views/view_rounds.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using namespace test;

TEST(AllMessages, HaveTheGramMatrixOfTheTemporalFactorAndThePrecision) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = with_factor(decor_plan(graph), difference_factor(5));
    const auto process = process_of(graph, plan, phases_of(graph, {{5}}));
    const ProcessRounds where = process_rounds(process);
    const AllMessages all(process, where, {View::Kind::all_messages, {1}}, {2});
    const Eigen::VectorXd precision = observed_precision(plan, {{1}});
    const Eigen::MatrixXd factor = plan.temporal.lower;
    const Eigen::MatrixXd time = factor.transpose() * factor;
    EXPECT_TRUE(all.gram(3).gram.isApprox(precision(3) * time, 1e-12));
    const double even = time(Eigen::seq(0, 4, 2), Eigen::seq(0, 4, 2)).cwiseAbs().sum();
    EXPECT_TRUE(relatively_near(all.squared_sensitivity(3), precision(3) * even, 1e-12));
}

TEST(AllMessages, CountNoRoundsInWhichTheTargetIsAway) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = private_plan({1, 0, 1, 1, 1, 1});
    const auto process = process_of(graph, plan, phases_of(graph, {{3}, {2, 0, {2}}}));
    const ProcessRounds where = process_rounds(process);
    const AllMessages all(process, where, {}, {1});
    EXPECT_DOUBLE_EQ(all.squared_sensitivity(2), 3);
    EXPECT_DOUBLE_EQ(all.squared_sensitivity(4), 5);
    EXPECT_EQ(all.gram(2).gram.diagonal(), (Eigen::VectorXd(5) << 1, 1, 1, 0, 0).finished());
    EXPECT_TRUE(all.gram(1).infinite) << "it has no noise";
    EXPECT_EQ(all.squared_sensitivity(1), infinity);
}

TEST(AllMessages, AreInUnitsOfTheInputWhereNoiseEntersTheMessage) {
    const Graph graph = ring_with_a_chord();
    NoisePlan plan = unit_plan(6);
    plan.entry = NoiseEntry::message;
    auto process = process_of(graph, plan, phases_of(graph, {{2}}));
    process.step_sizes = {0.5, 0.25};
    const ProcessRounds where = process_rounds(process);
    const AllMessages all(process, where, {}, {1});
    EXPECT_DOUBLE_EQ(all.squared_sensitivity(0), 0.25 + 0.0625);
}

TEST(TemporalModel, OfIndependentRoundsNeedsNoFactor) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    const TemporalModel temporal = temporal_model_of(
        process_of(graph, plan, phases_of(graph, {{6}})), {View::Kind::neighbours, {0}});
    EXPECT_EQ(temporal.inverse.size(), 0);
    EXPECT_EQ(temporal.model.state_size(), 2) << "agents 2 and 4";
}

TEST(TemporalModel, OfAShortMemoryHasItInTheState) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = with_factor(decor_plan(graph), difference_factor(40));
    const TemporalModel temporal = temporal_model_of(
        process_of(graph, plan, phases_of(graph, {{40}})), {View::Kind::neighbours, {0}});
    EXPECT_EQ(temporal.inverse.size(), 0);
    EXPECT_EQ(temporal.model.state_size(), 2 + 5) << "one lag of five agents' noise";
}

TEST(TemporalModel, OfALongMemoryIsWhitenedAtOnce) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan first = with_factor(decor_plan(graph),
                                        random_factor(TemporalFactor::Kind::dense, 0, 4)),
                    second = with_factor(decor_plan(graph), difference_factor(3));
    const MessageProcess process =
        process_of(graph, first, phases_of(graph, {{4}, {3, 0, {}, &second}}));
    const TemporalModel temporal = temporal_model_of(process, {View::Kind::secure_sum, {0}});
    ASSERT_EQ(temporal.inverse.rows(), 7);
    Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(7, 7);
    factor.topLeftCorner(4, 4) = first.temporal.lower;
    factor.bottomRightCorner(3, 3) = second.temporal.lower;
    EXPECT_TRUE((temporal.inverse * factor).isIdentity(1e-9));
    EXPECT_EQ(temporal.model.state_size(), 5) << "no past noise";
}

void expect_dense(const std::vector<TargetGram>& grams,
                  const std::vector<int>& targets,
                  const MessageProcess& process,
                  const View& view) {
    const auto dense = dense_grams(process, view);
    ASSERT_EQ(grams.size(), targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto& expected = dense[static_cast<std::size_t>(targets[i])];
        ASSERT_EQ(grams[i].infinite, !expected.has_value());
        if (expected) {
            EXPECT_LE((grams[i].gram - *expected).cwiseAbs().maxCoeff(),
                      1e-9 * std::max(1.0, expected->cwiseAbs().maxCoeff()));
        }
    }
}

TEST(ViewGrams, WhitenAtOnceWhereFewValuesAreSeenOfMany) {
    const Graph graph = make_graph(Topology::path, 12);
    const NoisePlan plan = unit_plan(12);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 8)});
    const View view{View::Kind::neighbours, {0}};
    const ViewGrams grams(temporal_model_of(process, view));
    const std::vector<int> targets{1, 2, 7};
    const auto whole = grams.try_whole_run(targets);
    ASSERT_TRUE(whole);
    expect_dense(*whole, targets, process, view);
}

TEST(ViewGrams, FollowInputsWhereMuchIsSeen) {
    const Graph graph = make_graph(Topology::complete, 6);
    const NoisePlan plan = decor_plan(graph);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 9)}, 2);
    const View view{View::Kind::neighbours, {0, 1}};
    ViewGrams grams(temporal_model_of(process, view));
    const std::vector<int> targets{2, 3, 4, 5};
    EXPECT_FALSE(grams.try_whole_run(targets));
    EXPECT_EQ(grams.bytes_of_a_target(), 0) << "nothing is followed yet";
    grams.prepare(targets.size());
    EXPECT_EQ(grams.bytes_of_a_target(), 0) << "all is seen: nothing has to be carried on";
    expect_dense(grams.grams(targets), targets, process, view);
}

TEST(ViewGrams, FollowInnovationsBackwardWhereFewTellOfManyTargets) {
    const Graph graph = make_graph(Topology::path, 12);
    const NoisePlan plan = decor_plan(graph);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 8)}, 2);
    const View view{View::Kind::neighbours, {0}};
    ViewGrams grams(temporal_model_of(process, view));
    EXPECT_FALSE(grams.shares_threads()) << "not known yet";
    grams.prepare(11);
    EXPECT_TRUE(grams.shares_threads());
    const std::vector<int> targets{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    expect_dense(grams.grams(targets), targets, process, view);
}

TEST(ViewGrams, SayWhatATargetTakes) {
    const Graph graph = make_graph(Topology::path, 12);
    const NoisePlan plan = unit_plan(12);
    double before = 0;
    for (const long rounds : {8, 16}) {
        const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)});
        ViewGrams grams(temporal_model_of(process, {View::Kind::neighbours, {0}}));
        grams.prepare(11);
        EXPECT_GT(grams.bytes_of_a_target(), before);
        before = grams.bytes_of_a_target();
    }
}

TEST(ViewGrams, OfALongMemoryAreWhitenedAtOnce) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan =
        with_factor(decor_plan(graph), random_factor(TemporalFactor::Kind::dense, 0, 6));
    const auto process = process_of(graph, plan, phases_of(graph, {{6}}));
    const View view{View::Kind::neighbours, {2}};
    ViewGrams grams(temporal_model_of(process, view));
    const std::vector<int> targets{0, 1, 3, 4, 5};
    EXPECT_FALSE(grams.try_whole_run(targets)) << "that is for independent rounds";
    grams.prepare(targets.size());
    expect_dense(grams.grams(targets), targets, process, view);
}

TEST(WholeRunGrams, AreTheDensePseudoInverse) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = unit_plan(6);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 7)});
    const std::vector<int> targets{1, 2, 3, 4, 5};
    for (const View& view :
         {View{View::Kind::neighbours, {0}}, View{View::Kind::neighbours, {0, 5}}}) {
        const ObservationModel model =
            make_observation_model(process, view, {lagged_noise({}, 7, 0)});
        const auto grams = whole_run_grams(model, targets);
        ASSERT_TRUE(grams);
        const auto dense = dense_grams(process, view);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (view.has_member(targets[i])) continue;
            EXPECT_LE(((*grams)[i].gram - *dense[static_cast<std::size_t>(targets[i])])
                          .cwiseAbs()
                          .maxCoeff(),
                      1e-9);
        }
    }
}

TEST(WholeRunGrams, AreOfEqualStepsOfOneGossipStepOnly) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = unit_plan(6);
    const View view{View::Kind::neighbours, {0}};
    const std::vector<int> targets{2};
    const auto applies = [&](const MessageProcess& process) {
        const ObservationModel model =
            make_observation_model(process, view, {lagged_noise({}, process.rounds(), 0)});
        return whole_run_grams(model, targets).has_value();
    };
    const std::vector<Phase> phases{fixed_phase(metropolis(graph), 5)};
    EXPECT_TRUE(applies(process_of(graph, plan, phases)));
    EXPECT_FALSE(applies(process_of(graph, plan, phases, 2)));
    EXPECT_FALSE(applies(process_of(graph, plan, {fixed_phase(metropolis(graph), 1)})));
    auto scaled = process_of(graph, plan, phases);
    scaled.step_sizes = falling_steps(5);
    EXPECT_FALSE(applies(scaled));
    EXPECT_FALSE(applies(process_of(graph, plan, phases_of(graph, {{3}, {2, 0, {5}}}))));
}

TEST(PhaseGrams, FollowedCarriedAndWhitenedAtOnceAgree) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10, 5);
    const std::vector<int> gone{leavers(graph).back()};
    const NoisePlan first = decor_plan(graph),
                    banded = with_factor(random_plan(graph, 5),
                                         random_factor(TemporalFactor::Kind::banded, 2, 6)),
                    last = with_factor(plan_without(graph, gone, 0.7), difference_factor(40));
    const View view{View::Kind::neighbours, {0}};
    const std::vector<int> targets{1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (const int gossip_steps : {1, 2})
        for (const auto& shapes : std::vector<std::vector<PhaseShape>>{
                 {{8}, {6, 3, {}, &banded}, {40, 5, gone, &last}},
                 {{4, 0, {}, &banded}, {3}, {5, 5}, {4, 1, {}, &last}, {90, 2}}}) {
            const auto process = process_of(graph, first, phases_of(graph, shapes), gossip_steps);
            std::vector<LaggedNoise> lagged, elsewhere;
            Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(process.rounds(), process.rounds());
            for (const NoiseStretch& stretch : process_rounds(process).stretches) {
                const auto rounds = stretch.rounds;
                lagged.push_back(
                    lagged_noise(stretch.plan->temporal, rounds, static_cast<int>(rounds)));
                elsewhere.push_back(lagged_noise({}, rounds, 0));
                elsewhere.back().independent_rounds = false;
                inverse.block(stretch.begin, stretch.begin, rounds, rounds) =
                    time_factor(stretch).inverse();
            }
            const ObservationModel model = make_observation_model(process, view, lagged);
            const ViewFilter filter(model);
            if (shapes.back().plan == nullptr) {
                EXPECT_LT(filter.steady_round(), process.rounds() - 5);
            }
            const auto followed = target_grams(filter, targets);
            const auto carried = ResponseTree(filter).grams(targets);
            const auto at_once = dense_temporal_grams(
                make_observation_model(process, view, elsewhere), inverse, targets);
            EXPECT_FALSE(whole_run_grams(model, targets));
            for (std::size_t i = 0; i < targets.size(); ++i) {
                ASSERT_FALSE(followed[i].infinite || carried[i].infinite || at_once[i].infinite);
                const double size = followed[i].gram.cwiseAbs().maxCoeff();
                EXPECT_GT(size, 1e-4);
                EXPECT_LE((carried[i].gram - followed[i].gram).cwiseAbs().maxCoeff(), 1e-9 * size);
                EXPECT_LE((at_once[i].gram - followed[i].gram).cwiseAbs().maxCoeff(), 1e-9 * size);
            }
        }
}

TEST(DenseMatrices, MultiplyAppendAndMeasure) {
    MatrixXd a(2, 3), b(3, 1);
    a << 1, 2, 3, 4, 5, 6;
    b << 1, 0, -2;
    EXPECT_EQ(product(a, false, b), MatrixXd(a * b));
    EXPECT_EQ(product(a, true, a), MatrixXd(a.transpose() * a));
    MatrixXd grown(0, 3);
    append_rows(grown, a);
    append_rows(grown, MatrixXd(0, 3));
    append_rows(grown, a.topRows(1));
    ASSERT_EQ(grown.rows(), 3);
    EXPECT_EQ(grown.row(2), a.row(0));
    EXPECT_EQ(largest_entry(b), 2);
    EXPECT_EQ(largest_entry(MatrixXd(0, 4)), 0);
}

}  // namespace
}  // namespace sotto
