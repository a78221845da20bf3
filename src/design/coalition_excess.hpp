#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "design/group_layout.hpp"
#include "design/unknown_precision.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

/// R and R^-1.
struct InvertedCovariance {
    Eigen::MatrixXd covariance, precision;
};

/// Of values; nothing where R is not positive definite. Cost: O(n^3).
[[nodiscard]] std::optional<InvertedCovariance> inverse_of(const GroupLayout& layout,
                                                           const Eigen::VectorXd& values);

/// max_u [(R^(I))^-1]_uu / kappa_u of every coalition of a list; infinite where R^(I) is singular.
/// Cost: that of an UnknownPrecision each, on all threads.
[[nodiscard]] std::vector<double> excesses(const GroupLayout& layout,
                                           const Eigen::VectorXd& values,
                                           const Eigen::VectorXd& kappa,
                                           const std::vector<Coalition>& coalitions);

/// Of every agent: max over the coalitions of a list of [(R^(I))^-1]_uu / kappa_u. Same cost.
[[nodiscard]] Eigen::VectorXd excess_of_agents(const GroupLayout& layout,
                                               const Eigen::VectorXd& values,
                                               const Eigen::VectorXd& kappa,
                                               const std::vector<Coalition>& coalitions);

/// Calls f(list) for all coalitions of a size, in lists that fit into memory.
template <class Function>
void for_each_part_of_coalitions(int agents, int size, Function&& f) {
    constexpr std::size_t most = 4096;
    std::vector<Coalition> part;
    for_each_coalition(agents, size, [&](const Coalition& coalition) {
        part.push_back(coalition);
        if (part.size() < most) return;
        f(part);
        part.clear();
    });
    if (!part.empty()) f(part);
}

/// max over coalitions of a size of max_u [(R^(I))^-1]_uu / kappa_u; infinite where an R^(I) is
/// singular. Cost: that of an UnknownPrecision each.
[[nodiscard]] double largest_excess(const GroupLayout& layout,
                                    const Eigen::VectorXd& values,
                                    const Eigen::VectorXd& kappa,
                                    int coalition_size);

}  // namespace sotto
