#include "commands/account/muffliato_column.hpp"

#include <algorithm>

#include "sotto/views/muffliato_bound.hpp"

namespace sotto {

namespace {

constexpr double most_work_for_bound = 1e9;  // rounds times agents times edges

/// Variance of every agent's private noise if each has one and the same, and no other.
std::optional<double> common_private_variance(const NoisePlan& plan) {
    if (plan.noiseless() || plan.aggregation != Aggregation::gossip ||
        plan.distribution() != StreamDistribution::gaussian)
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

bool asks_single_nodes(const ViewQuery& query) {
    return !query.observers.empty() && std::ranges::all_of(query.observers, [](const View& view) {
        return view.kind == View::Kind::neighbours && view.members.size() == 1;
    });
}

/// Every round is alike: the same mixing among the same agents, and equal steps; nothing else is
/// sent.
bool has_equal_rounds(const MessageProcess& process) {
    return process.momentum == 0 && process.final_gossip == 0 && process.phases.size() == 1 &&
           process.phases.front().mixing.fixed() && process.step_sizes.empty();
}

}  // namespace

MuffliatoColumn::MuffliatoColumn(const PlanConfig& plan,
                                 const AccountSubject& subject,
                                 const ViewQuery& query)
    : subject_(subject), rounds_(plan.rounds) {
    const Graph& graph = *subject.process.graph;
    const double work = static_cast<double>(rounds_) * graph.agents() *
                        static_cast<double>(graph.edges().size() + 1);
    if (!graph.directed() && asks_single_nodes(query) && plan.participation.cycle == 1 &&
        plan.gossip_steps == 1 && subject.plan.temporal.kind == TemporalFactor::Kind::identity &&
        has_equal_rounds(subject.process) && work < most_work_for_bound)
        variance_ = common_private_variance(subject.plan);
}

Eigen::VectorXd MuffliatoColumn::of(const std::vector<int>& members) const {
    if (!variance_ || members.size() != 1) return {};
    return muffliato_bound(*subject_.process.graph,
                           subject_.process.phases.front().mixing.at(0),
                           members.front(),
                           rounds_) /
           *variance_;
}

}  // namespace sotto
