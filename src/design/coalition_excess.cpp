#include "design/coalition_excess.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::optional<InvertedCovariance> inverse_of(const GroupLayout& layout, const VectorXd& values) {
    InvertedCovariance inverse{layout.covariance(values), {}};
    inverse.precision = inverse.covariance;
    if (!invert_positive_definite(inverse.precision)) return std::nullopt;
    return inverse;
}

namespace {

/// Excess of all agents for every coalition of a part of a list; calls take(part, c, excess).
template <class Function>
void for_each_excess(const GroupLayout& layout,
                     const VectorXd& values,
                     const VectorXd& kappa,
                     const std::vector<Coalition>& coalitions,
                     Function&& take) {
    const std::optional<InvertedCovariance> inverse = inverse_of(layout, values);
    parallel_for(coalition_parts, linear_algebra_threads(), [&](long part) {
        const auto first = static_cast<std::size_t>(part);
        for (std::size_t c = first; c < coalitions.size(); c += coalition_parts) {
            VectorXd excess = VectorXd::Constant(layout.agents(), infinity);
            if (inverse) {
                const UnknownPrecision unknown(
                    layout, values, inverse->covariance, inverse->precision, coalitions[c]);
                if (unknown.positive()) excess = unknown.diagonal().cwiseQuotient(kappa);
            }
            take(first, c, excess);
        }
    });
}

}  // namespace

std::vector<double> excesses(const GroupLayout& layout,
                             const VectorXd& values,
                             const VectorXd& kappa,
                             const std::vector<Coalition>& coalitions) {
    std::vector<double> largest(coalitions.size());
    for_each_excess(
        layout, values, kappa, coalitions, [&](std::size_t, std::size_t c, const VectorXd& excess) {
            largest[c] = excess.maxCoeff();
        });
    return largest;
}

VectorXd excess_of_agents(const GroupLayout& layout,
                          const VectorXd& values,
                          const VectorXd& kappa,
                          const std::vector<Coalition>& coalitions) {
    MatrixXd largest = MatrixXd::Zero(layout.agents(), coalition_parts);
    for_each_excess(layout,
                    values,
                    kappa,
                    coalitions,
                    [&](std::size_t part, std::size_t, const VectorXd& excess) {
                        auto column = largest.col(static_cast<Eigen::Index>(part));
                        column = column.cwiseMax(excess);
                    });
    return largest.rowwise().maxCoeff();
}

double largest_excess(const GroupLayout& layout,
                      const VectorXd& values,
                      const VectorXd& kappa,
                      int coalition_size) {
    double worst = 0;
    for_each_part_of_coalitions(
        layout.agents(), coalition_size, [&](const std::vector<Coalition>& part) {
            worst = std::max(worst, std::ranges::max(excesses(layout, values, kappa, part)));
        });
    return worst;
}

}  // namespace sotto
