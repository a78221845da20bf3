#include "noise/coalition_excess.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/parallel.hpp"

namespace sotto {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double excess_of(const UnknownPrecision& unknown, const VectorXd& kappa) {
    if (!unknown.positive()) return infinity;
    return unknown.diagonal().cwiseQuotient(kappa).maxCoeff();
}

}  // namespace

std::optional<InvertedCovariance> inverse_of(const GroupLayout& layout, const VectorXd& values) {
    InvertedCovariance inverse{layout.covariance(values),
                               MatrixXd::Identity(layout.agents(), layout.agents())};
    MatrixXd factor = inverse.covariance;
    if (!solve_positive_definite(factor, inverse.precision)) return std::nullopt;
    return inverse;
}

std::vector<double> excesses(const GroupLayout& layout,
                             const VectorXd& values,
                             const VectorXd& kappa,
                             const std::vector<Coalition>& coalitions) {
    std::vector<double> excess(coalitions.size(), infinity);
    const std::optional<InvertedCovariance> inverse = inverse_of(layout, values);
    if (!inverse) return excess;
    parallel_for(std::ssize(coalitions), linear_algebra_threads(), [&](long c) {
        const auto place = static_cast<std::size_t>(c);
        excess[place] = excess_of(
            UnknownPrecision(
                layout, values, inverse->covariance, inverse->precision, coalitions[place]),
            kappa);
    });
    return excess;
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
