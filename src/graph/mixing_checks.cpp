#include "graph/mixing_checks.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/linear_algebra.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Largest modulus of the eigenvalues of W - 11^T/n: those of W, with one eigenvalue 1 replaced by
/// 0. Cost: O(n^3).
double modulus_off_the_mean(const Eigen::MatrixXd& dense) {
    const Eigen::MatrixXd deflated =
        (dense.array() - 1.0 / static_cast<double>(dense.rows())).matrix();
    if (dense == dense.transpose()) return symmetric_eigenvalues(deflated).cwiseAbs().maxCoeff();
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(deflated, false);
    return solver.info() == Eigen::Success ? solver.eigenvalues().cwiseAbs().maxCoeff()
                                           : std::nan("");
}

void check_entries(const Graph& graph, const Eigen::MatrixXd& dense, const std::string& name) {
    for (int u = 0; u < graph.agents(); ++u)
        for (int v = 0; v < graph.agents(); ++v) {
            const double weight = dense(u, v);
            const auto reject = [&](const char* rule) {
                return DataError(
                    fmt::format("{}: entry ({}, {}) is {} (agents are numbered from "
                                "0); {}",
                                name,
                                u,
                                v,
                                weight,
                                rule));
            };
            if (!std::isfinite(weight)) throw reject("weights must be finite");
            if (weight != 0 && u != v && !graph.hears(u, v))
                throw reject("the graph has no edge there, so it must be 0");
        }
}

/// @param what "row" or "column".
void check_sums(const Eigen::VectorXd& sums, const char* what, const std::string& name) {
    for (Eigen::Index i = 0; i < sums.size(); ++i)
        if (!(std::abs(sums[i] - 1) <= row_sum_tolerance))
            throw DataError(
                fmt::format("{}: {} {} sums to {:.12g} (agents are numbered from 0); "
                            "every {} must sum to 1 within {}",
                            name,
                            what,
                            i,
                            sums[i],
                            what,
                            row_sum_tolerance));
}

}  // namespace

void check_mixing(const Graph& graph,
                  const Eigen::MatrixXd& dense,
                  MixingKind kind,
                  const std::string& name) {
    const int n = graph.agents();
    if (dense.rows() != n || dense.cols() != n)
        throw DataError(fmt::format("{}: {} x {}, but the graph has {} agents; it must be {} x {}",
                                    name,
                                    dense.rows(),
                                    dense.cols(),
                                    n,
                                    n,
                                    n));
    check_entries(graph, dense, name);
    const bool push_sum = kind == MixingKind::push_sum;
    if (push_sum)
        check_sums(dense.colwise().sum().transpose(), "column", name);
    else
        check_sums(dense.rowwise().sum(), "row", name);
    if (!(dense.minCoeff() < 0)) return;
    if (push_sum)
        throw DataError(
            fmt::format("{}: it has negative entries, which push-sum cannot have", name));
    const double modulus = modulus_off_the_mean(dense);
    if (!(modulus <= 1 + row_sum_tolerance))
        throw DataError(fmt::format(
            "{}: it has negative entries, and an eigenvalue other than that of the mean has "
            "modulus {:.12g}; it must be at most 1, or differences between agents grow",
            name,
            modulus));
}

}  // namespace sotto
