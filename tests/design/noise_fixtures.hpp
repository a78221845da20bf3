#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <string>
#include <vector>

#include "core/seeded_random.hpp"
#include "sotto/design/design.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto::test {

struct NamedGraph {
    std::string name;
    Graph graph;
};

inline Graph make_graph(Topology topology,
                        int agents,
                        std::uint64_t seed = 1,
                        double edge_probability = 0.4) {
    TopologySpec spec;
    spec.topology = topology;
    spec.agents = agents;
    spec.edge_probability = edge_probability;
    spec.graph_seed = seed;
    return make_topology(spec).graph;
}

/// {ring, path, star, complete, Erdos-Renyi x 2 seeds} x sizes.
inline std::vector<NamedGraph> sample_graphs(const std::vector<int>& sizes) {
    std::vector<NamedGraph> graphs;
    for (const int n : sizes) {
        for (const Topology topology :
             {Topology::ring, Topology::path, Topology::star, Topology::complete})
            graphs.push_back(
                {name_of(topology) + " " + std::to_string(n), make_graph(topology, n)});
        for (const std::uint64_t seed : {1U, 2U})
            graphs.push_back({"erdos-renyi " + std::to_string(n) + " seed " + std::to_string(seed),
                              make_graph(Topology::erdos_renyi, n, seed)});
    }
    return graphs;
}

inline Eigen::MatrixXd laplacian_of(const Graph& graph) {
    Eigen::MatrixXd laplacian = Eigen::MatrixXd::Zero(graph.agents(), graph.agents());
    for (const auto& [u, v] : graph.edges()) {
        Eigen::VectorXd difference = Eigen::VectorXd::Zero(graph.agents());
        difference(u) = 1;
        difference(v) = -1;
        laplacian += difference * difference.transpose();
    }
    return laplacian;
}

inline Eigen::MatrixXd horizon_utility(const Graph& graph,
                                       long horizon,
                                       MixingRule rule = MixingRule::metropolis) {
    return utility_matrix(
        MixingMatrix::from_rule(graph, rule), {Utility::Kind::horizon, horizon}, 1000);
}

inline Eigen::VectorXd random_kappa(Eigen::Index n, std::uint64_t seed) {
    SeededRandom random(seed, "kappa", static_cast<std::uint64_t>(n));
    Eigen::VectorXd kappa(n);
    for (double& value : kappa) value = std::exp(random.normal());
    return kappa;
}

/// A A^T + floor I with normal entries.
inline Eigen::MatrixXd random_positive_definite(Eigen::Index n,
                                                std::uint64_t seed,
                                                double floor = 0.01) {
    SeededRandom random(seed, "positive definite matrix", static_cast<std::uint64_t>(n));
    Eigen::MatrixXd factor(n, n);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor * factor.transpose() + floor * Eigen::MatrixXd::Identity(n, n);
}

/// [R^-1]_uu of a positive definite R.
inline Eigen::VectorXd precision_of(const Eigen::MatrixXd& covariance) {
    return covariance.llt()
        .solve(Eigen::MatrixXd::Identity(covariance.rows(), covariance.rows()))
        .diagonal();
}

/// The feasible covariances nearest to R: all agents scaled alike, or each to its own limit.
inline Eigen::MatrixXd scaled_to_feasible(const Eigen::MatrixXd& covariance,
                                          const Eigen::VectorXd& kappa) {
    return covariance * precision_of(covariance).cwiseQuotient(kappa).maxCoeff();
}
inline Eigen::MatrixXd stretched_to_feasible(const Eigen::MatrixXd& covariance,
                                             const Eigen::VectorXd& kappa) {
    const Eigen::VectorXd stretch = precision_of(covariance).cwiseQuotient(kappa).cwiseSqrt();
    return stretch.asDiagonal() * covariance * stretch.asDiagonal();
}

inline double cost(const Eigen::MatrixXd& utility, const Eigen::MatrixXd& covariance) {
    return utility.cwiseProduct(covariance).sum();
}

}  // namespace sotto::test
