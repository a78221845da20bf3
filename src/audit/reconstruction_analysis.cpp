#include "audit/reconstruction_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audit/contribution_estimate.hpp"
#include "audit/recorded_innovations.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What is known of the rows of `agents`.
struct Estimates {
    std::vector<int> agents;  ///< ascending
    MatrixXd contributions;   ///< a row an agent
    VectorXd variances;       ///< of one coordinate of it
};

Estimates estimate(RecordedInnovations& recorded, const Rows& rows) {
    Estimates result;
    result.agents = recorded.test().unknown_agents();
    ContributionEstimator estimator(
        recorded.test().responses(result.agents,
                                  rows.rounds.replicate(1, std::ssize(result.agents))),
        rows.values.cols());
    while (const auto innovation = recorded.next()) estimator.add(*innovation);
    result.contributions = estimator.estimates();
    result.variances = estimator.variances();
    return result;
}

/// Places of the agents in their list, those nearest to a member first.
std::vector<std::size_t> nearest_first(const std::vector<int>& agents,
                                       const std::vector<int>& distances) {
    std::vector<std::size_t> order(agents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::size_t k) { return distances[static_cast<std::size_t>(agents[k])]; });
    return order;
}

/// @param variance of one coordinate.  @param risk of a false alarm; 0: the variance is no bound.
ReconstructedRow compare(const VectorXd& estimate,
                         const VectorXd& truth,
                         double variance,
                         double risk) {
    const Index dimension = truth.size();
    ReconstructedRow row;
    row.identifiable = std::isfinite(variance);
    row.exact = variance == 0;
    row.deviation = std::sqrt(variance);
    const double squared = (estimate - truth).squaredNorm();
    row.error = std::sqrt(squared / static_cast<double>(dimension));
    row.relative_error = std::sqrt(squared) / truth.norm();
    row.recovered = row.relative_error <= ReconstructionResult::recovered_within;
    row.beats_the_bound =
        risk > 0 && !row.exact && row.identifiable &&
        !(chance_of_smaller_error(row.error * row.error, variance, dimension) >= risk);
    return row;
}

std::string finding_of(const ReconstructedRow& row) {
    return fmt::format(
        "agent {}: the error is {:.4g} a coordinate, no unbiased estimate is better than {:.4g} by "
        "the accountant",
        row.target,
        row.error,
        row.deviation);
}

}  // namespace

ReconstructionResult analyse_reconstruction(const std::filesystem::path& views,
                                            const MessageProcess& process,
                                            const View& view,
                                            const Rows& rows,
                                            double level,
                                            int threads) {
    const Index dimension = rows.values.cols();
    RecordedInnovations recorded(
        views, view, process, dimension, fmt::format("rows have {}", dimension), threads);
    const Estimates known = estimate(recorded, rows);
    const std::vector<int> distances = distances_from_members(view, *process.graph);

    ReconstructionResult result;
    result.mechanism = process.plan->mechanism;
    result.gaussian = process.plan->distribution() == StreamDistribution::gaussian;
    result.image_rows = rows.image_rows;
    const auto count = std::ssize(known.agents);
    result.estimates.resize(count, dimension);
    result.truths.resize(count, dimension);
    // Bonferroni: all targets together are wrong with probability 1 - level at most.
    const double risk = result.gaussian ? (1 - level) / static_cast<double>(count) : 0;
    for (const std::size_t k : nearest_first(known.agents, distances)) {
        const int target = known.agents[k];
        // A row enters as minus a part of a contribution.
        const double divisor = rows.divisors(target);
        const auto place = std::ssize(result.targets), at = static_cast<Index>(k);
        result.estimates.row(place) = -divisor * known.contributions.row(at);
        result.truths.row(place) = rows.values.row(target);
        ReconstructedRow& row =
            result.targets.emplace_back(compare(result.estimates.row(place).transpose(),
                                                result.truths.row(place).transpose(),
                                                divisor * divisor * known.variances(at),
                                                risk));
        row.target = target;
        row.distance = distances[static_cast<std::size_t>(target)];
        if (row.beats_the_bound) result.findings.push_back(finding_of(row));
    }
    for (std::string& leak : recorded.leak_findings()) result.findings.push_back(std::move(leak));
    return result;
}

}  // namespace sotto
