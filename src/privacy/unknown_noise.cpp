#include "unknown_noise.hpp"

#include <algorithm>
#include <vector>

#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

bool holds_a_seed(const SeedGroup& group, std::span<const int> coalition) {
    return std::any_of(coalition.begin(), coalition.end(), [&](int agent) {
        return std::binary_search(group.members.begin(), group.members.end(), agent);
    });
}

/// diag(S^-1) of a positive semidefinite S; infinite where the unit vector is outside its range.
Eigen::VectorXd precision_diagonal(const Eigen::MatrixXd& covariance) {
    const Eigen::Index n = covariance.rows();
    Eigen::VectorXd precision = Eigen::VectorXd::Constant(n, infinity);
    if (n == 0 || !(covariance.diagonal().maxCoeff() > 0)) return precision;
    if (covariance.isDiagonal(0)) {
        const double cut_off = rank_cut_off * covariance.diagonal().maxCoeff();
        for (Eigen::Index u = 0; u < n; ++u)
            if (covariance(u, u) > cut_off) precision(u) = 1 / covariance(u, u);
        return precision;
    }
    const SymmetricEigen eigen = symmetric_eigen(covariance);
    const double cut_off = rank_cut_off * eigen.values(n - 1);
    for (Eigen::Index u = 0; u < n; ++u) {
        double sum = 0, outside = 0;
        for (Eigen::Index i = 0; i < n; ++i) {
            const double component = eigen.vectors(u, i) * eigen.vectors(u, i);
            if (eigen.values(i) > cut_off)
                sum += component / eigen.values(i);
            else
                outside += component;
        }
        if (outside <= outside_range * outside_range) precision(u) = sum;
    }
    return precision;
}

}  // namespace

std::vector<bool> unknown_streams(const NoisePlan& plan, std::span<const int> coalition) {
    std::vector<bool> group_unknown, unknown;
    group_unknown.reserve(plan.groups.size());
    for (const auto& group : plan.groups) group_unknown.push_back(!holds_a_seed(group, coalition));
    unknown.reserve(plan.streams.size());
    for (const auto& stream : plan.streams)
        unknown.push_back(group_unknown[static_cast<std::size_t>(stream.group)]);
    return unknown;
}

Eigen::SparseMatrix<double> unknown_coefficients(const NoisePlan& plan,
                                                 std::span<const int> coalition) {
    const std::vector<bool> unknown = unknown_streams(plan, coalition);
    std::vector<Eigen::Triplet<double>> entries;
    for (const auto& row : plan.rows) {
        if (row.receiver != NoiseRow::all_receivers) continue;
        if (std::binary_search(coalition.begin(), coalition.end(), row.sender)) continue;
        for (std::size_t j = 0; j < row.streams.size(); ++j)
            if (unknown[static_cast<std::size_t>(row.streams[j])] && row.coefficients[j] != 0)
                entries.emplace_back(row.sender, row.streams[j], plan.scale * row.coefficients[j]);
    }
    Eigen::SparseMatrix<double> matrix(plan.agents, static_cast<Eigen::Index>(plan.streams.size()));
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
}

Eigen::MatrixXd outer_product(const Eigen::SparseMatrix<double>& coefficients) {
    const double full =
        static_cast<double>(coefficients.rows()) * static_cast<double>(coefficients.cols());
    if (static_cast<double>(coefficients.nonZeros()) > 0.05 * full) {
        const Eigen::MatrixXd dense(coefficients);
        return dense * dense.transpose();
    }
    return Eigen::MatrixXd(Eigen::SparseMatrix<double>(
        coefficients * Eigen::SparseMatrix<double>(coefficients.transpose())));
}

Eigen::VectorXd unknown_precision(const NoisePlan& plan, std::span<const int> coalition) {
    const Eigen::SparseMatrix<double> coefficients = unknown_coefficients(plan, coalition);
    Eigen::VectorXd precision = Eigen::VectorXd::Constant(plan.agents, infinity);
    const auto is_member = [&](int u) {
        return std::binary_search(coalition.begin(), coalition.end(), u);
    };
    if (plan.aggregation == Aggregation::trusted_mean) {
        // The observer sees n times the mean: one unit of any agent's gradient under noise 1^T R 1.
        const Eigen::RowVectorXd sums = Eigen::RowVectorXd::Ones(plan.agents) * coefficients;
        for (int u = 0; u < plan.agents; ++u)
            if (!is_member(u) && sums.squaredNorm() > 0) precision(u) = 1 / sums.squaredNorm();
        return precision;
    }
    std::vector<Eigen::Index> outside;
    for (int u = 0; u < plan.agents; ++u)
        if (!is_member(u)) outside.push_back(u);
    const Eigen::MatrixXd covariance = outer_product(coefficients);
    const Eigen::VectorXd inner = precision_diagonal(
        coalition.empty() ? covariance : Eigen::MatrixXd(covariance(outside, outside)));
    for (std::size_t i = 0; i < outside.size(); ++i)
        precision(outside[i]) = inner(static_cast<Eigen::Index>(i));
    return precision;
}

}  // namespace sotto
