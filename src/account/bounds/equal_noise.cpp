#include "account/bounds/equal_noise.hpp"

#include "sotto/core/parallel.hpp"

namespace sotto {

std::optional<double> equal_noise_variance(const PlanConfig& config, const NoisePlan& plan) {
    if (plan.noiseless() || plan.aggregation != Aggregation::gossip ||
        plan.entry != NoiseEntry::gradient || !plan.same_message_to_all() ||
        plan.distribution() != StreamDistribution::gaussian ||
        plan.temporal.kind != TemporalFactor::Kind::identity || config.participation.cycle != 1 ||
        config.participation.poisson)
        return std::nullopt;
    for (const SeedGroup& group : plan.groups)
        if (group.members.size() > 1) return std::nullopt;
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(plan.agents);
    for (const NoiseRow& row : plan.rows)
        for (const double coefficient : row.coefficients)
            variance(row.sender) += plan.scale * plan.scale * coefficient * coefficient;
    if (variance.maxCoeff() - variance.minCoeff() > 1e-12 * variance.maxCoeff())
        return std::nullopt;
    return variance.mean();
}

std::optional<Eigen::VectorXd> gossip_bounds_of(GossipTheorem theorem,
                                                View::Kind seen,
                                                const ViewBoundInput& input,
                                                const View& view,
                                                std::span<const int> targets) {
    constexpr double most_work = 5e9;  // some seconds
    const MessageProcess& process = input.subject.process;
    if (view.kind != seen || view.members.empty() || !has_gossip_bound(process))
        return std::nullopt;
    const std::optional<double> variance = equal_noise_variance(input.plan, input.subject.plan);
    if (!variance ||
        input.observers * static_cast<double>(targets.size()) * gossip_bound_work(process) >
            most_work)
        return std::nullopt;
    Eigen::VectorXd bounds(std::ssize(targets));
    parallel_for(bounds.size(), input.threads, [&](long i) {
        bounds(i) =
            gossip_bound(theorem, process, view.members, targets[static_cast<std::size_t>(i)]) /
            *variance;
    });
    return bounds;
}

}  // namespace sotto
