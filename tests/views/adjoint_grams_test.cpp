#include "views/adjoint_grams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/linear_algebra.hpp"
#include "core/seeded_random.hpp"
#include "views/phase_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

using namespace test;

std::vector<int> not_members(const View& view, int agents) {
    std::vector<int> targets;
    for (int u = 0; u < agents; ++u)
        if (!view.has_member(u)) targets.push_back(u);
    return targets;
}

/// With all innovations at once, and with those of every step by themselves.
void expect_dense_grams(const MessageProcess& process, const View& view) {
    const TemporalModel model = temporal_model_of(process, view);
    ASSERT_EQ(model.inverse.size(), 0);
    const ViewFilter filter(model.model);
    const std::vector<int> targets = not_members(view, process.graph->agents());
    const auto dense = dense_grams(process, view);
    for (const double memory : {1e9, 1.0}) {
        const auto grams = AdjointGrams(filter, memory).grams(targets);
        ASSERT_EQ(grams.size(), targets.size());
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto& expected = dense[static_cast<std::size_t>(targets[i])];
            ASSERT_EQ(grams[i].infinite, !expected.has_value()) << targets[i];
            if (!expected) continue;
            EXPECT_LE((grams[i].gram - *expected).cwiseAbs().maxCoeff(),
                      1e-9 * std::max(1.0, expected->cwiseAbs().maxCoeff()));
            EXPECT_EQ(grams[i].gram, grams[i].gram.transpose());
        }
    }
}

TEST(AdjointGrams, AreTheDensePseudoInverseForPrivateAndSharedNoiseAndOneToThreeGossipSteps) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Graph graph = make_graph(Topology::erdos_renyi, 7, seed);
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::row_stochastic);
        for (const NoisePlan& plan : {unit_plan(7), decor_plan(graph), random_plan(graph, seed)})
            for (const int gossip_steps : {1, 2, 3})
                for (const View& view : sample_views(7))
                    expect_dense_grams(
                        process_of(graph, plan, {fixed_phase(mixing, 5)}, gossip_steps), view);
    }
}

TEST(AdjointGrams, AreTheDensePseudoInverseForPhasesStepSizesAndChebyshevWeights) {
    for (const Graph& graph : small_graphs()) {
        const NoisePlan plan = decor_plan(graph);
        auto process =
            process_of(graph, plan, phases_of(graph, {{3}, {3, 0, {leavers(graph).front()}}}));
        process.step_sizes = falling_steps(6);
        for (const View& view : sample_views(graph.agents())) {
            process.gossip = 2;
            expect_dense_grams(process, view);
            process.gossip = chebyshev(graph, 3);
            expect_dense_grams(process, view);
        }
    }
}

TEST(AdjointGrams, FindWhatIsSeenWithoutNoise) {
    const Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = blank_plan(5);
    add_stream(plan, {1}, {1.0});  // agent 1 hides what reaches it for a while, 2 to 4 have nothing
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    const View view{View::Kind::neighbours, {3}};
    const ObservationModel model = make_observation_model(process, view, {lagged_noise({}, 3, 0)});
    const ViewFilter filter(model);
    const auto grams = AdjointGrams(filter).grams(std::vector<int>{2, 4});
    EXPECT_TRUE(grams[0].infinite && grams[1].infinite);
    EXPECT_EQ(grams[0].gram.size(), 0);
    EXPECT_TRUE(AdjointGrams(filter).grams({}).empty());
}

MatrixXd random_values(Index rows, Index columns, std::uint64_t seed) {
    SeededRandom random(seed, "sparse products");
    MatrixXd matrix(rows, columns);
    for (double& value : matrix.reshaped()) value = random.normal();
    return matrix;
}

/// About a third of the entries.
SparseRows random_sparse(Index rows, Index columns, std::uint64_t seed) {
    MatrixXd matrix = random_values(rows, columns, seed);
    for (double& value : matrix.reshaped())
        if (value < 0.4) value = 0;
    return matrix.sparseView();
}

