#include "privacy/dropouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::VectorXd;

bool holds(const std::vector<int>& ascending, int agent) {
    return std::ranges::binary_search(ascending, agent);
}

/// @throws ConfigError unless rounds, copies and contributions are independent.
void require_plain_noise(const NoisePlan& plan) {
    const bool separate = plan.temporal.kind == TemporalFactor::Kind::identity &&
                          plan.entry == NoiseEntry::gradient && plan.same_message_to_all() &&
                          plan.aggregation == Aggregation::gossip &&
                          plan.distribution() == StreamDistribution::gaussian;
    if (!separate)
        throw ConfigError(fmt::format(
            "dropouts: not with mechanism {} (allowed: Gaussian noise on gradients that "
            "is independent between rounds and mixed by gossip, as of pairs)",
            plan.mechanism));
}

void require_agents(const NoisePlan& plan, const std::vector<int>& missing) {
    for (const int agent : missing)
        if (agent < 0 || agent >= plan.agents)
            throw ConfigError(fmt::format(
                "missing: agent {} does not exist (allowed: 0 to {})", agent, plan.agents - 1));
    if (std::ssize(missing) >= plan.agents)
        throw ConfigError("missing: all agents (allowed: all but one at most)");
}

void require_dropouts(int dropouts, int others) {
    if (dropouts < 1 || dropouts >= others)
        throw ConfigError(fmt::format(
            "dropouts: {} of {} agents that do not observe (allowed: from 1, all but one at most)",
            dropouts,
            others));
}

/// Removes the streams for which `known` is true from every row.
template <class Known>
void remove_streams(NoisePlan& plan, const Known& known) {
    for (NoiseRow& row : plan.rows) {
        std::size_t kept = 0;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            if (known(plan.groups[static_cast<std::size_t>(stream.group)])) continue;
            row.streams[kept] = row.streams[j];
            row.coefficients[kept++] = row.coefficients[j];
        }
        row.streams.resize(kept);
        row.coefficients.resize(kept);
    }
}

/// Precision under the noise that no other agent can compute.
VectorXd private_precision(NoisePlan plan) {
    remove_streams(plan, [](const SeedGroup& group) { return group.members.size() > 1; });
    return observed_precision(plan, {});
}

std::vector<int> agents_outside(const NoisePlan& plan, const std::vector<int>& coalition) {
    std::vector<int> others;
    for (int u = 0; u < plan.agents; ++u)
        if (!holds(coalition, u)) others.push_back(u);
    return others;
}

std::vector<int> united(const std::vector<int>& one, const std::vector<int>& other) {
    std::vector<int> all;
    std::ranges::set_union(one, other, std::back_inserter(all));
    return all;
}

}  // namespace

NoisePlan without_messages(NoisePlan plan, const std::vector<int>& missing) {
    std::erase_if(plan.rows, [&](const NoiseRow& row) { return holds(missing, row.sender); });
    return plan;
}

NoisePlan without_published(NoisePlan plan, const std::vector<int>& missing) {
    remove_streams(plan, [&](const SeedGroup& group) {
        const auto lost = std::ranges::count_if(group.members,
                                                [&](int member) { return holds(missing, member); });
        return lost > 0 && lost < std::ssize(group.members);
    });
    return plan;
}

DropoutPrecision dropout_precision(const NoisePlan& plan,
                                   const Observer& observer,
                                   const std::vector<int>& missing) {
    require_plain_noise(plan);
    require_agents(plan, missing);
    DropoutPrecision precision;
    precision.silent = observed_precision(without_messages(plan, missing), observer);
    precision.revealed = observed_precision(plan, {united(observer.coalition, missing)});
    precision.late = VectorXd::Zero(plan.agents);
    const VectorXd seen = observed_precision(without_published(plan, missing), observer);
    for (const int agent : missing) {
        precision.late(agent) = seen(agent);
        precision.silent(agent) = precision.revealed(agent) = 0;
    }
    return precision;
}

DropoutPrecision worst_dropout_precision(const NoisePlan& plan,
                                         const Observer& observer,
                                         int dropouts) {
    require_plain_noise(plan);
    const std::vector<int> others = agents_outside(plan, observer.coalition);
    const auto count = static_cast<int>(others.size());
    require_dropouts(dropouts, count);
    check_coalition_size(count, dropouts);
    check_coalition_count(count, dropouts);
    DropoutPrecision worst;
    worst.silent = observed_precision(plan, observer);
    worst.revealed = worst.silent;
    const ObservedPrecisions precisions(plan);
    for_each_coalition(count, dropouts, [&](const std::vector<int>& places) {
        std::vector<int> missing;
        for (const int place : places) missing.push_back(others[static_cast<std::size_t>(place)]);
        VectorXd precision = precisions.of({united(observer.coalition, missing)});
        for (const int agent : missing) precision(agent) = 0;
        worst.revealed = worst.revealed.cwiseMax(precision);
    });
    worst.late = private_precision(plan);
    return worst;
}

DropoutPrecision worst_dropout_precision(const NoisePlan& plan, int coalition_size, int dropouts) {
    require_plain_noise(plan);
    require_dropouts(dropouts, plan.agents - coalition_size);
    return {coalition_precision(plan, coalition_size),
            coalition_precision(plan, coalition_size + dropouts),
            private_precision(plan)};
}

namespace {

bool holds_a_seed(const SeedGroup& group, std::span<const int> coalition) {
    return std::any_of(coalition.begin(), coalition.end(), [&](int agent) {
        return std::binary_search(group.members.begin(), group.members.end(), agent);
    });
}

/// diag(S^-1) of a positive semidefinite S; infinite if the unit vector is outside its range.
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
    Eigen::VectorXd precision = Eigen::VectorXd::Constant(plan.agents, infinity);
    if (plan.noiseless()) return precision;
    const Eigen::SparseMatrix<double> coefficients = unknown_coefficients(plan, coalition);
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
