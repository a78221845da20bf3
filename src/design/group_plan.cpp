#include "design/group_plan.hpp"

#include <cmath>
#include <numeric>

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

NoisePlan make_group_plan(std::string mechanism,
                          const Eigen::VectorXd& private_variance,
                          std::span<const SeedGroup> groups,
                          const std::vector<Eigen::MatrixXd>& factors) {
    NoisePlan plan;
    plan.mechanism = std::move(mechanism);
    plan.agents = static_cast<int>(private_variance.size());
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {std::sqrt(private_variance(u))}});
    }
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const Eigen::MatrixXd& factor = factors[k];
        if (factor.cols() == 0) continue;
        const auto group = static_cast<int>(plan.groups.size());
        plan.groups.push_back(groups[k]);
        for (Eigen::Index j = 0; j < factor.cols(); ++j) {
            const auto stream = static_cast<int>(plan.streams.size());
            plan.streams.push_back(
                {group, static_cast<std::uint64_t>(j), StreamDistribution::gaussian});
            for (std::size_t i = 0; i < groups[k].members.size(); ++i) {
                const double coefficient = factor(static_cast<Eigen::Index>(i), j);
                if (coefficient == 0) continue;
                auto& row = plan.rows[static_cast<std::size_t>(groups[k].members[i])];
                row.streams.push_back(stream);
                row.coefficients.push_back(coefficient);
            }
        }
    }
    return plan;
}

NoisePlan one_seed_plan(std::string mechanism, const Eigen::MatrixXd& lower, double scale) {
    NoisePlan plan;
    plan.mechanism = std::move(mechanism);
    plan.agents = static_cast<int>(lower.rows());
    plan.scale = scale;
    std::vector<int> everybody(static_cast<std::size_t>(plan.agents));
    std::iota(everybody.begin(), everybody.end(), 0);
    plan.groups.push_back({everybody});
    for (int u = 0; u < plan.agents; ++u) {
        plan.streams.push_back({0, static_cast<std::uint64_t>(u), StreamDistribution::gaussian});
        NoiseRow row;
        row.sender = u;
        row.streams.assign(everybody.begin(), everybody.begin() + u + 1);
        for (int k = 0; k <= u; ++k) row.coefficients.push_back(lower(u, k));
        plan.rows.push_back(std::move(row));
    }
    return plan;
}

Eigen::MatrixXd block_factor(const Eigen::MatrixXd& block, double negligible) {
    const SymmetricEigen eigen = symmetric_eigen(block);
    Eigen::Index first = 0;
    while (first < block.rows() && !(eigen.values(first) > negligible)) ++first;
    const Eigen::Index kept = block.rows() - first;
    return eigen.vectors.rightCols(kept) * eigen.values.tail(kept).cwiseSqrt().asDiagonal();
}

Eigen::MatrixXd difference_factor(double variance) {
    if (!(variance > 0)) return Eigen::MatrixXd(2, 0);
    Eigen::MatrixXd factor(2, 1);
    factor << std::sqrt(variance), -std::sqrt(variance);
    return factor;
}

}  // namespace sotto