TEST(MultiplyTranspose, IsTheDenseProductForSizesAroundABlock) {
    for (const Index rows : {0, 1, 15, 16, 17, 40})
        for (const Index inner : {0, 1, 23}) {
            const MatrixXd dense = random_values(rows + 3, inner, 1);
            const SparseRows sparse = random_sparse(9, inner, 2);
            const MatrixXd out = times_transpose(dense.middleRows(2, rows), sparse);
            ASSERT_EQ(out.rows(), rows);
            ASSERT_EQ(out.cols(), 9);
            const MatrixXd expected = dense.middleRows(2, rows) * MatrixXd(sparse).transpose();
            EXPECT_LE((out - expected).lpNorm<1>(), 1e-12) << rows << " " << inner;
        }
}

TEST(MultiplyTranspose, WritesItsPartOfALargerMatrixOnly) {
    const MatrixXd dense = random_values(20, 6, 3);
    const SparseRows sparse = random_sparse(5, 6, 4);
    MatrixXd large = MatrixXd::Constant(24, 9, 7.0);
    multiply_transpose(dense, sparse, large.block(1, 2, 20, 5));
    EXPECT_LE((large.block(1, 2, 20, 5) - dense * MatrixXd(sparse).transpose()).lpNorm<1>(), 1e-12);
    large.block(1, 2, 20, 5).setConstant(7.0);
    EXPECT_EQ(large, MatrixXd::Constant(24, 9, 7.0));
}

TEST(MultiplySymmetric, IsTheCongruenceOfASymmetricMatrixToTheLastBitSymmetric) {
    for (const Index size : {0, 1, 16, 35}) {
        const MatrixXd half = random_values(size, size, 5);
        const MatrixXd symmetric = half + half.transpose();
        const SparseRows sparse = random_sparse(size + 4, size, 6);
        MatrixXd out(size + 4, size + 4);
        multiply_symmetric(sparse, times_transpose(symmetric, sparse), out);
        EXPECT_EQ(out, out.transpose());
        const MatrixXd dense(sparse);
        EXPECT_LE((out - dense * symmetric * dense.transpose()).lpNorm<1>(), 1e-10) << size;
    }
}

TEST(MultiplyTranspose, DoesNotDependOnTheNumberOfThreads) {
    const MatrixXd dense = random_values(300, 200, 7);
    const SparseRows sparse = random_sparse(200, 200, 8);
    const int before = linear_algebra_threads();
    set_linear_algebra_threads(1);
    const MatrixXd alone = times_transpose(dense, sparse);
    set_linear_algebra_threads(3);
    const MatrixXd shared = times_transpose(dense, sparse);
    set_linear_algebra_threads(before);
    EXPECT_EQ(alone, shared);
}

using namespace test;

TEST(ResponseTree, GivesTheDensePseudoInverseForAnyNumberOfRounds) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 4);
    const NoisePlan plan = decor_plan(graph);
    const View view{View::Kind::secure_sum, {0, 3}};
    for (const long rounds : {1L, 2L, 5L, 8L}) {
        auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)}, 2);
        process.step_sizes = falling_steps(rounds);
        const ObservationModel model =
            make_observation_model(process, view, {lagged_noise({}, rounds, 0)});
        const ViewFilter filter(model);
        const std::vector<int> targets{1, 2, 4, 5, 6};
        const auto grams = ResponseTree(filter).grams(targets);
        const auto dense = dense_grams(process, view);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto& expected = dense[static_cast<std::size_t>(targets[i])];
            ASSERT_TRUE(expected && !grams[i].infinite);
            EXPECT_LE((grams[i].gram - *expected).cwiseAbs().maxCoeff(), 1e-9) << rounds;
        }
    }
}

TEST(ResponseTree, FindsWhatIsSeenWithoutNoise) {
    const Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = blank_plan(5);
    add_stream(plan, {1}, {1.0});  // agent 1 hides what reaches it for a while, 2 to 4 have nothing
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    const View view{View::Kind::neighbours, {3}};
    const ObservationModel model = make_observation_model(process, view, {lagged_noise({}, 3, 0)});
    const ViewFilter filter(model);
    const auto grams = ResponseTree(filter).grams(std::vector<int>{2, 4});
    EXPECT_TRUE(grams[0].infinite && grams[1].infinite);
    EXPECT_TRUE(ResponseTree(filter).grams({}).empty());
}

}  // namespace
}  // namespace sotto
