#include "privacy/large_plans.hpp"

#include <algorithm>
#include <numeric>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "core/recent.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

using Eigen::VectorXd;

namespace {

std::vector<int> everybody(int agents) {
    std::vector<int> all(static_cast<std::size_t>(agents));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

VectorXd upper_bounds(const std::vector<LocalPrecision>& found) {
    VectorXd upper(std::ssize(found));
    for (std::size_t i = 0; i < found.size(); ++i)
        upper(static_cast<Eigen::Index>(i)) = found[i].upper;
    return upper;
}

/// Upper bounds of all agents with scale 1.
VectorXd bounds_of_all(const PairwiseNoise& noise, int size) {
    static Recent<VectorXd> recent;
    Hasher hasher("sotto.local-precisions.v1");
    noise.add_to(hasher);
    hasher.add(std::int64_t{size});
    return recent.get(
        hasher.finish(),
        [&] {
            return upper_bounds(local_precisions(
                noise, everybody(noise.agents()), size, local_options(noise.agents())));
        },
        [](const VectorXd& bounds) {
            return sizeof(double) * static_cast<std::size_t>(bounds.size());
        });
}

}  // namespace

std::optional<PairwiseNoise> large_pairwise_noise(const NoisePlan& plan) {
    if (plan.agents <= most_dense_agents || plan.noiseless()) return std::nullopt;
    return PairwiseNoise::of(plan);
}

LocalFlow::Options local_options(int agents) {
    LocalFlow::Options options;
    options.tolerance = agents <= 5000 ? 1e-3 : 1e-2;
    return options;
}

std::vector<LocalPrecision> local_precisions(const PairwiseNoise& noise,
                                             std::span<const int> agents,
                                             int size,
                                             const LocalFlow::Options& options) {
    std::vector<LocalPrecision> found(agents.size());
    if (noise.alone()) {
        for (std::size_t i = 0; i < agents.size(); ++i) {
            const double variance = noise.private_variance(agents[i]);
            found[i].upper = found[i].lower = variance > 0 ? 1 / variance : infinity;
        }
        return found;
    }
    const GroundCosts costs(noise, size);
    constexpr long parts = 32;
    parallel_for(
        std::min<long>(parts, std::ssize(agents)), linear_algebra_threads(), [&](long part) {
            LocalFlow flow(noise, costs);
            for (auto i = static_cast<std::size_t>(part); i < agents.size(); i += parts)
                found[i] = local_precision(noise, flow, agents[i], size, options);
        });
    return found;
}

VectorXd large_coalition_precision(const NoisePlan& plan, const PairwiseNoise& noise, int size) {
    return bounds_of_all(noise, size) / (plan.scale * plan.scale);
}

VectorXd large_observed_precision(const NoisePlan& plan,
                                  const PairwiseNoise& noise,
                                  std::span<const int> coalition) {
    if (coalition.empty()) return large_coalition_precision(plan, noise, 0);
    VectorXd precision = bounds_of_all(noise.without(coalition), 0) / (plan.scale * plan.scale);
    for (const int member : coalition) precision(member) = infinity;
    return precision;
}

}  // namespace sotto
