#include "graph/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {
namespace {

using std::numbers::pi;
using test::make;

double lambda2(const Graph& graph, MixingRule rule, EigenMethod method = EigenMethod::automatic) {
    return second_eigenvalue_modulus(MixingMatrix::from_rule(graph, rule), method);
}

TEST(SecondEigenvalue, AgreesWithTheReferenceProgram) {
    std::ifstream file(SOTTO_SOURCE_DIR "/tests/golden/graphs.json");
    const nlohmann::json golden = nlohmann::json::parse(file);
    ASSERT_EQ(golden["graphs"].size(), 6U);
    for (const auto& entry : golden["graphs"]) {
        const Graph graph =
            Graph::from_edges(entry["n"].get<int>(), entry["edges"].get<std::vector<Edge>>());
        EXPECT_NEAR(lambda2(graph, MixingRule::metropolis), entry["lambda2"].get<double>(), 1e-12)
            << entry["name"];
    }
}

TEST(SecondEigenvalue, OfFamiliesIsItsClosedForm) {
    for (const int n : {3, 4, 5, 8, 16, 31}) {
        const double c = std::cos(2 * pi / n);
        const double opposite = std::cos(2 * pi * (n / 2) / n);  // the most negative cosine
        const double ring = std::max(std::abs(1 + 2 * c), std::abs(1 + 2 * opposite)) / 3;
        EXPECT_NEAR(lambda2(make(Topology::ring, n), MixingRule::metropolis), ring, 1e-13) << n;
        EXPECT_NEAR(
            lambda2(make(Topology::ring, n), MixingRule::lazy_metropolis), (2 + c) / 3, 1e-13);
        EXPECT_NEAR(lambda2(make(Topology::path, n), MixingRule::metropolis),
                    (1 + 2 * std::cos(pi / n)) / 3,
                    1e-13);
        EXPECT_NEAR(lambda2(make(Topology::star, n), MixingRule::metropolis), 1 - 1.0 / n, 1e-13);
        EXPECT_NEAR(lambda2(make(Topology::complete, n), MixingRule::metropolis), 0, 1e-13);
    }
    for (const int k : {1, 2, 3, 5}) {
        const double cube = std::abs(1 - 2.0 / (k + 1));
        EXPECT_NEAR(
            lambda2(make(Topology::hypercube, 1 << k), MixingRule::metropolis), cube, 1e-13);
    }
}

TEST(SecondEigenvalue, OfRowStochasticIsThatOfTheSimilarSymmetricMatrix) {
    for (const auto& [name, graph] : test::sample_graphs({2, 3, 8, 21})) {
        const int n = graph.agents();
        Eigen::MatrixXd similar = Eigen::MatrixXd::Zero(n, n);
        for (int u = 0; u < n; ++u)
            for (const int v : graph.closed_neighbourhood(u))
                similar(u, v) = 1 / std::sqrt((graph.degree(u) + 1.0) * (graph.degree(v) + 1.0));
        Eigen::VectorXd moduli =
            Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(similar).eigenvalues().cwiseAbs();
        std::sort(moduli.begin(), moduli.end());
        EXPECT_NEAR(lambda2(graph, MixingRule::row_stochastic), moduli[n - 2], 1e-12) << name;
    }
}

TEST(SecondEigenvalue, CountsComplexAndNegativeEigenvaluesByTheirModulus) {
    // Half a step round the ring: eigenvalues (1 + w)/2 with w the n-th roots of unity.
    for (const int n : {5, 12, 30}) {
        Eigen::MatrixXd shift = Eigen::MatrixXd::Zero(n, n);
        for (int u = 0; u < n; ++u) shift(u, u) = shift(u, (u + 1) % n) = 0.5;
        const MixingMatrix mixing = MixingMatrix::from_dense(make(Topology::ring, n), shift);
        for (const EigenMethod method : {EigenMethod::dense, EigenMethod::iterative})
            EXPECT_NEAR(second_eigenvalue_modulus(mixing, method), std::cos(pi / n), 1e-10) << n;
    }
    const Graph pair = make(Topology::path, 2);
    const MixingMatrix swap = MixingMatrix::from_dense(pair, Eigen::Matrix2d{{0, 1}, {1, 0}});
    EXPECT_NEAR(second_eigenvalue_modulus(swap), 1, 1e-15);
}

TEST(SecondEigenvalue, IsZeroForOneAgentAndOneWithoutConnection) {
    EXPECT_EQ(lambda2(make(Topology::ring, 1), MixingRule::metropolis), 0);
    const Graph apart = Graph::from_edges(6, {{0, 1}, {1, 2}, {3, 4}, {4, 5}});
    for (const EigenMethod method : {EigenMethod::dense, EigenMethod::iterative}) {
        EXPECT_NEAR(lambda2(apart, MixingRule::metropolis, method), 1, 1e-12);
        EXPECT_NEAR(lambda2(apart, MixingRule::row_stochastic, method), 1, 1e-12);
    }
}

TEST(SecondEigenvalue, IterativeAndDenseMethodsAgree) {
    for (const auto& [name, graph] : test::sample_graphs({8, 60, 150}))
        for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic}) {
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
            EXPECT_NEAR(second_eigenvalue_modulus(mixing, EigenMethod::iterative),
                        second_eigenvalue_modulus(mixing, EigenMethod::dense),
                        1e-9)
                << name;
        }
}

TEST(SecondEigenvalue, IterativeMethodSurvivesMatricesWithFewDistinctEigenvalues) {
    std::vector<test::NamedGraph> graphs;
    for (const int n : {16, 64, 256})
        for (const Topology topology :
             {Topology::star, Topology::hypercube, Topology::torus, Topology::exponential})
            graphs.push_back({name_of(topology) + " " + std::to_string(n), make(topology, n)});
    std::vector<Edge> bipartite, barbell;
    for (int u = 0; u < 30; ++u)
        for (int v = 30; v < 65; ++v) bipartite.emplace_back(u, v);
    for (int u = 0; u < 30; ++u)
        for (int v = u + 1; v < 30; ++v) {
            barbell.emplace_back(u, v);
            barbell.emplace_back(30 + u, 30 + v);
        }
    barbell.emplace_back(0, 30);
    graphs.push_back({"complete bipartite", Graph::from_edges(65, bipartite)});
    graphs.push_back({"barbell", Graph::from_edges(60, barbell)});
    for (const auto& [name, graph] : graphs)
        for (const MixingRule rule : {MixingRule::metropolis, MixingRule::max_degree})
            EXPECT_NEAR(lambda2(graph, rule, EigenMethod::iterative),
                        lambda2(graph, rule, EigenMethod::dense),
                        1e-10)
                << name;
}

TEST(SecondEigenvalue, OfManyAgentsIsItsClosedFormToo) {
    const int n = 2000;
    EXPECT_NEAR(lambda2(make(Topology::star, n), MixingRule::metropolis), 1 - 1.0 / n, 1e-9);
    EXPECT_NEAR(
        lambda2(make(Topology::hypercube, 2048), MixingRule::metropolis), 1 - 2 / 12.0, 1e-9);
    EXPECT_NEAR(lambda2(make(Topology::ring, n), MixingRule::metropolis),
                (1 + 2 * std::cos(2 * pi / n)) / 3,
                1e-9);
    EXPECT_NEAR(lambda2(make(Topology::path, n), MixingRule::metropolis),
                (1 + 2 * std::cos(pi / n)) / 3,
                1e-9);
    EXPECT_NEAR(second_eigenvalue_modulus(MixingMatrix::average(1501)), 0, 1e-12);
}

}  // namespace
}  // namespace sotto
