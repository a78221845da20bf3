
#include "sotto/core/numbers.hpp"
#include "sotto/noise/mechanism.hpp"

namespace sotto {

/// Every agent u adds q_uv = s [(I - a a^T) g]_v to its message for v, itself among the receivers,
/// with a = w_.u / |w_.u| and one fresh stream g_v a receiver: sum_v w_vu q_uv = 0, so what the
/// network has in the mean is untouched (docs/equations.md 9).
Design design_zip_dl(const DesignInput& input) {
    Design design;
    NoisePlan& plan = design.plan;
    plan.mechanism = "zip-dl";
    plan.agents = input.graph->agents();
    plan.entry = NoiseEntry::message;
    plan.coalition_size = input.coalition_size;
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});
        const auto receivers = input.mixing->members(u);
        Eigen::VectorXd a(static_cast<Eigen::Index>(receivers.size()));
        for (std::size_t v = 0; v < receivers.size(); ++v)
            a(static_cast<Eigen::Index>(v)) = input.mixing->weight(receivers[v], u);
        a.normalize();
        const Eigen::MatrixXd projection =
            Eigen::MatrixXd::Identity(a.size(), a.size()) - a * a.transpose();
        std::vector<int> streams;
        for (std::size_t v = 0; v < receivers.size(); ++v) {
            streams.push_back(static_cast<int>(plan.streams.size()));
            plan.streams.push_back({u, v, StreamDistribution::gaussian});
        }
        for (std::size_t v = 0; v < receivers.size(); ++v) {
            const auto row = projection.row(static_cast<Eigen::Index>(v));
            plan.rows.push_back({u, receivers[v], streams, {row.begin(), row.end()}});
        }
    }
    finish_message_plan(plan, input);
    design.objective = design.lower_bound = not_a_number;
    return design;
}

}  // namespace sotto
