#include "sotto/views/muffliato_bound.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/error.hpp"

namespace sotto {

Eigen::VectorXd muffliato_bound(const Graph& graph,
                                const MixingMatrix& mixing,
                                int observer,
                                long rounds) {
    const int n = graph.agents();
    if (mixing.agents() != n)
        throw ConfigError(
            fmt::format("mixing: {} agents, but the graph has {}", mixing.agents(), n));
    if (observer < 0 || observer >= n)
        throw ConfigError(
            fmt::format("observer: agent {} does not exist (allowed: 0 to {})", observer, n - 1));
    if (rounds < 1) throw ConfigError(fmt::format("rounds: {} is not allowed (1 or more)", rounds));
    // Columns are the rows (W^k)_w of all neighbours w, for growing k.
    const auto neighbours = graph.neighbours(observer);
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(n, static_cast<Eigen::Index>(neighbours.size()));
    for (std::size_t j = 0; j < neighbours.size(); ++j)
        rows(neighbours[j], static_cast<Eigen::Index>(j)) = 1;
    const SparseRows transposed = mixing.sparse().transpose();
    Eigen::VectorXd bound = Eigen::VectorXd::Zero(n);
    for (long k = 0; k < rounds; ++k) {
        // Power k appears for every round s <= rounds - k.
        const Eigen::RowVectorXd norms = rows.colwise().squaredNorm();
        bound += static_cast<double>(rounds - k) *
                 (rows.cwiseAbs2() * norms.cwiseInverse().asDiagonal()).rowwise().sum();
        rows = transposed * rows;
    }
    return bound.cwiseMin(static_cast<double>(rounds));
}

}  // namespace sotto
